import CShims
import Glibc

/// A file that says "one at a time": locked while the object stands, with our process id written into it for people.
///
/// The lock is the kernel's (flock), so it ends with the process whatever kills it; the file stays, because to unlink
/// it would let two processes each lock a file of that name.
package struct LockFile: ~Copyable, Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// Somebody has it; the text that they wrote, normally their process id.
        case held(by: String, path: String)
        case system(SystemError)
    }

    private let file: FileDescriptor
    package let path: String

    package init(_ path: String) throws(Failure) {
        file = try Self.locked(path)
        self.path = path
    }

    deinit {
        // Closing alone would leave the lock to a child that was forked a moment ago and has not come to its exec.
        _ = cshim_flock_unlock(file.rawValue)
    }

    private static func locked(_ path: String) throws(Failure) -> FileDescriptor {
        let file = try translating { () throws(SystemError) in
            try Files.openRegular(path, [.readWrite, .create, .noFollow])
        }
        guard try translating({ () throws(SystemError) in try lock(file, path) }) else {
            throw .held(by: holder(file), path: path)
        }
        try translating { () throws(SystemError) in
            try file.truncate(to: 0)
            try file.pwriteAll(Array("\(ProcessFacts.processID)\n".utf8), at: 0)
        }
        return file
    }

    /// False when somebody else has it.
    private static func lock(_ file: borrowing FileDescriptor, _ path: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try systemCall("flock", path: path) { cshim_flock_exclusive(file.rawValue) }
            return true
        } catch  where error.errno == .wouldBlock {
            return false
        }
    }

    private static func translating<Result: ~Copyable>(
        _ body: () throws(SystemError) -> Result
    ) throws(Failure) -> Result {
        do throws(SystemError) { return try body() } catch { throw .system(error) }
    }

    /// Who has the lock. Whoever took it a moment ago may not have written it down yet, and what is there instead is
    /// nothing, or the number of one who is gone: that is waited for, for a tenth of a second.
    private static func holder(_ file: borrowing FileDescriptor) -> String {
        var last = "unknown"
        for _ in 0..<50 {
            let bytes = (try? file.pread(count: 32, at: 0)) ?? []
            let text = String(decoding: bytes.prefix { $0 > UInt8(ascii: " ") && $0 < 0x7F }, as: UTF8.self)
            if !text.isEmpty, (try? Files.status("/proc/\(text)")) != nil { return text }
            if !text.isEmpty { last = text }
            _ = cshim_poll(-1, 0, -1, 2)
        }
        return last
    }
}

extension LockFile.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .held(let holder, let path): "\(path) is locked by process \(holder)"
        case .system(let error): error.description
        }
    }
}
