import GroupCore
import GroupModel
import GroupProtocol
import LinuxIO
import Varlink

/// One client: its socket, what it has sent and not been served yet, and what it is still to get.
///
/// Replies go out in the order of the calls; a call whose answer takes longer (a durable write, say) holds its place while
/// later ones are served. Owned by the server, on the loop's thread; it never waits for its peer.
final class Connection {
    /// The place of a call's reply. Nil serial: the caller wants none.
    struct ReplyTarget {
        var connection: UInt64
        var serial: Int?
    }

    enum Phase: Equatable {
        /// Calls are served as they come.
        case serving
        /// No further call is served before this one's reply is there.
        case waiting(serial: Int)
        /// A `Watch` holds the connection until it ends.
        case streaming
    }

    let id: UInt64
    let socket: UnixSocket
    /// Who the peer is, as the kernel says.
    let credentials: PeerCredentials
    var phase = Phase.serving
    var stream: WatchStream?
    /// What `stream` watches.
    var watchedGroups: [GroupIdentifier] = []
    /// What a `WatchDocuments` has not told yet, and the group that it watches.
    var documents: DocumentQueue?
    var watchedDocuments: GroupIdentifier?
    /// The place of the watch's call, while calls before it wait for their replies.
    private var streamSerial: Int?
    /// A watch must say something at once, be it nothing.
    var owesFirstReply = false
    /// The peer will send nothing more; it may still read.
    private(set) var hasEnded = false
    private var isBroken = false

    private var splitter: MessageSplitter
    private var slots: [[UInt8]?] = []
    private var firstSerial = 0
    /// Messages on their way, the first from `sentOfFirst` on.
    private var outgoing: [[UInt8]] = []
    private var sentOfFirst = 0
    private(set) var outgoingSize = 0
    private var knownOrigin: Origin?
    /// The socket takes no more for now.
    private(set) var isBlocked = false
    /// The peer reads nothing any more; what it sent is served all the same.
    private(set) var isMute = false
    /// What the poller was told last.
    var interest: PollEvents = .readable

    /// With more than this unsent, in bytes, no further call is served: a peer that does not read gets no more work done.
    static let outgoingLimit = 1 << 20
    /// The same for calls that wait for their replies.
    static let slotLimit = 4096

    init(id: UInt64, socket: consuming UnixSocket, credentials: PeerCredentials, messageLimit: Int) {
        self.id = id
        self.socket = socket
        self.credentials = credentials
        splitter = MessageSplitter(limit: messageLimit)
    }

    /// The origin of this peer's commits; looked up once, at its first write.
    func origin(tag: String?) -> Origin {
        let known =
            knownOrigin
            ?? Origin(
                kind: .client, client: ProcessFacts.name(ofProcess: credentials.pid), processId: credentials.pid,
                unit: ProcessFacts.systemdUnit(ofProcess: credentials.pid))
        knownOrigin = known
        var origin = known
        origin.tag = tag
        return origin
    }
}

// MARK: - Reading

extension Connection {
    /// Takes what the socket has, at most one buffer full.
    ///
    /// - Returns: false when the connection is broken.
    func receive(into buffer: inout [UInt8]) -> Bool {
        guard let received = try? socket.receive(into: &buffer) else { return false }
        switch received {
        case .bytes(let count): splitter.append(buffer[..<count])
        case .wouldBlock: break
        case .closed: hasEnded = true
        }
        return true
    }

    /// Nothing more is read from a peer that breaks the protocol, nor served.
    func endReading() {
        hasEnded = true
        isBroken = true
    }

    /// The next call to serve, if it is the time for one.
    func nextMessage() throws(ProtocolViolation) -> ArraySlice<UInt8>? {
        guard canServe else { return nil }
        return try splitter.next()
    }

    private var canServe: Bool {
        phase == .serving && !isBroken && outgoingSize < Self.outgoingLimit && slots.count < Self.slotLimit
    }

