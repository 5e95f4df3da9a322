import CShims
import CSystemd
import Glibc
package import LinuxIO

/// The socket that clients connect to: bound by us (with a lock held as long as it stands, and its file removed at the
/// end), or passed in by systemd (whose file stays).
package final class ListeningSocket: Sendable {
    package enum Failure: Error, Equatable, Sendable {
        /// Another process has the lock or answers at the socket; who, as far as known.
        case inUse(by: String, path: String)
        /// What stands there is no socket: not ours to remove.
        case notASocket(path: String)
        /// What was passed in is something else.
        case notListening(descriptor: Int32)
        /// The directory belongs to somebody else, who could put their own socket there.
        case foreignDirectory(path: String)
        case system(SystemError)
    }

    private let socket: FileDescriptor
    /// Held for life; nil for a socket that was passed in.
    private let lock: LockFile?
    /// What to remove at the end, if it is still the file that we made.
    private let made: (path: String, device: UInt64, inode: UInt64)?

    package var raw: RawDescriptor { socket.raw }
    /// Whether it was passed in: others listen at it when we are gone.
    package var isPassed: Bool { lock == nil }

    private init(socket: consuming FileDescriptor, lock: consuming LockFile?, path: String?) {
        self.socket = socket
        self.lock = lock
        made = path.flatMap { path in
            (try? Files.status(path, followLinks: false)).map { (path, $0.device, $0.inode) }
        }
    }

    deinit {
        guard let made else { return }
        // As with the lock: a child on its way to exec must not go on listening. (Not for a passed socket: systemd's.)
        _ = cshim_shutdown(socket.rawValue)
        guard let now = try? Files.status(made.path, followLinks: false) else { return }
        // Under the lock, so it cannot be a successor's; but somebody may have put another thing there by hand.
        if (now.device, now.inode) == (made.device, made.inode) { try? Files.unlink(made.path) }
    }

    /// Binds, safe against a stale socket (fault R104) and against a second process doing the same (fault R105): the
    /// lock `<path>.lock` comes before the look at what is there, and a socket is removed only when nobody answers.
    package static func bind(_ path: String, backlog: Int32 = 128) throws(Failure) -> ListeningSocket {
        try prepareDirectory(of: path)
        let lock = try takeLock(path)
        try removeStale(path)
        do throws(SystemError) {
            try checkPath(path, "bind")
            let number = try systemCall("bind", path: path) { unsafe cshim_unix_listen(path, backlog, 0o600) }
            return ListeningSocket(socket: FileDescriptor(owning: number), lock: lock, path: path)
        } catch {
            throw .system(error)
        }
    }

    /// Takes over a socket that systemd made. It must be a listening Unix stream socket.
    package static func adopt(_ descriptor: consuming FileDescriptor) throws(Failure) -> ListeningSocket {
        let isListener = sd_is_socket_unix(descriptor.rawValue, Int32(SOCK_STREAM.rawValue), 1, nil, 0) > 0
        guard isListener else { throw .notListening(descriptor: descriptor.rawValue) }
        do throws(SystemError) {
            try descriptor.setNonBlocking()
        } catch {
            throw .system(error)
        }
        return ListeningSocket(socket: descriptor, lock: nil, path: nil)
    }

    /// The next waiting client, non-blocking; nil when none waits. With `error.errno.isShortageOfDescriptors` the caller
    /// must stop listening for a while: the client stays in the queue and would wake us again at once (fault R108).
    package func accept() throws(SystemError) -> UnixSocket? {
        while true {
            do throws(SystemError) {
                return UnixSocket(owning: try systemCall("accept4") { cshim_accept4(socket.rawValue) })
            } catch  where error.errno == .wouldBlock {
                return nil
            } catch  where error.errno == .connectionAborted {
                continue
            }
        }
    }
}

extension ListeningSocket {
    private static func prepareDirectory(of path: String) throws(Failure) {
        let directory = Files.parent(of: path)
        let status: FileStatus
        do throws(SystemError) {
            try Files.makeDirectories(directory, mode: 0o700)
            status = try Files.status(directory)
        } catch {
            throw .system(error)
        }
        guard status.uid == ProcessFacts.effectiveUserID else { throw .foreignDirectory(path: directory) }
    }

    private static func takeLock(_ path: String) throws(Failure) -> LockFile {
        do throws(LockFile.Failure) {
            return try LockFile(path + ".lock")
        } catch {
            switch error {
            case .held(let holder, _): throw .inUse(by: "process \(holder)", path: path)
            case .system(let error): throw .system(error)
            }
        }
    }

    private static func removeStale(_ path: String) throws(Failure) {
        let verdict: Standing
        do throws(SystemError) {
            verdict = try standing(path)
            if verdict == .stale { try Files.unlinkIfPresent(path) }
        } catch {
            throw .system(error)
        }
        switch verdict {
        case .nothing, .stale: return
        case .other: throw .notASocket(path: path)
        case .live: throw .inUse(by: "an unknown process", path: path)
        }
    }

    /// What is at the path.
    private enum Standing {
        case nothing, stale, live, other
    }

    private static func standing(_ path: String) throws(SystemError) -> Standing {
        guard let status = try Files.statusIfPresent(path, followLinks: false) else { return .nothing }
        guard status.kind == .socket else { return .other }
        return try isRefused(path) ? .stale : .live
    }

    /// Whether the kernel says that nobody listens there. Any other answer, a full queue say, means that somebody does.
    private static func isRefused(_ path: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try UnixSocket.connect(path)
            return false
        } catch  where error.errno == .connectionRefused {
            return true
        } catch  where error.errno == .wouldBlock {
            return false
        }
    }
}

extension Errno {
    /// No descriptor left, of ours or of the machine.
    package var isShortageOfDescriptors: Bool { self == .tooManyFiles || self == .tooManySystemFiles }
}

extension ListeningSocket.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .inUse(let holder, let path): "\(path) is in use by \(holder)"
        case .notASocket(let path): "\(path) is not a socket, and was left alone"
        case .notListening(let descriptor):
            "descriptor \(descriptor), which was passed to us, is no Unix stream socket that listens"
        case .foreignDirectory(let path): "the directory \(path) belongs to another user"
        case .system(let error): error.description
        }
    }
}
