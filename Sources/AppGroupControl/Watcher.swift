import AppGroup
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// A `watch` from its beginning to its end, over as many connections as it takes. Owned by the tool's one thread.
final class Watcher {
    private let session: Session
    private let group: GroupIdentifier
    private let globs: [String]?
    private let end: Deadline
    /// How many changes are still to be printed; nil: no end.
    private var remaining: Int64?

    private var connection: DaemonConnection?
    /// Where the stream stands: a new connection goes on from here.
    private var position: Position?
    /// The parts of a divided snapshot.
    private var parts: [Key: Value] = [:]
    /// Whether the watch stood before: only then a lost daemon is waited for.
    private var hasStood = false
    private var isReconnecting = false
    private var pause = Watcher.firstPause

    /// Seconds between two attempts to reach a daemon that went away: doubled each time, up to the longest.
    private static let firstPause = 0.02
    private static let longestPause = 1.0

    init(_ session: Session) throws(Failure) {
        self.session = session
        group = try session.group()
        let globs = Array(session.arguments.dropFirst())
        self.globs = globs.isEmpty ? nil : globs
        remaining = try session.invocation.number(.count)
        end = try session.invocation.seconds().map(Deadline.init(afterSeconds:)) ?? .never
    }

    func run() throws(Failure) {
        let address = try session.address()
        while remaining != 0 {
            if let event = try nextEvent(address) {
                try show(event)
                try session.console.flush()
            } else if end.isOver {
                return try timeIsOver()
            }
        }
    }

    /// Nil after a failure that the watch outlives: the time is over, or another attempt is due.
    private func nextEvent(_ address: DaemonAddress) throws(Failure) -> WatchEvent? {
        do throws(ConnectionError) {
            if let connection { return try connection.next(deadline: end) }
            return try connect(address)
        } catch {
            connection = nil
            parts = [:]
            guard hasStood, Self.isPassing(error) else { throw session.failure(error) }
            if !end.isOver { waitForDaemon() }
            return nil
        }
    }

    /// The first reply comes at once: it says that the watch stands.
    private func connect(_ address: DaemonAddress) throws(ConnectionError) -> WatchEvent {
        let soon = Deadline(afterSeconds: Session.defaultSeconds).earlier(of: end)
        let connection = try DaemonConnection(to: address, deadline: soon)
        try connection.watch([WatchedGroup(group: group, keys: globs, since: position)], deadline: soon)
        let event = try connection.next(deadline: soon)
        self.connection = connection
        noteStanding()
        return event
    }

    private func noteStanding() {
        if !hasStood { session.console.note("watching \(group)") }
        if isReconnecting { session.console.note("appgroupd is back; the watch goes on") }
        hasStood = true
        isReconnecting = false
        pause = Self.firstPause
    }

    private func waitForDaemon() {
        if !isReconnecting { session.console.note("appgroupd went away; waiting for it to come back") }
        isReconnecting = true
        Deadline(afterSeconds: pause).earlier(of: end).sleep()
        pause = min(pause * 2, Self.longestPause)
    }

    /// What a restart of the daemon looks like. A group that is gone may come back, as within one connection.
    private static func isPassing(_ error: ConnectionError) -> Bool {
        switch error {
        case .closed, .timedOut, .unreachable(_, .absent), .unreachable(_, .stale), .refused(.noSuchGroup): true
        default: false
        }
    }

    private func timeIsOver() throws(Failure) {
        guard let remaining, remaining > 0 else { return }
        throw .refused("the time is over, and \(remaining) of the changes asked for did not come")
    }
}

// MARK: - Printing

extension Watcher {
    private func show(_ event: WatchEvent) throws(Failure) {
        switch event {
        case .established: break
        case .commit(let commit, let coalesced): try show(commit, coalesced)
        case .snapshot(let part): try show(part)
        case .deleted:
            if session.printsJSON {
                try session.print(["group": .string(group.string), "deleted": true])
            } else {
                try session.console.print("deleted: \(group)")
            }
        }
    }

    private func show(_ commit: Commit, _ coalesced: Int64?) throws(Failure) {
        position?.revision = commit.revision
        for change in commit.changes where remaining != 0 {
            if session.printsJSON {
                try session.print(ChangeRendering.json(change, commit, coalesced: coalesced))
            } else {
                try session.console.print(
                    ChangeRendering.line(
                        change, commit, coalesced: coalesced, usesColor: session.console.usesColor))
            }
            remaining = remaining.map { $0 - 1 }
        }
    }

    /// After a gap a snapshot is always printed: it says what the missed changes led to.
    private func show(_ part: WatchEvent.SnapshotPart) throws(Failure) {
        parts.merge(part.values) { _, new in new }
        guard !part.isPartial else { return }
        let values = parts
        parts = [:]
        position = part.position
        guard part.reason != "initial" || session.invocation.has(.initial) else { return }
        if session.printsJSON {
            return try session.print(
                ChangeRendering.json(snapshot: values, of: group, at: part.position, reason: part.reason))
        }
        for line in ChangeRendering.lines(snapshot: values, at: part.position, reason: part.reason) {
            try session.console.print(line)
        }
    }
}
