import LinuxIO

/// What is on its way to a peer: messages that others may have as well, sent as they are, and behind them a row of replies
/// put together in one text. A plain value; sending never waits.
struct Outbox {
    /// The first from `sentOfFirst` on.
    private var messages: [[UInt8]] = []
    private var sentOfFirst = 0
    /// Replies behind them, one after the other: a text of many goes out cheaper than many texts.
    private var tail: [UInt8] = []
    /// Unsent, in bytes.
    private(set) var size = 0

    /// Replies up to this size are copied into the row, instead of being sent as they are.
    private static let smallReply = 4096
    /// A row of replies is not lengthened beyond this.
    private static let tailLimit = 64 * 1024
    /// What stays for the next row of replies, at most: most connections are idle most of the time.
    private static let retainedCapacity = 1024

    var isEmpty: Bool { messages.isEmpty && tail.isEmpty }

    /// All that is unsent, in one text.
    var rest: [UInt8] {
        var rest = messages.reduce(into: []) { $0 += $1 }
        rest.removeFirst(sentOfFirst)
        return rest + tail
    }

    /// Puts a message in line as it is: others may have it, too.
    mutating func append(_ message: [UInt8]) {
        endTail()
        messages.append(message)
        size += message.count
    }

    mutating func append(reply: [UInt8]) {
        guard reply.count <= Self.smallReply else { return append(reply) }
        append { $0.append(contentsOf: reply) }
    }

    /// The same for replies that `write` puts out where they are sent from.
    mutating func append(writing write: (inout [UInt8]) -> Void) {
        let before = tail.count
        write(&tail)
        size += tail.count - before
        if tail.count > Self.tailLimit { endTail() }
    }

    private mutating func endTail() {
        guard !tail.isEmpty else { return }
        messages.append(tail)
        tail = []
    }
}

// MARK: - Sending

extension Outbox {
    /// How far the socket took it.
    enum Progress {
        case whole
        case blocked
        /// Nobody is there to read the rest.
        case closed
    }

    mutating func send(over socket: borrowing UnixSocket) -> Progress {
        if messages.isEmpty { return sendTail(over: socket) }
        endTail()
        var done = 0
        while done < messages.count {
            switch try? socket.send(messages[done...], skipping: sentOfFirst) {
            case .bytes(let count)?: done += consume(count, from: done)
            case .wouldBlock?:
                messages.removeFirst(done)
                return .blocked
            case .closed?, nil: return .closed
            }
        }
        messages.removeAll(keepingCapacity: messages.capacity <= 64)
        return .whole
    }

    /// The ordinary case: replies, and nothing else before them.
    private mutating func sendTail(over socket: borrowing UnixSocket) -> Progress {
        guard !tail.isEmpty else { return .whole }
        switch try? socket.send(tail) {
        case .bytes(tail.count)?:
            size = 0
            tail.removeAll(keepingCapacity: tail.capacity <= Self.retainedCapacity)
            return .whole
        case .bytes(let count)?:
            endTail()
            _ = consume(count, from: 0)
            return send(over: socket)
        case .wouldBlock?: return .blocked
        case .closed?, nil: return .closed
        }
    }

    /// How many whole messages these bytes end, counted from the message at `index`.
    private mutating func consume(_ count: Int, from index: Int) -> Int {
        size -= count
        var rest = count + sentOfFirst
        var whole = 0
        while index + whole < messages.count, rest >= messages[index + whole].count {
            rest -= messages[index + whole].count
            whole += 1
        }
        sentOfFirst = rest
        return whole
    }
}
