import CShims
import Glibc

/// A descriptor that somebody else owns: to register it, or as the directory that a name is relative to.
package struct RawDescriptor: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// Names are relative to the working directory (absolute paths are what they are).
    package static var workingDirectory: RawDescriptor { RawDescriptor(rawValue: AT_FDCWD) }
}

/// An open file, socket or directory: closed when its only owner lets go of it.
///
/// Sendable, because the kernel serializes; owned by exactly one place, because it cannot be copied.
package struct FileDescriptor: ~Copyable, Sendable {
    package let rawValue: Int32

    /// Takes over a descriptor that nobody else closes.
    package init(owning rawValue: Int32) {
        precondition(rawValue >= 0, "descriptor \(rawValue)")
        self.rawValue = rawValue
    }

    /// The number without the ownership; valid while this stands.
    package var raw: RawDescriptor { RawDescriptor(rawValue: rawValue) }

    /// Gives the number away: the caller closes it.
    package consuming func take() -> Int32 {
        let number = rawValue
        discard self
        return number
    }

    /// Closes now, for those who must know that it is closed. The error that close reports is worthless after fsync.
    package consuming func close() {}

    deinit {
        // Never started again: on Linux the number is free even after EINTR, and may be somebody else's by now.
        let result = Glibc.close(rawValue)
        precondition(result == 0 || errno != EBADF, "descriptor \(rawValue) was closed by somebody else")
    }
}

extension FileDescriptor {
    package func duplicate() throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try systemCall("dup") { cshim_fcntl_dupfd_cloexec(rawValue, 3) })
    }

    package func setNonBlocking() throws(SystemError) {
        let flags = try systemCall("fcntl") { cshim_fcntl_getfl(rawValue) }
        _ = try systemCall("fcntl") { cshim_fcntl_setfl(rawValue, flags | O_NONBLOCK) }
    }

    /// Both ends of a pipe, CLOEXEC. As numbers, because a tuple cannot hold owners: the caller wraps them.
    package static func makePipe() throws(SystemError) -> (read: Int32, write: Int32) {
        var ends: (read: Int32, write: Int32) = (-1, -1)
        _ = try systemCall("pipe2") {
            unsafe withUnsafeMutablePointer(to: &ends) { pair in
                unsafe pair.withMemoryRebound(to: Int32.self, capacity: 2) { unsafe cshim_pipe2($0, O_CLOEXEC) }
            }
        }
        return ends
    }
}