    /// What is to be waited for at the socket.
    var wantedInterest: PollEvents {
        var interest: PollEvents = wantsInput ? .readable : []
        if isBlocked { interest.insert(.writable) }
        return interest
    }

    var wantsInput: Bool { canServe && !hasEnded }

    /// Whether everything has been said to a peer that has ended its side.
    var isFinished: Bool {
        if isMute { return hasEnded || phase == .streaming }
        return hasEnded && phase == .serving && slots.isEmpty && outgoing.isEmpty
    }
}

// MARK: - Replies

extension Connection {
    func openSlot() -> Int {
        slots.append(nil)
        return firstSerial + slots.count - 1
    }

    func fill(_ serial: Int, with reply: [UInt8]) {
        let index = serial - firstSerial
        precondition(slots.indices.contains(index), "reply \(serial) of \(slots.count) from \(firstSerial) on")
        slots[index] = reply
        if phase == .waiting(serial: serial) { phase = .serving }
        advance()
    }

    /// The call in this place, the newest one, is a watch: its replies go out directly, behind those before it.
    func beginStreaming(_ serial: Int) {
        phase = .streaming
        streamSerial = serial
        beginStreamIfFirst()
    }

    /// Whether the replies to all earlier calls are on their way.
    private func beginStreamIfFirst() {
        guard let serial = streamSerial, serial == firstSerial else { return }
        slots.removeFirst()
        firstSerial += 1
        streamSerial = nil
    }

    var mayStream: Bool { streamSerial == nil }

    /// Moves the replies whose turn has come to the outgoing messages.
    private func advance() {
        var ready = 0
        while ready < slots.count, let reply = slots[ready] {
            enqueue(reply)
            ready += 1
        }
        if ready > 0 {
            slots.removeFirst(ready)
            firstSerial += ready
        }
        beginStreamIfFirst()
    }

    func enqueue(_ message: [UInt8]) {
        guard !isMute else { return }
        outgoing.append(message)
        outgoingSize += message.count
    }

    /// What a peer costs us beside its socket, in bytes.
    var waitingSize: Int { outgoingSize + (stream?.waitingSize ?? 0) + (documents?.waitingSize ?? 0) }
}

// MARK: - Sending

extension Connection {
    /// Sends the outgoing messages as far as the socket takes them.
    func flush() {
        var done = 0
        isBlocked = false
        while done < outgoing.count {
            switch try? socket.send(outgoing[done...], skipping: sentOfFirst) {
            case .bytes(let count)?: done += consume(count, from: done)
            case .wouldBlock?:
                isBlocked = true
                outgoing.removeFirst(done)
                return
            case .closed?, nil: return becomeMute()
            }
        }
        outgoing.removeAll(keepingCapacity: outgoing.capacity <= 64)
    }

    private func becomeMute() {
        isMute = true
        stream = nil
        documents = nil
        outgoing = []
        outgoingSize = 0
        sentOfFirst = 0
    }

    /// How many whole messages these bytes end, counted from the message at `index`.
    private func consume(_ count: Int, from index: Int) -> Int {
        outgoingSize -= count
        var rest = count + sentOfFirst
        var whole = 0
        while index + whole < outgoing.count, rest >= outgoing[index + whole].count {
            rest -= outgoing[index + whole].count
            whole += 1
        }
        sentOfFirst = rest
        return whole
    }

    /// Puts replies of the watch in line until enough is on its way for one send.
    func drainStream(partSize: Int, encode: (WatchReply) -> [UInt8], state: (GroupIdentifier) -> GroupState?) {
        guard mayStream else { return }
        while outgoingSize < Self.streamChunk, let reply = stream?.next(partSize: partSize, state: state) {
            enqueue(encode(reply))
            owesFirstReply = false
        }
        if owesFirstReply, stream != nil {
            enqueue(Reply.bytes(continues: true))
            owesFirstReply = false
        }
    }

    /// How much of a watch is put in line at a time, in bytes: the rest stays where it can still collapse.
    static let streamChunk = 128 * 1024

    var hasOutgoing: Bool { !outgoing.isEmpty }
}
