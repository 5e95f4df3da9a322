import CInotifyTools
import Glibc
import LinuxIO

/// The watcher's thread: reads events, carries out requests, hands the results over in batches. Made, used and ended
/// in that thread.
final class WatchLoop {
    /// A batch ends here even when events keep coming, so that a storm delays nobody for long.
    private static let batchLimit = 1024
    /// How often requests are looked for, and a new cookie is tried, while there is none.
    private static let pollSeconds = 1
    /// Not among them: opens, reads, MODIFY.
    private static let directoryMask =
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_DELETE_SELF | IN_MOVE_SELF
        | IN_ATTRIB
    private static let cookieMask = IN_ATTRIB | IN_MODIFY | IN_DELETE_SELF
    private static let cookiePrefix = ".appgroupd-cookie-"

    private let cookieDirectory: String
    private let mailbox: Mailbox
    private let deliver: ([WatchEvent]) -> Void
    private var inotify: Inotify
    private var table = WatchTable()
    private var batch: [WatchEvent] = []
    /// Nil: there is no cookie, and the loop polls.
    private var cookieWatch: Int32?

    init(
        cookieDirectory: String,
        mailbox: Mailbox,
        deliver: @escaping ([WatchEvent]) -> Void
    ) throws(SystemError) {
        self.cookieDirectory = cookieDirectory
        self.mailbox = mailbox
        self.deliver = deliver
        inotify = try Inotify()
        try makeCookie()
    }

    func run() {
        while !mailbox.isStopping {
            readBatch()
            if cookieWatch == nil, !mailbox.isStopping { pollRequests() }
            flush()
        }
        for request in mailbox.takeAll() { refuse(request, Errno(rawValue: ECANCELED)) }
        flush()
    }

    private func readBatch() {
        var next = inotify.next(cookieWatch == nil ? .seconds(Self.pollSeconds) : .forever)
        var count = 0
        while let event = next {
            handle(event)
            count += 1
            if count == Self.batchLimit { return }
            next = inotify.next(.none)
        }
    }

    private func flush() {
        if batch.isEmpty { return }
        let events = batch
        batch = []
        deliver(events)
    }
}

// MARK: - Events

extension WatchLoop {
    private func handle(_ event: Inotify.Event) {
        if event.mask & IN_Q_OVERFLOW != 0 {
            batch.append(.overflow)
            if !mailbox.touchAgain() { cookieWatch = nil }
        } else if event.descriptor == cookieWatch {
            handleCookie(event.mask)
        } else if event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_UNMOUNT | IN_IGNORED) != 0 {
            handleEnd(event)
        } else {
            handleChange(event)
        }
    }

    private func handleCookie(_ mask: Int32) {
        if let touch = CookieTouch(mask: mask) {
            for request in mailbox.land(touch) { carryOut(request) }
        } else {
            cookieWatch = nil
        }
    }

    private func handleEnd(_ event: Inotify.Event) {
        // The kernel's own removal after DELETE_SELF and ours after MOVE_SELF end in an IGNORED for what is forgotten.
        let gone = table.remove(event.descriptor)
        for directory in gone { batch.append(.directoryGone(directory: directory)) }
        // A watch follows the directory to its new name, where it is none of our business.
        if !gone.isEmpty, event.mask & IN_MOVE_SELF != 0 { inotify.remove(event.descriptor) }
    }

    private func handleChange(_ event: Inotify.Event) {
        guard let kind = WatchEventKind(mask: event.mask) else { return }
        if event.name.hasPrefix(Self.cookiePrefix) { return }
        for directory in table.directories(of: event.descriptor) {
            batch.append(.changed(directory: directory, name: event.name, kind: kind))
        }
    }
}

extension WatchEventKind {
    fileprivate init?(mask: Int32) {
        switch mask & ~IN_ISDIR {
        case IN_CLOSE_WRITE: self = .closedAfterWriting
        case IN_MOVED_TO: self = .movedIn
        case IN_CREATE: self = .created
        case IN_DELETE: self = .deleted
        case IN_MOVED_FROM: self = .movedOut
        case IN_ATTRIB: self = .attributes
        default: return nil
        }
    }
}

// MARK: - Requests

extension WatchLoop {
    private func carryOut(_ request: WatchRequest) {
        switch request {
        case .barrier(let id): batch.append(.barrier(id))
        case .unwatch(let directory): drop(directory)
        case .watch(let directory): establish(directory)
        }
    }

    /// Removes before it adds: the directory may be another one of the same name. What happens in between is not lost,
    /// because the directory is listed after the answer.
    private func establish(_ directory: String) {
        drop(directory)
        do throws(SystemError) {
            table.insert(directory, try inotify.add(directory: directory, Self.directoryMask))
            batch.append(.watching(directory: directory))
        } catch {
            batch.append(.watchFailed(directory: directory, error.errno))
        }
    }

    private func drop(_ directory: String) {
        if let descriptor = table.remove(directory) { inotify.remove(descriptor) }
    }

    private func refuse(_ request: WatchRequest, _ reason: Errno) {
        switch request {
        case .barrier(let id): batch.append(.barrierFailed(id, reason))
        case .watch(let directory): batch.append(.watchFailed(directory: directory, reason))
        case .unwatch: break
        }
    }
}

// MARK: - The cookie

extension WatchLoop {
    /// Creates the cookie, watches it and takes its name away: a crash leaves nothing behind, nobody else can touch it,
    /// and it works on when its directory is deleted.
    private func makeCookie() throws(SystemError) {
        let suffix = try ProcessFacts.randomBytes(8).map { String($0, radix: 16) }.joined(separator: "-")
        let path = "\(cookieDirectory)/\(Self.cookiePrefix)\(ProcessFacts.processID)-\(suffix)"
        let cookie = try Files.open(path, [.readWrite, .create, .exclusive, .noFollow])
        let descriptor: Int32
        do throws(SystemError) {
            descriptor = try inotify.add(newFile: path, Self.cookieMask)
            try Files.unlink(path)
        } catch {
            _ = try? Files.unlinkIfPresent(path)
            throw error
        }
        skipLossOfName(descriptor)
        try mailbox.arm(cookie)
        cookieWatch = descriptor
    }

    /// That the cookie lost its name comes as a change of it too, and must not pass for a touch.
    private func skipLossOfName(_ descriptor: Int32) {
        while let event = inotify.next(.none) {
            if event.descriptor == descriptor { return }
            handle(event)
        }
    }

    /// Without a cookie nobody can wake us: watches are made at each poll, barriers are refused with the reason.
    private func pollRequests() {
        do throws(SystemError) {
            try makeCookie()
        } catch {
            for request in mailbox.takeAll() {
                if case .barrier = request { refuse(request, error.errno) } else { carryOut(request) }
            }
        }
    }
}
