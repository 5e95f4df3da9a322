import CShims
import Glibc

/// The file system by path. No state: a name for the functions, which would otherwise hide those of libc.
///
/// Where a `relativeTo` is taken, a path that is not absolute starts there.
package enum Files {
    /// How to open. The bits of open(2), with CLOEXEC and NOCTTY always added.
    package struct OpenFlags: OptionSet, Sendable {
        package let rawValue: Int32

        package init(rawValue: Int32) {
            self.rawValue = rawValue
        }

        package static var readOnly: OpenFlags { OpenFlags(rawValue: O_RDONLY) }
        package static var writeOnly: OpenFlags { OpenFlags(rawValue: O_WRONLY) }
        package static var readWrite: OpenFlags { OpenFlags(rawValue: O_RDWR) }
        package static var create: OpenFlags { OpenFlags(rawValue: O_CREAT) }
        /// With `create`: it must not be there yet, not even as a dangling link.
        package static var exclusive: OpenFlags { OpenFlags(rawValue: O_EXCL) }
        package static var truncate: OpenFlags { OpenFlags(rawValue: O_TRUNC) }
        package static var append: OpenFlags { OpenFlags(rawValue: O_APPEND) }
        package static var directory: OpenFlags { OpenFlags(rawValue: O_DIRECTORY) }
        package static var noFollow: OpenFlags { OpenFlags(rawValue: O_NOFOLLOW) }
        package static var nonBlocking: OpenFlags { OpenFlags(rawValue: O_NONBLOCK) }
        /// Only a name for the file: nothing is read or written.
        package static var pathOnly: OpenFlags { OpenFlags(rawValue: cshim_O_PATH) }
    }

    /// `mode` is what a created file gets, less the umask: `changeMode` makes it exact.
    package static func open(
        _ path: String,
        _ flags: OpenFlags,
        mode: UInt32 = 0o600,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) -> FileDescriptor {
        let number = try systemCall("open", checking: path) {
            unsafe cshim_openat(directory.rawValue, path, flags.rawValue | O_CLOEXEC | O_NOCTTY, mode)
        }
        return FileDescriptor(owning: number)
    }

    /// Opens a file that users put there, for reading or appending. It may be a FIFO that nobody writes to, or a tape
    /// drive: never waits (fault R100), and what is not a regular file is refused with EINVAL (a directory: EISDIR).
    package static func openRegular(
        _ path: String,
        _ flags: OpenFlags = .readOnly,
        mode: UInt32 = 0o600,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) -> FileDescriptor {
        let file = try open(path, flags.union(.nonBlocking), mode: mode, relativeTo: directory)
        let kind = try file.status().kind
        guard kind == .regular else {
            let reason: Errno = kind == .directory ? .isDirectory : .invalidArgument
            throw SystemError(errno: reason, call: "open", path: path)
        }
        return file
    }

    package static func openDirectory(
        _ path: String,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) -> FileDescriptor {
        try open(path, [.readOnly, .directory], relativeTo: directory)
    }

    /// The whole of a regular file, with the status of what was read.
    package static func read(_ path: String, limit: Int) throws(SystemError) -> (bytes: [UInt8], status: FileStatus) {
        let file = try openRegular(path)
        do throws(SystemError) {
            let status = try file.status()
            return (try file.readAll(limit: limit), status)
        } catch {
            throw SystemError(errno: error.errno, call: error.call, path: path)
        }
    }

    package static func status(
        _ path: String,
        followLinks: Bool = true,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) -> FileStatus {
        var info = stat()
        _ = try systemCall("stat", checking: path) {
            unsafe fstatat(directory.rawValue, path, &info, followLinks ? 0 : AT_SYMLINK_NOFOLLOW)
        }
        return FileStatus(info)
    }

    /// The status, or nil when there is no such file (or no directory that could hold it).
    package static func statusIfPresent(
        _ path: String,
        followLinks: Bool = true,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) -> FileStatus? {
        do throws(SystemError) {
            return try status(path, followLinks: followLinks, relativeTo: directory)
        } catch  where error.errno == .noSuchFile || error.errno == .notDirectory {
            return nil
        }
    }

    /// The target of a symbolic link, as it is written there.
    package static func readLink(
        _ path: String,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) -> String {
        var target = ""
        _ = try systemCall("readlink", checking: path) {
            unsafe withUnsafeTemporaryAllocation(of: UInt8.self, capacity: Int(PATH_MAX)) { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                let count = unsafe readlinkat(directory.rawValue, path, base, buffer.count)
                if count > 0 { target = unsafe String(decoding: buffer[..<count], as: UTF8.self) }
                return count
            }
        }
        return target
    }

    /// The names in a directory, without "." and "..", in no order. A name that is not UTF-8 is left out: no path of
    /// ours can name it.
    package static func list(_ path: String) throws(SystemError) -> [String] {
        let opened = try openDirectory(path)
        let number = opened.take()
        guard let stream = unsafe fdopendir(number) else {
            let reason = Errno.current
            Glibc.close(number)
            throw SystemError(errno: reason, call: "opendir", path: path)
        }
        defer { unsafe _ = closedir(stream) }
        var names: [String] = []
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else { break }
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe String(validatingCString: $0) }
            }
            if let name, name != ".", name != ".." { names.append(name) }
        }
        if errno != 0 { throw SystemError(errno: .current, call: "readdir", path: path) }
        return names
    }

    /// Whether what others change there goes unseen by inotify (NFS, SMB, FUSE, 9p, AFS, Ceph, Lustre).
    package static func isNetworkFileSystem(_ path: String) throws(SystemError) -> Bool {
        try systemCall("statfs", checking: path) { unsafe cshim_is_network_file_system(path) } != 0
    }

    /// Whether we may write to it, as the kernel sees it (ACLs and read-only mounts included).
    package static func isWritable(_ path: String) -> Bool {
        if path.utf8.contains(0) { return false }
        return unsafe faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
    }

    /// Whether the kernel would refuse us to write to it. What is not there, or out of reach, is protected by nobody.
    package static func isWriteProtected(_ path: String) -> Bool {
        if isWritable(path) { return false }
        return [EACCES, EPERM, EROFS].contains(errno)
    }
}
