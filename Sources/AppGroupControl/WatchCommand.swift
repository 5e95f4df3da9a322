import GroupClient
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

/// `watch --exec`: runs a command for each change, one at a time, and remembers how far it has come. Owned by the tool's
/// one thread.
final class WatchCommand {
    private let session: Session
    private let group: GroupIdentifier
    private let command: String
    private let statePath: String?
    private let environment: [[UInt8]]
    private var state: WatchState?
    /// The values as far as they are known, to tell after a gap what is different.
    private var known: [Key: Value]?
    private(set) var failures = 0
    /// For how many seconds nothing must have changed before the command runs; nil: it runs at once.
    private let debounce: Double?
    private var pending: Pending?

    /// Changes that wait for a pause. Those of one key are one.
    private struct Pending {
        var changes: [Key: (change: Change, origin: String)] = [:]
        var revision: Int64
        var due: Deadline
    }

    /// MAX_ARG_STRLEN of execve(2), in bytes: with one longer the command would not start.
    private static let variableLimit = 128 << 10

    /// Reads the state file, if there is one.
    init(_ command: String, of group: GroupIdentifier, _ session: Session) throws(Failure) {
        self.session = session
        self.group = group
        self.command = command
        statePath = session.invocation.value(.state)
        debounce = try session.invocation.seconds(.debounce)
        environment = Subprocess.startEnvironment().filter { !$0.starts(with: "APPGROUP_".utf8) }
        guard let statePath, try session.exists(statePath) else { return }
        guard let state = WatchState(parsing: try session.read(statePath)), state.group == group else {
            throw .refused(
                "\(statePath) is no state of a watch of \(group)",
                advice: "name another file with --state, or remove this one: then the watch begins now")
        }
        self.state = state
    }

    /// Where to go on.
    var position: Position? { state?.position }

    /// Nothing is remembered: the watch begins there.
    func begin(at position: Position) {
        if state == nil { state = WatchState(group: group, position: position) }
    }

    /// When the changes that wait are to be handled; nil where none does.
    var due: Deadline? { pending?.due }

    /// - Returns: for how many changes the command ran.
    func handle(_ event: WatchStream.Event, limit: Int64) throws(Failure) -> Int64 {
        switch event {
        case .deleted: return 0
        case .commit(let commit, _):
            let origin = ChangeRendering.origin(commit.origin)
            if let debounce { return gather(commit, origin, Deadline(afterSeconds: debounce)) }
            let changes = commit.changes.sorted { $0.key < $1.key }
            return try handle(changes.map { ($0, origin) }, commit.revision, limit)
        case .snapshot(let snapshot):
            // It tells what waits, too.
            pending = nil
            return try handle(snapshot, limit)
        }
    }

    private func gather(_ commit: Commit, _ origin: String, _ due: Deadline) -> Int64 {
        // Taken out: with two owners each commit would copy all that waits.
        var pending = pending.take() ?? Pending(revision: commit.revision, due: due)
        for change in commit.changes where state?.isHandled(change.key, commit.revision) != true {
            let old = pending.changes[change.key].map(\.change.old) ?? change.old
            pending.changes[change.key] = (Change(key: change.key, old: old, new: change.new), origin)
        }
        (pending.revision, pending.due) = (commit.revision, due)
        self.pending = pending
        return 0
    }

    /// Handles what waits for a pause. What has come back to its old value is no change.
    func runPending(_ limit: Int64) throws(Failure) -> Int64 {
        guard let pending = pending.take() else { return 0 }
        let changes = pending.changes.values.filter { $0.change.old != $0.change.new }
        return try handle(changes.sorted { $0.change.key < $1.change.key }, pending.revision, limit)
    }

    /// The first one is where the watch begins. One after a gap stands for changes that nobody can tell one by one: the
    /// command runs for each key that is different from what was known, or for all where nothing was.
    private func handle(_ snapshot: WatchStream.Snapshot, _ limit: Int64) throws(Failure) -> Int64 {
        if state?.position.epoch != snapshot.position.epoch {
            state = WatchState(group: group, position: Position(epoch: snapshot.position.epoch, revision: 0))
        }
        let isBeginning = snapshot.reason == "initial" && !session.invocation.has(.initial)
        let old = isBeginning ? snapshot.values : known ?? [:]
        let plan = Plan(from: old, to: snapshot.values, removesOthers: true)
        let changes = plan.edits.map { (Change(key: $0.key, old: old[$0.key], new: $0.value), "snapshot") }
        return try handle(changes, snapshot.position.revision, limit, values: snapshot.values)
    }

    private func handle(
        _ changes: [(Change, origin: String)], _ revision: Int64, _ limit: Int64, values: [Key: Value]? = nil
    ) throws(Failure) -> Int64 {
        var count: Int64 = 0
        for (change, origin) in changes {
            guard count < limit else { return count }
            guard state?.isHandled(change.key, revision) != true else { continue }
            try Subprocess.withoutEnding { () throws(Failure) in
                try run(change, revision, origin)
                state?.handled(change.key, revision)
                try save()
            }
            known?[change.key] = change.new
            count += 1
        }
        if let values { known = values }
        if let epoch = state?.position.epoch {
            state?.handledAll(upTo: Position(epoch: epoch, revision: revision))
            try save()
        }
        return count
    }

    private func save() throws(Failure) {
        guard let statePath, let state else { return }
        try Subprocess.withoutEnding { () throws(Failure) in try session.write(state.encoded, to: statePath) }
    }

    private func run(_ change: Change, _ revision: Int64, _ origin: String) throws(Failure) {
        var variables = [
            "APPGROUP_GROUP=\(group)", "APPGROUP_KEY=\(change.key.string)", "APPGROUP_REVISION=\(revision)",
            "APPGROUP_ORIGIN=\(origin)",
        ]
        if let old = change.old { variables.append("APPGROUP_OLD=\(Self.text(old))") }
        if let new = change.new { variables.append("APPGROUP_NEW=\(Self.text(new))") }
        for variable in variables where variable.utf8.count >= Self.variableLimit {
            session.console.note("too long for the environment, left out: \(variable.prefix { $0 != "=" })")
        }
        variables.removeAll { $0.utf8.count >= Self.variableLimit }
        let ending = try session.file { () throws(SystemError) in
            try Subprocess.run(
                "/bin/sh", ["-c", command], environment: environment + variables.map { Array($0.utf8) },
                readsInput: false)
        }
        guard ending != .exited(0) else { return }
        failures += 1
        let how = if case .signalled(let signal) = ending { "signal \(signal)" } else { "status \(ending.status)" }
        session.console.note("the command ended with \(how), for \(quoted(change.key.string)) of revision \(revision)")
    }

    /// Scalars bare, the rest as JSON.
    private static func text(_ value: Value) -> String {
        switch value.kind {
        case .array, .dictionary: JSONRendering.json(value).description
        default: TextRendering.bare(value)
        }
    }
}

extension Subprocess.Ending {
    fileprivate var status: Int32 {
        switch self {
        case .exited(let status): status
        case .signalled(let signal): 128 + signal
        }
    }
}

extension Session {
    fileprivate func exists(_ path: String) throws(Failure) -> Bool {
        try file { () throws(SystemError) in try Files.statusIfPresent(path) != nil }
    }
}
