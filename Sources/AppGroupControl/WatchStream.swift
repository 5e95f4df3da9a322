import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// The changes of one group, over as many connections as it takes: a daemon that goes away is waited for, and the stream
/// goes on where it stood. Ends at the time limit of the command line. Owned by the tool's one thread.
final class WatchStream {
    struct Snapshot {
        var values: [Key: Value]
        var position: Position
        /// `initial`, or why there is a gap.
        var reason: String
    }

    enum Event {
        case snapshot(Snapshot)
        case commit(Commit, coalesced: Int64?)
        case deleted
    }

    private let session: Session
    private let group: GroupIdentifier
    private let globs: [String]?
    private let address: DaemonAddress
    private let end: Deadline

    private var connection: DaemonConnection?
    /// Where the stream stands: a new connection goes on from here.
    private var position: Position?
    /// The parts of a divided snapshot.
    private var parts: [Key: Value] = [:]
    /// Whether the watch stood before: only then a lost daemon is waited for.
    private var hasStood = false
    private var isReconnecting = false
    private var pause = WatchStream.firstPause

    /// Seconds between two attempts to reach a daemon that went away: doubled each time, up to the longest.
    private static let firstPause = 0.02
    private static let longestPause = 1.0

    init(
        _ session: Session, _ group: GroupIdentifier, globs: [String]? = nil, since: Position? = nil
    ) throws(Failure) {
        self.session = session
        self.group = group
        self.globs = globs
        position = since
        address = try session.address()
        end = try session.invocation.seconds().map(Deadline.init(afterSeconds:)) ?? .never
    }

    var isOver: Bool { end.isOver }

    /// The next event. Nil after what the stream outlives: the time is over, here or altogether, another attempt is due, or
    /// a part came.
    func next(until pause: Deadline = .never) throws(Failure) -> Event? {
        do throws(ConnectionError) {
            if let connection { return event(try connection.next(deadline: end.earlier(of: pause))) }
            return event(try connect())
        } catch {
            if case .timedOut = error, connection != nil, pause.isOver, !end.isOver { return nil }
            connection = nil
            parts = [:]
            guard hasStood, Self.isPassing(error) else { throw session.failure(error) }
            if !end.isOver { waitForDaemon() }
            return nil
        }
    }

    private func event(_ event: WatchEvent) -> Event? {
        switch event {
        case .established: return nil
        case .deleted: return .deleted
        case .commit(let commit, let coalesced):
            position?.revision = commit.revision
            return .commit(commit, coalesced: coalesced)
        case .snapshot(let part):
            parts.merge(part.values) { _, new in new }
            guard !part.isPartial else { return nil }
            defer { parts = [:] }
            position = part.position
            return .snapshot(Snapshot(values: parts, position: part.position, reason: part.reason))
        }
    }

    /// The first reply comes at once: it says that the watch stands.
    private func connect() throws(ConnectionError) -> WatchEvent {
        let soon = Deadline(afterSeconds: Session.defaultSeconds).earlier(of: end)
        let connection = try DaemonConnection(to: address, deadline: soon)
        // What a command does does not depend on who reads here.
        if !session.invocation.has(.exec) { connection.outputPipe = session.console.outputPipe }
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
}
