import CShims
import Foundation

/// A blocking client on a Unix socket that sends exactly the bytes it is told to, and waits no longer than its deadline.
/// Used by one thread at a time.
package final class RawPeer {
    package enum Failure: Error, Equatable {
        case connect(errno: Int32)
        case send(errno: Int32)
        case receive(errno: Int32)
        case timedOut
        /// The other end closed in the middle of a message; what had come of it.
        case closed(rest: [UInt8])
    }

    package let descriptor: Int32
    private let timeoutSeconds: Double
    /// What was received; before `start` it has been given out.
    private var buffer: [UInt8] = []
    private var start = 0
    private var isOpen = true

    package init(path: String, timeoutSeconds: Double = 10) throws {
        descriptor = unsafe cshim_unix_connect(path, 0)
        self.timeoutSeconds = timeoutSeconds
        if descriptor < 0 {
            isOpen = false
            throw Failure.connect(errno: -descriptor)
        }
    }

    /// Takes over one end of a pair.
    package init(owning descriptor: Int32, timeoutSeconds: Double = 10) {
        self.descriptor = descriptor
        self.timeoutSeconds = timeoutSeconds
    }

    deinit { close() }

    package func close() {
        guard isOpen else { return }
        isOpen = false
        // Another test may be forking: the close alone would be seen only when its child has come to exec.
        _ = cshim_shutdown(descriptor)
        _ = cshim_close(descriptor)
    }

    /// Sends all of it.
    package func send(_ bytes: [UInt8]) throws {
        let deadline = self.deadline
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe cshim_send(descriptor, $0.baseAddress, $0.count, 1) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if Int32(-count) == EAGAIN {
                try wait(CSHIM_POLLOUT, until: deadline)
            } else {
                throw Failure.send(errno: Int32(-count))
            }
        }
    }

    /// Text and the NUL that ends a message.
    package func sendMessage(_ text: String) throws {
        try send(Array(text.utf8) + [0])
    }

    /// The next message, without its NUL.
    package func readMessage() throws -> String {
        String(decoding: try readMessageBytes(), as: UTF8.self)
    }

    package func readMessageBytes() throws -> [UInt8] {
        let deadline = self.deadline
        var looked = 0
        while true {
            if let message = nextMessage(behind: looked) { return message }
            looked = buffer.count - start
            if try !fill(until: deadline) { throw Failure.closed(rest: rest) }
        }
    }

    /// A message that has come whole. By memchr and without moving what is behind it: a debug build takes seconds for what
    /// hundreds of observers are told otherwise.
    ///
    /// - Parameter looked: so many bytes are known to have no end in them.
    /// - Returns: nil where none has.
    private func nextMessage(behind looked: Int) -> [UInt8]? {
        let end = unsafe buffer.withUnsafeBytes { unsafe Self.end(in: $0, from: start + looked) }
        guard let end else { return nil }
        let message = Array(buffer[start..<end])
        start = end + 1
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            start = 0
        }
        return message
    }

    private static func end(in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        guard let base = bytes.baseAddress, start < bytes.count else { return nil }
        let found = unsafe memchr(base + start, 0, bytes.count - start)
        return unsafe found.map { unsafe UnsafeRawPointer($0) - base }
    }

    private var rest: [UInt8] { Array(buffer[start...]) }

    /// Takes what has arrived without waiting, and gives the messages that are whole.
    package func readArrivedMessages() throws -> [[UInt8]] {
        while cshim_poll(descriptor, CSHIM_POLLIN, -1, 0) != 0 {
            if try !fill(until: deadline) { throw Failure.closed(rest: rest) }
        }
        var messages: [[UInt8]] = []
        while let message = nextMessage(behind: 0) { messages.append(message) }
        return messages
    }

    /// Sends a message and gives the next one that comes.
    package func call(_ text: String) throws -> String {
        try sendMessage(text)
        return try readMessage()
    }

    /// Waits for the other end to close. What came before it is given back.
    package func readToEnd() throws -> [UInt8] {
        let deadline = self.deadline
        while try fill(until: deadline) {}
        defer { (buffer, start) = ([], 0) }
        return rest
    }

    /// Whether nothing arrives for so long. For "no message comes", where there is no event to wait for.
    package func isQuiet(milliseconds: Int32) -> Bool {
        buffer.isEmpty && cshim_poll(descriptor, CSHIM_POLLIN, -1, milliseconds) == 0
    }

    /// No further sends: the other end sees the end of our side.
    package func endSending() {
        Foundation.shutdown(descriptor, Int32(SHUT_WR))
    }

    private var deadline: ContinuousClock.Instant { .now + .seconds(timeoutSeconds * timeoutScale) }

    private func wait(_ events: Int32, until deadline: ContinuousClock.Instant) throws {
        let left = deadline - .now
        guard left > .zero else { throw Failure.timedOut }
        let milliseconds = left.components.seconds * 1000 + left.components.attoseconds / 1_000_000_000_000_000
        if cshim_poll(descriptor, events, -1, Int32(clamping: milliseconds + 1)) == 0 { throw Failure.timedOut }
    }

    /// False at the end of the stream.
    private func fill(until deadline: ContinuousClock.Instant) throws -> Bool {
        try wait(CSHIM_POLLIN, until: deadline)
        var count = 0
        let chunk = unsafe [UInt8](unsafeUninitializedCapacity: 256 * 1024) { room, filled in
            unsafe count = cshim_recv(descriptor, room.baseAddress, room.count, 1)
            filled = max(count, 0)
        }
        if count == 0 || Int32(-count) == ECONNRESET { return false }
        if Int32(-count) == EAGAIN { return true }
        if count < 0 { throw Failure.receive(errno: Int32(-count)) }
        buffer.removeFirst(start)
        start = 0
        buffer += chunk
        return true
    }
}
