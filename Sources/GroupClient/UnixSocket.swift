import CShims

/// The clients' own connected stream socket: non-blocking, never a SIGPIPE, closed when its one owner lets go of it.
///
/// The only file of this module that hands out pointers, so that programs depend neither on LinuxIO nor on
/// libsystemd. Results are counts, or errors by their number.
package struct UnixSocket: ~Copyable {
    /// A number of `errno`, taken from the result of the call (the variable itself cannot be read here).
    package struct Failure: Error, Equatable {
        package var errno: Int32
    }

    private let descriptor: Int32

    /// For poll; valid while this stands.
    package var number: Int32 { descriptor }

    /// Connects at once or not at all: EAGAIN when the listener's queue is full.
    package init(connectingTo path: String) throws(Failure) {
        // A NUL would silently name another socket.
        guard !path.utf8.contains(0) else { throw Failure(errno: Self.invalidArgument) }
        let result = unsafe cshim_unix_connect(path, 1)
        guard result >= 0 else { throw Failure(errno: -result) }
        descriptor = result
    }

    deinit {
        _ = cshim_close(descriptor)
    }

    /// Sends what fits from `offset` on; nil when nothing does.
    package func send(_ bytes: [UInt8], from offset: Int) throws(Failure) -> Int? {
        let rest = bytes[min(max(offset, 0), bytes.count)...]
        return try count(unsafe rest.withUnsafeBytes { unsafe cshim_send(descriptor, $0.baseAddress, $0.count, 1) })
    }

    /// Fills the front of `buffer`: 0 at the end of the stream, nil when there is nothing yet.
    package func receive(into buffer: inout [UInt8]) throws(Failure) -> Int? {
        try count(unsafe buffer.withUnsafeMutableBytes { unsafe cshim_recv(descriptor, $0.baseAddress, $0.count, 1) })
    }

    /// Waits until the socket may be read, or written. False: the time was over first.
    package func wait(toSend: Bool, until deadline: Deadline) throws(Failure) -> Bool {
        let result = cshim_poll(descriptor, toSend ? CSHIM_POLLOUT : CSHIM_POLLIN, -1, deadline.milliseconds)
        guard result >= 0 else { throw Failure(errno: -result) }
        return result != 0
    }

    /// The same for one who passes on what comes to a pipe (-1: to none): EPIPE where that has lost its reader.
    package func waitToReceive(for pipe: Int32, until deadline: Deadline) throws(Failure) -> Bool {
        let result = cshim_poll(descriptor, CSHIM_POLLIN, pipe, deadline.milliseconds)
        guard result >= 0 else { throw Failure(errno: -result) }
        // Nothing is ever to be read at the end that is written to: what shows there is the other end's closing.
        if result & CSHIM_WAKE != 0 { throw Failure(errno: Self.brokenPipe) }
        return result != 0
    }

    private func count(_ result: Int) throws(Failure) -> Int? {
        if result >= 0 { return result }
        guard result != -Int(Self.wouldBlock) else { return nil }
        throw Failure(errno: Int32(clamping: -result))
    }

    // Linux's numbers, the same on x86-64 and arm64: without Glibc there are no names for them.
    package static let notPermitted: Int32 = 1
    package static let noSuchFile: Int32 = 2
    package static let wouldBlock: Int32 = 11
    package static let accessDenied: Int32 = 13
    package static let notDirectory: Int32 = 20
    package static let invalidArgument: Int32 = 22
    package static let brokenPipe: Int32 = 32
    package static let connectionRefused: Int32 = 111
}
