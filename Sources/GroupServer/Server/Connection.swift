import GroupCore
import GroupModel
import GroupProtocol
import LinuxIO
import ServiceIO
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
    /// The sandbox that it is in; nil for an ordinary process.
    let confinement: Confinement?
    var phase = Phase.serving
    var stream: WatchStream? {
        didSet { currentPlace = nil }
    }
    /// What `stream` watches.
    var watches: [WatchedGroup] = []
    /// What a `WatchDocuments` has not told yet, and the group that it watches.
    var documents: DocumentQueue?
    var watchedDocuments: GroupIdentifier?
    /// The place of the watch's call, while calls before it wait for their replies.
    private var streamSerial: Int? {
        didSet { currentPlace = nil }
    }
    /// A watch must say something at once, be it nothing.
    var owesFirstReply = false {
        didSet { currentPlace = nil }
    }
    /// Where nothing is in line for the peer: the group's place in its watch of which it has been told everything. Found out
    /// once, and forgotten with whatever it depends on: a commit asks it of each observer.
    private var currentPlace: Int?
    /// The peer will send nothing more; it may still read.
    private(set) var hasEnded = false
    private var isBroken = false
    /// The daemon ends: no further call is served, and what comes stays where it is.
    var isPaused = false

    private var splitter: MessageSplitter
    /// The replies to calls from `firstSerial` on, the first of them at `slotHead`; nil until they are there.
    private var slots: [[UInt8]?] = []
    private var slotHead = 0
    private var firstSerial = 0
    private var outbox = Outbox() {
        didSet { currentPlace = nil }
    }
    private var knownOrigin: OriginText?
    /// What the server has noted of this connection, so that it is noted once.
    var isDirty = false
    var isStreamDirty = false
    var isClosed = false
    /// The socket takes no more for now.
    private(set) var isBlocked = false {
        didSet { currentPlace = nil }
    }
    /// The peer reads nothing any more; what it sent is served all the same.
    private(set) var isMute = false {
        didSet { currentPlace = nil }
    }
    /// That it does not read has been said.
    var isKnownAsSlow = false
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
        // Now, while the peer is there to be looked at.
        confinement = Confinement.of(process: credentials.pid)
        splitter = MessageSplitter(limit: messageLimit)
    }

    /// The origin of this peer's commits; looked up once, at its first write.
    var origin: OriginText {
        if let knownOrigin { return knownOrigin }
        let origin = OriginText(
            Origin(
                kind: .client, client: ProcessFacts.name(ofProcess: credentials.pid), processId: credentials.pid,
                unit: ProcessFacts.systemdUnit(ofProcess: credentials.pid)))
        knownOrigin = origin
        return origin
    }
}

// MARK: - Reading

extension Connection {
    /// Takes what the socket has, at most one buffer full, which is for `append` then.
    ///
    /// - Returns: how many bytes; nil when the connection is broken.
    func receive(into buffer: inout [UInt8]) -> Int? {
        switch try? socket.receive(into: &buffer) {
        case .bytes(let count): return count
        case .wouldBlock: return 0
        case .closed:
            hasEnded = true
            return 0
        case nil: return nil
        }
    }

    /// Nothing is left of what came before: the next byte begins a message.
    var isBetweenMessages: Bool { splitter.bufferedByteCount == 0 }

    func append(_ bytes: ArraySlice<UInt8>) { splitter.append(bytes) }

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
        phase == .serving && !isBroken && !isPaused && outgoingSize < Self.outgoingLimit && slotCount < Self.slotLimit
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
        return hasEnded && phase == .serving && slotCount == 0 && !hasOutgoing
    }
}

// MARK: - Between two daemons

extension Connection {
    /// What is left of the conversation at a boundary of calls: what came and was not served, and what was said and did not
    /// go out yet. Nil in the middle of a call, and for one that is over.
    var rest: (input: [UInt8], output: [UInt8])? {
        guard !isMute, !hasEnded, !isBroken, slotCount == 0, mayStream, phase == .serving || phase == .streaming,
            let input = splitter.buffered
        else { return nil }
        return (input, outbox.rest)
    }

    /// Goes on from there. Nothing has been said and heard on it by this daemon yet.
    func restore(input: [UInt8], output: [UInt8]) {
        splitter.append(input)
        if !output.isEmpty { enqueue(output) }
    }
}

// MARK: - Replies

