import Glibc
import LinuxIO
import Synchronization

/// What is asked of the watcher's thread.
enum WatchRequest: Sendable, Equatable {
    case watch(String)
    case unwatch(String)
    case barrier(UInt64)
}

/// How the cookie is touched. Two ways that inotify tells apart, so that after an overflow a second touch is not taken
/// for the first. Neither needs room on the disk.
enum CookieTouch: Equatable {
    /// fchmod: IN_ATTRIB.
    case mode
    /// ftruncate: IN_MODIFY.
    case size

    var other: CookieTouch { self == .mode ? .size : .mode }

    init?(mask: Int32) {
        switch mask {
        case IN_ATTRIB: self = .mode
        case IN_MODIFY: self = .size
        default: return nil
        }
    }
}

/// The requests on their way to the watcher's thread, and the cookie that wakes it. Shared by all threads.
///
/// The requests fly in groups: one touch of the cookie for all that wait, the next when its event has been read. So an
/// event of the cookie can only mean the last touch, and that came after every request of its group was made.
final class Mailbox: Sendable {
    private struct State: ~Copyable {
        var waiting: [WatchRequest] = []
        /// Nil: no touch is under way.
        var flying: [WatchRequest]?
        var touch = CookieTouch.mode
        /// An unlinked file that only we hold: closing it ends its inode, of which inotify tells too. That is the
        /// wake-up that cannot fail: for a stop, and for a cookie that cannot be touched.
        var cookie: FileDescriptor?
        var isStopping = false
    }

    private let state = Mutex(State())

    var isStopping: Bool { state.withLock { $0.isStopping } }

    /// Queues a request and wakes the thread. After the stop it is dropped.
    func submit(_ request: WatchRequest) {
        state.withLock { state in
            if state.isStopping { return }
            state.waiting.append(request)
            Self.launch(&state)
        }
    }

    /// A new cookie, watched already: stands for the requests under way too, if there are any. Fails when even this
    /// one cannot be touched.
    func arm(_ cookie: consuming FileDescriptor) throws(SystemError) {
        var cookie: FileDescriptor? = cookie
        try state.withLock { (state) throws(SystemError) in
            if state.isStopping { return }
            state.cookie = cookie.take()
            state.flying = (state.flying ?? []) + state.waiting
            state.waiting = []
            if state.flying == [] {
                state.flying = nil
            } else {
                try Self.touch(&state)
            }
        }
    }

    /// The cookie's event was read. Answers the requests that it stands for.
    func land(_ touch: CookieTouch) -> [WatchRequest] {
        state.withLock { state in
            guard touch == state.touch, let landed = state.flying else { return [] }
            state.flying = nil
            Self.launch(&state)
            return landed
        }
    }

    /// An overflow was read: it may have swallowed the cookie's event, so touch it once more, in the other way. What
    /// the first touch may still have queued lies before the second's, and is taken for nothing. False: the cookie is
    /// closed, and the event that should have told so may be lost too.
    func touchAgain() -> Bool {
        state.withLock { state in
            if state.flying != nil {
                state.touch = state.touch.other
                try? Self.touch(&state)
            }
            return state.cookie != nil
        }
    }

    /// All that waits.
    func takeAll() -> [WatchRequest] {
        state.withLock { state in
            defer {
                state.flying = nil
                state.waiting = []
            }
            return (state.flying ?? []) + state.waiting
        }
    }

    /// Makes the thread end.
    func stop() {
        state.withLock { state in
            state.isStopping = true
            state.cookie = nil
        }
    }

    private static func launch(_ state: inout State) {
        guard state.flying == nil, !state.waiting.isEmpty, state.cookie != nil else { return }
        state.flying = state.waiting
        state.waiting = []
        // A failure closes the cookie, which wakes the thread: it makes another one, or says why not.
        try? touch(&state)
    }

    private static func touch(_ state: inout State) throws(SystemError) {
        do throws(SystemError) {
            switch state.touch {
            case .mode: try state.cookie?.changeMode(0o600)
            case .size: try state.cookie?.truncate(to: 0)
            }
        } catch {
            state.cookie = nil
            throw error
        }
    }
}
