import CShims
import Glibc

extension Files {
    /// `to` is replaced.
    package static func rename(
        _ path: String,
        to newPath: String,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) {
        try rename("rename", path, newPath, directory, flags: 0)
    }

    /// Fails with EEXIST when `newPath` is there. EINVAL: the file system cannot do it.
    package static func renameNoReplace(
        _ path: String,
        to newPath: String,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) {
        try rename("renameNoReplace", path, newPath, directory, flags: cshim_RENAME_NOREPLACE)
    }

    /// Each gets the other's name, in one step: nobody ever sees one of the names missing. EINVAL: the file system
    /// cannot do it.
    package static func exchange(
        _ path: String,
        _ otherPath: String,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) {
        try rename("exchange", path, otherPath, directory, flags: cshim_RENAME_EXCHANGE)
    }

    private static func rename(
        _ call: String,
        _ path: String,
        _ newPath: String,
        _ directory: RawDescriptor,
        flags: UInt32
    ) throws(SystemError) {
        try checkPath(newPath, call)
        _ = try systemCall(call, checking: path) {
            unsafe cshim_renameat2(directory.rawValue, path, directory.rawValue, newPath, flags)
        }
    }

    package static func unlink(
        _ path: String,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) {
        _ = try systemCall("unlink", checking: path) { unsafe unlinkat(directory.rawValue, path, 0) }
    }

    /// Removes it when it is there. Answers whether it was.
    @discardableResult
    package static func unlinkIfPresent(
        _ path: String,
        relativeTo directory: RawDescriptor = .workingDirectory
    ) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try unlink(path, relativeTo: directory)
            return true
        } catch  where error.errno == .noSuchFile {
            return false
        }
    }

    package static func removeDirectory(_ path: String) throws(SystemError) {
        _ = try systemCall("rmdir", checking: path) { unsafe rmdir(path) }
    }

    package static func symlink(_ target: String, at path: String) throws(SystemError) {
        try checkPath(target, "symlink")
        _ = try systemCall("symlink", checking: path) { unsafe Glibc.symlink(target, path) }
    }

    package static func link(_ path: String, to newPath: String) throws(SystemError) {
        try checkPath(newPath, "link")
        _ = try systemCall("link", checking: path) { unsafe Glibc.link(path, newPath) }
    }

    package static func changeMode(_ path: String, _ mode: UInt32) throws(SystemError) {
        _ = try systemCall("chmod", checking: path) { unsafe chmod(path, mode) }
    }

    /// A new directory with exactly these bits, whatever the umask. EEXIST when something is there.
    package static func makeDirectory(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
        _ = try systemCall("mkdir", checking: path) { unsafe mkdir(path, mode) }
        try changeMode(path, mode)
    }

    /// The directory and those above it. Existing ones stay as they are; new ones get exactly these bits.
    package static func makeDirectories(_ path: String, mode: UInt32 = 0o700) throws(SystemError) {
        do throws(SystemError) {
            try makeDirectory(path, mode: mode)
        } catch  where error.errno == .fileExists {
            guard try status(path).kind == .directory else {
                throw SystemError(errno: .notDirectory, call: "mkdir", path: path)
            }
        } catch  where error.errno == .noSuchFile {
            let parent = Self.parent(of: path)
            // A path that is its own parent ends the climb: "/" or "." that is not there.
            if parent == path { throw error }
            // Where the parent is there and makes no directories (/proc), the second answer is final.
            try makeDirectories(parent, mode: mode)
            try makeDirectory(path, mode: mode)
        }
    }

    /// Makes the names in it survive a power cut.
    package static func fsyncDirectory(_ path: String) throws(SystemError) {
        let directory = try openDirectory(path)
        do throws(SystemError) {
            try directory.fsync()
        } catch {
            throw SystemError(errno: error.errno, call: error.call, path: path)
        }
    }

    /// Makes the names survive a power cut that lead to a path, as far up as this process may look. What cannot be synced
    /// (a file system that is read-only, or another's) has not been made by us.
    package static func fsyncWay(to path: String) {
        var directory = path
        while parent(of: directory) != directory {
            directory = parent(of: directory)
            try? fsyncDirectory(directory)
        }
    }

    /// The directory part: "/a" of "/a/b", "." of "b", "/" of "/a". Trailing slashes do not count.
    package static func parent(of path: String) -> String {
        let bytes = path.utf8.span
        var end = endWithoutSlashes(of: bytes, before: bytes.count)
        while end > 0, bytes[end - 1] != UInt8(ascii: "/") { end -= 1 }
        guard end > 0 else { return "." }
        end = endWithoutSlashes(of: bytes, before: end - 1)
        let isRoot = end == 0 || end == 1 && bytes[0] == UInt8(ascii: "/")
        return isRoot ? "/" : part(of: path, 0..<end)
    }

    /// The last part: "b" of "/a/b".
    package static func lastComponent(of path: String) -> String {
        let bytes = path.utf8.span
        let end = endWithoutSlashes(of: bytes, before: bytes.count)
        guard end > 1 else { return part(of: path, 0..<end) }
        var start = end
        while start > 0, bytes[start - 1] != UInt8(ascii: "/") { start -= 1 }
        return part(of: path, start..<end)
    }

    private static func endWithoutSlashes(of bytes: Span<UInt8>, before end: Int) -> Int {
        var end = end
        while end > 1, bytes[end - 1] == UInt8(ascii: "/") { end -= 1 }
        return end
    }

    /// Between slashes, so that no character is cut.
    private static func part(of path: String, _ range: Range<Int>) -> String {
        let start = path.utf8.index(path.startIndex, offsetBy: range.lowerBound)
        return String(path[start..<path.utf8.index(start, offsetBy: range.count)])
    }
}
