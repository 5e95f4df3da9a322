import CShims
import Glibc

/// A connected stream socket of this machine. Non-blocking unless made otherwise; closed when its owner lets go of it.
package struct UnixSocket: ~Copyable, Sendable {
    package let descriptor: FileDescriptor

    package init(_ descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    package init(owning rawValue: Int32) {
        descriptor = FileDescriptor(owning: rawValue)
    }

    /// `path` may have any length. A listener whose queue is full gives EAGAIN when `isBlocking` is false.
    package static func connect(_ path: String, isBlocking: Bool = false) throws(SystemError) -> UnixSocket {
        try checkPath(path, "connect")
        let number = unsafe cshim_unix_connect(path, isBlocking ? 0 : 1)
        if number < 0 { throw SystemError(errno: Errno(rawValue: -number), call: "connect", path: path) }
        return UnixSocket(owning: number)
    }

    /// Two ends, non-blocking. As numbers, because a tuple cannot hold owners: the caller wraps them.
    package static func makePair() throws(SystemError) -> (Int32, Int32) {
        var ends: (Int32, Int32) = (-1, -1)
        let result = unsafe withUnsafeMutablePointer(to: &ends) { pair in
            unsafe pair.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe cshim_socketpair($0, 1) }
        }
        if result < 0 { throw SystemError(errno: Errno(rawValue: -result), call: "socketpair") }
        return ends
    }
}

/// Who is at the other end, as it was when they connected. The uid can be trusted; the pid may have been recycled.
package struct PeerCredentials: Hashable, Sendable {
    package let pid: Int32
    package let uid: UInt32
    package let gid: UInt32

    package init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }
}

extension UnixSocket {
    package enum Received: Equatable, Sendable {
        /// So many bytes stand at the start of the buffer.
        case bytes(Int)
        case wouldBlock
        /// The peer has ended its side, or is gone.
        case closed
    }

    package enum Sent: Equatable, Sendable {
        /// So many bytes went out; perhaps not all.
        case bytes(Int)
        case wouldBlock
        /// Nobody is there to read it.
        case closed
    }

    package var raw: RawDescriptor { descriptor.raw }

    package func peerCredentials() throws(SystemError) -> PeerCredentials {
        var (pid, uid, gid): (pid_t, uid_t, gid_t) = (0, 0, 0)
        _ = try systemCall("getsockopt") {
            unsafe cshim_peer_credentials(descriptor.rawValue, &pid, &uid, &gid)
        }
        return PeerCredentials(pid: pid, uid: uid, gid: gid)
    }

    /// One recv into the front of `buffer`, whose whole length is room. Without a control buffer: descriptors that a
    /// peer passes are closed by the kernel at once, so nobody fills our table.
    package func receive(into buffer: inout [UInt8]) throws(SystemError) -> Received {
        let room = allowedCount("recv", buffer.count)
        do throws(SystemError) {
            let count = try systemCall("recv") {
                unsafe buffer.withUnsafeMutableBytes {
                    unsafe recv(descriptor.rawValue, $0.baseAddress, room, Int32(MSG_DONTWAIT))
                }
            }
            return count == 0 ? .closed : .bytes(count)
        } catch  where error.errno == .wouldBlock {
            return .wouldBlock
        } catch  where error.errno == .connectionReset {
            return .closed
        }
    }

    package func send(_ bytes: borrowing Span<UInt8>) throws(SystemError) -> Sent {
        let count = allowedCount("send", bytes.count)
        return try sendResult { () throws(SystemError) in
            try systemCall("send") {
                unsafe bytes.withUnsafeBytes {
                    unsafe Glibc.send(descriptor.rawValue, $0.baseAddress, count, Self.flags)
                }
            }
        }
    }

    package func send(_ bytes: [UInt8]) throws(SystemError) -> Sent {
        try send(bytes.span)
    }

    /// Several buffers by one call and without copying, from byte `skipped` of the first on. At most 64 buffers go out
    /// in a call; the result says how far it came.
    package func send(_ buffers: ArraySlice<[UInt8]>, skipping skipped: Int = 0) throws(SystemError) -> Sent {
        let batch = buffers.prefix(64)
        return try sendResult { () throws(SystemError) in
            try systemCall("send") {
                var vectors: [iovec] = unsafe []
                unsafe vectors.reserveCapacity(batch.count)
                return unsafe sendVectors(batch, skipped, &vectors)
            }
        }
    }

    /// No further traffic in either direction; the peer sees the end.
    package func shutdown() {
        _ = cshim_shutdown(descriptor.rawValue)
    }

    /// No SIGPIPE (fault R103), and never a wait.
    private static var flags: Int32 { Int32(MSG_NOSIGNAL | MSG_DONTWAIT) }

    private func sendResult(_ body: () throws(SystemError) -> Int) throws(SystemError) -> Sent {
        do throws(SystemError) {
            return .bytes(try body())
        } catch  where error.errno == .wouldBlock {
            return .wouldBlock
        } catch  where error.errno == .brokenPipe || error.errno == .connectionReset {
            return .closed
        }
    }

    /// Opens one buffer a level, so that all pointers hold when the last level sends.
    private func sendVectors(_ rest: ArraySlice<[UInt8]>, _ skipped: Int, _ vectors: inout [iovec]) -> Int {
        guard let first = rest.first else { return unsafe sendMessage(&vectors) }
        return unsafe first.withUnsafeBytes { bytes in
            let part = unsafe UnsafeRawBufferPointer(rebasing: bytes.dropFirst(skipped))
            let base = unsafe UnsafeMutableRawPointer(mutating: part.baseAddress)
            unsafe vectors.append(iovec(iov_base: base, iov_len: part.count))
            return unsafe sendVectors(rest.dropFirst(), 0, &vectors)
        }
    }

    private func sendMessage(_ vectors: inout [iovec]) -> Int {
        unsafe vectors.withUnsafeMutableBufferPointer { vectors in
            var message = unsafe msghdr()
            unsafe message.msg_iov = vectors.baseAddress
            unsafe message.msg_iovlen = vectors.count
            return unsafe sendmsg(descriptor.rawValue, &message, Self.flags)
        }
    }
}
