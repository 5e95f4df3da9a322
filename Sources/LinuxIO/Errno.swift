import CShims
import Glibc

/// A number of `errno`. A struct and not an enum, so that numbers that we have no name for survive.
package struct Errno: RawRepresentable, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) {
        self.rawValue = rawValue
    }

    /// The calling thread's `errno`, to be read right after a failed call.
    package static var current: Errno { Errno(rawValue: errno) }
}

extension Errno {
    package static var notPermitted: Errno { Errno(rawValue: EPERM) }
    package static var noSuchFile: Errno { Errno(rawValue: ENOENT) }
    package static var interrupted: Errno { Errno(rawValue: EINTR) }
    package static var inputOutput: Errno { Errno(rawValue: EIO) }
    package static var badDescriptor: Errno { Errno(rawValue: EBADF) }
    package static var wouldBlock: Errno { Errno(rawValue: EAGAIN) }
    package static var outOfMemory: Errno { Errno(rawValue: ENOMEM) }
    package static var permissionDenied: Errno { Errno(rawValue: EACCES) }
    package static var badAddress: Errno { Errno(rawValue: EFAULT) }
    package static var busy: Errno { Errno(rawValue: EBUSY) }
    package static var fileExists: Errno { Errno(rawValue: EEXIST) }
    package static var crossDevice: Errno { Errno(rawValue: EXDEV) }
    package static var notDirectory: Errno { Errno(rawValue: ENOTDIR) }
    package static var isDirectory: Errno { Errno(rawValue: EISDIR) }
    package static var invalidArgument: Errno { Errno(rawValue: EINVAL) }
    package static var tooManySystemFiles: Errno { Errno(rawValue: ENFILE) }
    package static var tooManyFiles: Errno { Errno(rawValue: EMFILE) }
    package static var fileTooLarge: Errno { Errno(rawValue: EFBIG) }
    package static var noSpace: Errno { Errno(rawValue: ENOSPC) }
    package static var readOnlyFileSystem: Errno { Errno(rawValue: EROFS) }
    package static var tooManyLinks: Errno { Errno(rawValue: EMLINK) }
    package static var brokenPipe: Errno { Errno(rawValue: EPIPE) }
    package static var nameTooLong: Errno { Errno(rawValue: ENAMETOOLONG) }
    package static var notImplemented: Errno { Errno(rawValue: ENOSYS) }
    package static var directoryNotEmpty: Errno { Errno(rawValue: ENOTEMPTY) }
    package static var tooManySymlinks: Errno { Errno(rawValue: ELOOP) }
    package static var noData: Errno { Errno(rawValue: ENODATA) }
    package static var noSuchDevice: Errno { Errno(rawValue: ENXIO) }
    package static var overflow: Errno { Errno(rawValue: EOVERFLOW) }
    package static var notSupported: Errno { Errno(rawValue: EOPNOTSUPP) }
    package static var addressInUse: Errno { Errno(rawValue: EADDRINUSE) }
    package static var connectionReset: Errno { Errno(rawValue: ECONNRESET) }
    package static var connectionAborted: Errno { Errno(rawValue: ECONNABORTED) }
    package static var connectionRefused: Errno { Errno(rawValue: ECONNREFUSED) }
    package static var timedOut: Errno { Errno(rawValue: ETIMEDOUT) }
    package static var stale: Errno { Errno(rawValue: ESTALE) }
    package static var quotaExceeded: Errno { Errno(rawValue: EDQUOT) }
}

extension Errno: CustomStringConvertible {
    /// The symbol, "ENOENT" say.
    package var name: String {
        unsafe cshim_errno_name(rawValue).map { unsafe String(cString: $0) } ?? "errno \(rawValue)"
    }

    /// The sentence of strerror, then the symbol: "No such file or directory (ENOENT)".
    package var description: String {
        let text = unsafe cshim_errno_text(rawValue).map { unsafe String(cString: $0) } ?? "Unknown error"
        return "\(text) (\(name))"
    }

    /// A number that only a bug of ours brings about; going on would act on a descriptor or memory that is not ours.
    var isBug: Bool { self == .badDescriptor || self == .badAddress }
}
