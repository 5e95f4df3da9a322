import CShims
import Glibc
import GroupClient

/// The system calls that documents need. No state; safe for any thread; they block.
///
/// The only file of documents that hands out pointers: the library must not depend on LinuxIO and libsystemd.
enum DocumentCalls {
    /// A call that failed, with its `errno`.
    struct Failure: Error, Equatable {
        var errno: Int32
        var call: String
        var path: String

        var isAbsence: Bool { errno == ENOENT || errno == ENOTDIR }
        var isPresence: Bool { errno == EEXIST }
        var isTooLarge: Bool { errno == EFBIG }
        /// The file system, or its owner, does not want it.
        var isRefusal: Bool { errno == EROFS || errno == EACCES || errno == EPERM }
        /// The file system knows no such rename.
        var isUnsupported: Bool { call == "rename" && (errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) }

        init(errno: Int32, call: String, path: String) {
            (self.errno, self.call, self.path) = (errno, call, path)
        }

        /// More links than the kernel would follow.
        init(looping path: String) {
            self.init(errno: ELOOP, call: "readlink", path: path)
        }
    }

    struct Status: Equatable {
        var kind: mode_t
        /// Permission bits only.
        var mode: mode_t
        /// In seconds since 1970.
        var modificationTime: Int

        var isRegular: Bool { kind == S_IFREG }
        var isDirectory: Bool { kind == S_IFDIR }
        var isLink: Bool { kind == S_IFLNK }
    }

    /// A lock on a directory, held by this object; the kernel gives it back when the process dies.
    final class Lock {
        private let descriptor: Int32

        fileprivate init(_ descriptor: Int32) { self.descriptor = descriptor }

        deinit { _ = cshim_close(descriptor) }
    }

    /// Repeats a call that a signal interrupts.
    private static func check(_ call: String, _ path: String, _ body: () -> Int) throws(Failure) -> Int {
        while true {
            let result = body()
            if result >= 0 { return result }
            let reason = Glibc.errno
            if reason != EINTR { throw Failure(errno: reason, call: call, path: path) }
        }
    }

    private static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0) throws(Failure) -> Int32 {
        // A NUL would silently name another file.
        if path.utf8.contains(0) { throw Failure(errno: EINVAL, call: "open", path: path) }
        let flags = flags | O_CLOEXEC | O_NOCTTY
        return Int32(try check("open", path) { unsafe Int(cshim_open(path, flags, mode)) })
    }

    /// Nil where there is nothing.
    static func status(_ path: String, followsLinks: Bool = true) throws(Failure) -> Status? {
        var info = stat()
        do throws(Failure) {
            _ = try check("stat", path) {
                unsafe Int(fstatat(AT_FDCWD, path, &info, followsLinks ? 0 : AT_SYMLINK_NOFOLLOW))
            }
        } catch  where error.isAbsence {
            return nil
        }
        return Status(info)
    }

    static func readLink(_ path: String) throws(Failure) -> String {
        var bytes = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = try check("readlink", path) {
            unsafe bytes.withUnsafeMutableBytes { buffer in
                guard let base = buffer.baseAddress else { return 0 }
                return unsafe readlink(path, base, buffer.count)
            }
        }
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}

extension DocumentCalls.Status {
    fileprivate init(_ info: stat) {
        kind = info.st_mode & S_IFMT
        mode = info.st_mode & 0o7777
        modificationTime = info.st_mtim.tv_sec
    }
}

// MARK: - Contents

