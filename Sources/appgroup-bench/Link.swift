import CShims
import Glibc

/// One connection to the server, with what is to be sent and what has come. Owned by one role; it blocks unless asked
/// not to. Its memory is allocated once.
@safe
final class Link {
    let descriptor: Int32
    private let input: UnsafeMutablePointer<UInt8>
    private var inputStart = 0
    private var inputEnd = 0
    /// Up to here there is no NUL.
    private var scanned = 0
    private let output: UnsafeMutablePointer<UInt8>
    private var outputCount = 0

    private static var inputSize: Int { 256 * 1024 }
    private static var outputSize: Int { 128 * 1024 }

    /// - Returns: nil when nobody answers there.
    static func open(_ path: String) -> Link? {
        let descriptor = unsafe cshim_unix_connect(path, 0)
        return descriptor < 0 ? nil : Link(descriptor)
    }

    static func connect(_ path: String) throws(BenchError) -> Link {
        guard let link = open(path) else { throw BenchError("nobody answers at \(path)") }
        return link
    }

    /// Takes over a connected socket.
    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        unsafe input = .allocate(capacity: Self.inputSize)
        unsafe output = .allocate(capacity: Self.outputSize)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit {
        unsafe input.deallocate()
        unsafe output.deallocate()
        _ = cshim_close(descriptor)
    }
}

// MARK: - Sending

extension Link {
    /// Puts a message in line for `flush`.
    func queue(_ template: Template) throws(BenchError) {
        if outputCount + template.count > Self.outputSize { try flush() }
        unsafe memcpy(output + outputCount, template.bytes, template.count)
        outputCount &+= template.count
    }

    func flush() throws(BenchError) {
        var sent = 0
        while sent < outputCount {
            let count = unsafe send(descriptor, output + sent, outputCount &- sent, Int32(MSG_NOSIGNAL))
            if count > 0 {
                sent &+= count
            } else if errno == EAGAIN {
                _ = cshim_poll(descriptor, CSHIM_POLLOUT, -1, 30_000)
            } else if errno != EINTR {
                throw .system("send")
            }
        }
        outputCount = 0
    }
}

// MARK: - Receiving

extension Link {
    /// One recv.
    ///
    /// - Returns: whether something came; false only when not waiting.
    @discardableResult
    func receive(waits: Bool = true) throws(BenchError) -> Bool {
        makeRoom()
        let count = unsafe recv(
            descriptor, input + inputEnd, Self.inputSize &- inputEnd, waits ? 0 : Int32(MSG_DONTWAIT))
        if count > 0 {
            inputEnd &+= count
            return true
        }
        if count == 0 { throw BenchError("the server closed the connection") }
        if errno == EINTR { return true }
        if errno == EAGAIN, !waits { return false }
        throw errno == EAGAIN ? BenchError("no answer for 30 s") : .system("recv")
    }

    private func makeRoom() {
        if inputStart == inputEnd {
            (inputStart, inputEnd, scanned) = (0, 0, 0)
        } else if inputStart > 0, inputEnd > Self.inputSize / 2 {
            unsafe memmove(input, input + inputStart, inputEnd &- inputStart)
            scanned &-= inputStart
            inputEnd &-= inputStart
            inputStart = 0
        }
    }

    /// The next whole message of what has come.
    func nextMessage() throws(BenchError) -> Message? {
        guard scanned < inputEnd else { return nil }
        guard let end = unsafe memchr(input + scanned, 0, inputEnd &- scanned) else {
            scanned = inputEnd
            if inputEnd &- inputStart >= Self.inputSize { throw BenchError("a message is too long for this client") }
            return nil
        }
        let begin = unsafe input + inputStart
        let count = unsafe end - UnsafeMutableRawPointer(begin)
        inputStart &+= count &+ 1
        scanned = inputStart
        return unsafe Message(base: begin, count: count)
    }

    var hasOutput: Bool { outputCount > 0 }

    /// Waits for the next message.
    func reply() throws(BenchError) -> Message {
        while true {
            if let message = try nextMessage() { return message }
            try receive()
        }
    }

    /// Sends a message and waits for its reply, which must not be an error.
    func call(_ template: Template) throws(BenchError) {
        try queue(template)
        try flush()
        let message = try reply()
        if message.isError { throw BenchError("the server said: \(message.text)") }
    }

    /// The same with a message of any length.
    func call(_ text: String) throws(BenchError) {
        let bytes = Array(text.utf8) + [0]
        var sent = 0
        while sent < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count > 0 { sent += count } else if errno != EINTR { throw .system("send") }
        }
        let message = try reply()
        if message.isError { throw BenchError("the server said: \(message.text)") }
    }
}