extension Connection {
    private var slotCount: Int { slots.count - slotHead }

    func openSlot() -> Int {
        slots.append(nil)
        return nextSerial - 1
    }

    /// The place of the next call's reply.
    var nextSerial: Int { firstSerial + slotCount }

    /// Of so many calls at once.
    func openSlots(_ count: Int) {
        slots.append(contentsOf: repeatElement(nil, count: count))
    }

    /// How many calls may be served now.
    var freeSlots: Int { canServe ? Self.slotLimit - slotCount : 0 }

    func fill(_ serial: Int, with reply: [UInt8]) {
        slots[slot(of: serial)] = reply
        if phase == .waiting(serial: serial) { phase = .serving }
        advance()
    }

    /// Fills this place and so many behind it with messages that `write` puts out where they are sent from.
    ///
    /// - Returns: false where it is not their turn yet; nothing is written then.
    func fill(_ serial: Int, and others: Int, writing write: (inout [UInt8]) -> Void) -> Bool {
        guard serial == firstSerial, !isMute, phase == .serving else { return false }
        _ = slot(of: serial + others)
        outbox.append(writing: write)
        dropSlots(others + 1)
        advance()
        return true
    }

    private func slot(of serial: Int) -> Int {
        let index = serial - firstSerial
        precondition((0..<slotCount).contains(index), "reply \(serial) of \(slotCount) from \(firstSerial) on")
        return slotHead + index
    }

    private func dropSlots(_ count: Int = 1) {
        slotHead += count
        firstSerial += count
        if slotHead == slots.count {
            slots.removeAll(keepingCapacity: slots.capacity <= 64)
            slotHead = 0
        } else if slotHead >= 64, slotHead * 2 >= slots.count {
            slots.removeFirst(slotHead)
            slotHead = 0
        }
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
        dropSlots()
        streamSerial = nil
    }

    var mayStream: Bool { streamSerial == nil }

    /// Moves the replies whose turn has come to the outgoing messages.
    private func advance() {
        while slotHead < slots.count, let reply = slots[slotHead] {
            dropSlots()
            enqueue(reply: reply)
        }
        beginStreamIfFirst()
    }

    private func enqueue(reply: [UInt8]) {
        if !isMute { outbox.append(reply: reply) }
    }

    /// Puts a message in line as it is: others may have it, too.
    func enqueue(_ message: [UInt8]) {
        if !isMute { outbox.append(message) }
    }
}

// MARK: - Sending

extension Connection {
    /// Sends what is on its way as far as the socket takes it.
    func flush() {
        let progress = outbox.send(over: socket)
        isBlocked = progress == .blocked
        if progress == .closed { becomeMute() }
    }

    /// How much of a text went out.
    enum AtOnce {
        case whole
        /// The rest is in line.
        case part
        case nothing
    }

    /// Whether nothing is in line for the peer, nor in its watch: what comes next of the group at this place of the watch
    /// may be sent at once.
    func isUpToDate(_ place: Int, before revision: Int64) -> Bool {
        if currentPlace == place { return true }
        guard !isBlocked, !hasOutgoing, !owesFirstReply, mayStream, !isMute,
            stream?.isCurrent(place, before: revision) ?? false
        else { return false }
        // Later revisions are after it too; where they begin anew, the stream has something to say.
        currentPlace = place
        return true
    }

    /// Sends what others get, too, and is not copied for it. Nothing may be in line.
    func sendAtOnce(_ text: [UInt8]) -> AtOnce {
        switch try? socket.send(text) {
        case .bytes(text.count)?: return .whole
        case .bytes(let count)?:
            enqueue(Array(text[count...]))
            isBlocked = true
            return .part
        case .wouldBlock?:
            isBlocked = true
            return .nothing
        case .closed?, nil:
            becomeMute()
            return .part
        }
    }

    private func becomeMute() {
        isMute = true
        stream = nil
        documents = nil
        outbox = Outbox()
    }

    /// Puts replies of the watch in line until enough is on its way for one send.
    func drainStream(sizes: ReplySizes, encode: (WatchReply) -> [UInt8], state: (GroupIdentifier) -> GroupState?) {
        guard mayStream else { return }
        while outgoingSize < Self.streamChunk, let reply = stream?.next(sizes, state: state) {
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

    var hasOutgoing: Bool { !outbox.isEmpty }

    /// What is in line for the peer, in bytes.
    var outgoingSize: Int { outbox.size }
}