extension DocumentCalls {
    /// The whole of a regular file; nil where there is none. Never waits for a FIFO's other end.
    static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8]? {
        let descriptor: Int32
        do throws(Failure) {
            descriptor = try open(path, O_RDONLY | O_NONBLOCK)
        } catch  where error.isAbsence {
            return nil
        }
        defer { _ = cshim_close(descriptor) }
        var info = stat()
        _ = try check("stat", path) { unsafe Int(fstat(descriptor, &info)) }
        let status = Status(info)
        guard status.isRegular else {
            throw Failure(errno: status.isDirectory ? EISDIR : EINVAL, call: "open", path: path)
        }
        return try readAll(descriptor, path, expected: Int(clamping: info.st_size), limit)
    }

    private static func readAll(
        _ descriptor: Int32, _ path: String, expected: Int, _ limit: Int
    ) throws(Failure) -> [UInt8] {
        // One byte more than expected: the read that finds the end then needs no room of its own.
        var bytes = try readSome(descriptor, path, min(max(expected, 0), limit) + 1)
        var isShort = bytes.count <= expected
        while !bytes.isEmpty {
            // A short read is the end, most likely; one byte finds out.
            let more = try readSome(descriptor, path, isShort ? 1 : 64 << 10)
            if more.isEmpty { break }
            isShort = more.count < 64 << 10
            bytes += more
            if bytes.count > limit { break }
        }
        if bytes.count > limit { throw Failure(errno: EFBIG, call: "read", path: path) }
        return bytes
    }

    /// One read into an array that is not filled with zeros first.
    private static func readSome(_ descriptor: Int32, _ path: String, _ limit: Int) throws(Failure) -> [UInt8] {
        var outcome = Result<Int, Failure>.success(0)
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            do throws(Failure) {
                count = try check("read", path) { unsafe Glibc.read(descriptor, buffer.baseAddress, limit) }
            } catch {
                outcome = .failure(error)
            }
        }
        _ = try outcome.get()
        return bytes
    }

    /// A file that is to take another's place. Its writer holds a lock on it until it closes it, so that others can tell what
    /// a killed one has left behind.
    final class Temporary {
        fileprivate let descriptor: Int32
        fileprivate(set) var path: String

        fileprivate init(_ descriptor: Int32, _ path: String) { (self.descriptor, self.path) = (descriptor, path) }

        deinit { _ = cshim_close(descriptor) }
    }

    /// Makes a file of exactly this mode beside others, and returns when it is on stable storage. What is half done is
    /// removed; of who is killed before the end nothing stays, where the file system knows files without names. `name` makes
    /// the path, of the number that the file system knows the new file by.
    static func writeNew(
        in directory: String, _ bytes: [UInt8], mode: mode_t, name: (UInt64) -> String
    ) throws(Failure) -> Temporary {
        let unnamed = openUnnamed(directory)
        let file = if let unnamed { unnamed } else { try openNamed(name) }
        do throws(Failure) {
            _ = cshim_flock_exclusive(file.descriptor)
            try writeAll(file.descriptor, file.path, bytes)
            // Whatever the umask says.
            _ = try check("chmod", file.path) { Int(fchmod(file.descriptor, mode)) }
            _ = try check("fsync", file.path) { Int(fsync(file.descriptor)) }
            if file.path == directory { try link(file, to: name(try number(file))) }
            return file
        } catch {
            if file.path != directory { remove(file.path) }
            throw error
        }
    }

    private static func number(_ file: Temporary) throws(Failure) -> UInt64 {
        var info = stat()
        _ = try check("stat", file.path) { unsafe Int(fstat(file.descriptor, &info)) }
        return UInt64(info.st_ino)
    }

    /// Nil where the file system has no files without names, or /proc is not there to name it later.
    private static func openUnnamed(_ directory: String) -> Temporary? {
        guard unsafe access("/proc/self/fd", F_OK) == 0,
            let descriptor = try? open(directory, O_WRONLY | cshim_O_TMPFILE, 0o600)
        else { return nil }
        return Temporary(descriptor, directory)
    }

    /// Under a first name; then under the one that tells its number.
    private static func openNamed(_ name: (UInt64) -> String) throws(Failure) -> Temporary {
        let first = name(.random(in: .min ... .max))
        let file = Temporary(try open(first, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600), first)
        do throws(Failure) {
            let path = name(try number(file))
            try rename(first, to: path, replacing: .any)
            file.path = path
            return file
        } catch {
            remove(first)
            throw error
        }
    }

    private static func link(_ file: Temporary, to path: String) throws(Failure) {
        _ = try check("link", path) {
            unsafe Int(linkat(AT_FDCWD, "/proc/self/fd/\(file.descriptor)", AT_FDCWD, path, AT_SYMLINK_FOLLOW))
        }
        file.path = path
    }

    /// Removes a file that a writer has left behind who was killed: it has this number, and nobody holds its lock.
    static func removeAbandoned(_ path: String, number: UInt64) {
        guard let descriptor = try? open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK) else { return }
        defer { _ = cshim_close(descriptor) }
        var info = stat()
        guard unsafe fstat(descriptor, &info) == 0, Status(info).isRegular, UInt64(info.st_ino) == number,
            cshim_flock_exclusive(descriptor) == 0
        else { return }
        remove(path)
    }

    /// The names in a directory; none where it cannot be read.
    static func names(in directory: String) -> [String] {
        guard let stream = unsafe opendir(directory) else { return [] }
        defer { unsafe closedir(stream) }
        var names: [String] = []
        while let entry = unsafe readdir(stream) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            names.append(name)
        }
        return names
    }

    private static func writeAll(_ descriptor: Int32, _ path: String, _ bytes: [UInt8]) throws(Failure) {
        var done = 0
        while done < bytes.count {
            done += try check("write", path) {
                unsafe bytes[done...].withUnsafeBytes {
                    unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
                }
            }
        }
    }
}

