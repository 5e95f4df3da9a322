/// Cuts the bytes that a connection reads into messages, each ended by a NUL.
///
/// A value owned by its connection, for as long as that lives. Every byte is looked at once, and moved at most once more
/// than it is appended. What is held is bounded by the limit and the last piece appended, as long as `next()` is called
/// until it returns nil or throws.
package struct MessageSplitter: Sendable {
    package static let defaultLimit = 8 << 20

    /// A buffer that grew larger than this is given back once it is empty: most connections are idle most of the time.
    private static let retainedCapacity = 2048

    private let limit: Int
    private var buffer: [UInt8] = []
    /// Where the message begins that comes next.
    private var start = 0
    /// Up to where no NUL was found.
    private var scanned = 0
    private var violation: ProtocolViolation?

    /// - Parameter limit: The bytes a message may have, its NUL not counted.
    package init(limit: Int = MessageSplitter.defaultLimit) {
        self.limit = limit
    }

    /// The bytes appended and not yet returned as part of a message.
    package var bufferedByteCount: Int { buffer.count - start }

    /// Those bytes: what a successor is to begin with. Nil after a violation.
    package var buffered: [UInt8]? { violation == nil ? Array(buffer[start...]) : nil }

    package mutating func append(_ bytes: [UInt8]) { append(bytes[...]) }

    package mutating func append(_ bytes: ArraySlice<UInt8>) {
        // Whatever follows a violation is not looked at any more.
        guard violation == nil else { return }
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// The next whole message, without its NUL, or nil if there is none yet.
    ///
    /// Let go of the slice before appending: otherwise the bytes are copied.
    package mutating func next() throws(ProtocolViolation) -> ArraySlice<UInt8>? {
        if let violation { throw violation }
        guard let end = nextNUL() else {
            try check(buffer.count - start)
            releaseIfEmpty()
            return nil
        }
        try check(end - start)
        if end == start { throw fail(.emptyMessage) }
        defer {
            start = end + 1
            scanned = start
        }
        return buffer[start..<end]
    }

    private mutating func nextNUL() -> Int? {
        scanned = buffer.span.nextZero(from: scanned)
        return scanned < buffer.count ? scanned : nil
    }

    private mutating func check(_ length: Int) throws(ProtocolViolation) {
        guard length <= limit else { throw fail(.messageTooLong(limit: limit)) }
    }

    private mutating func fail(_ violation: ProtocolViolation) -> ProtocolViolation {
        self.violation = violation
        buffer = []
        start = 0
        scanned = 0
        return violation
    }

    /// Drops the messages returned, once they are at least half of the buffer: so that moving the rest costs no more than
    /// was read before.
    private mutating func compact() {
        guard start > 0, start * 2 >= buffer.count else { return }
        buffer.removeFirst(start)
        scanned -= start
        start = 0
    }

    private mutating func releaseIfEmpty() {
        guard start == buffer.count else { return }
        if buffer.capacity > Self.retainedCapacity {
            buffer = []
        } else {
            buffer.removeAll(keepingCapacity: true)
        }
        start = 0
        scanned = 0
    }
}