// MARK: - Names

extension DocumentCalls {
    enum Replacement {
        /// Whatever is there.
        case any
        /// Nothing may be there: EEXIST.
        case none
        /// Something must be there, and gets the other name: ENOENT.
        case exchange

        fileprivate var flags: UInt32 {
            switch self {
            case .any: 0
            case .none: cshim_RENAME_NOREPLACE
            case .exchange: cshim_RENAME_EXCHANGE
            }
        }
    }

    static func rename(_ path: String, to target: String, replacing: Replacement) throws(Failure) {
        _ = try check("rename", target) {
            unsafe Int(cshim_renameat2(AT_FDCWD, path, AT_FDCWD, target, replacing.flags))
        }
    }

    /// What cannot be removed stays.
    static func remove(_ path: String) {
        _ = unsafe Glibc.unlink(path)
    }

    /// One that is there already is fine.
    static func makeDirectory(_ path: String) throws(Failure) {
        do throws(Failure) {
            _ = try check("mkdir", path) { unsafe Int(mkdir(path, 0o700)) }
        } catch  where error.errno == EEXIST {
            return
        }
    }

    /// A rename lasts when its directory is on stable storage.
    static func syncDirectory(_ path: String) throws(Failure) {
        let descriptor = try open(path, O_RDONLY | O_DIRECTORY)
        defer { _ = cshim_close(descriptor) }
        _ = try check("fsync", path) { Int(fsync(descriptor)) }
    }

    /// Locks a directory against others who do the same. Nil when the file system knows no such locks, or the time is over:
    /// some process was stopped in the middle of a save.
    static func lock(directory: String, until deadline: Deadline) -> Lock? {
        guard let descriptor = try? open(directory, O_RDONLY | O_DIRECTORY) else { return nil }
        let lock = Lock(descriptor)
        var pause = 0.0005
        while cshim_flock_exclusive(descriptor) < 0 {
            guard errno == EWOULDBLOCK || errno == EINTR, !deadline.isOver else { return nil }
            // flock has no time limit but by a signal, which a library does not touch.
            Deadline(afterSeconds: Double.random(in: pause / 2...pause)).earlier(of: deadline).sleep()
            pause = min(pause * 2, 0.01)
        }
        return lock
    }

    /// The number's name and meaning, for people.
    static func text(of errno: Int32) -> String {
        guard let text = unsafe cshim_errno_text(errno) else { return "error \(errno)" }
        return unsafe String(cString: text)
    }
}
