import GroupClient
import GroupModel
import PropertyList
import Synchronization

/// The settings of a group, shared live with every other program that opens it: `UserDefaults` as you know it, for app
/// groups on Linux.
///
///     let settings = GroupDefaults(suiteName: "group.com.example.app")
///     settings.set(true, forKey: "isDarkMode")
///     for await change in settings.changes(for: "theme") { print(change.new) }
///
/// Reads touch no socket: the process holds a copy that follows every change, whoever makes it. A set is visible at once in
/// this process, goes to the daemon on its own, and is told to everybody else; where the daemon refuses it, it is taken back
/// and the error comes by ``errors``.
///
/// Safe for any thread. Instances with one suite name share one copy; values registered with ``register(defaults:)`` are
/// shared by the whole process.
public final class GroupDefaults: Sendable {
    enum Backend: Sendable {
        case daemon(DaemonLink, Replica)
        case memory(MemoryGroup)
        /// The name is no group identifier: nothing is stored, and everything says why.
        case invalid(Replica, AppGroupError)
    }

    /// The group's name, as it was given.
    public let suiteName: String
    let backend: Backend
    let searchList: SearchList

    /// Opens a group; it is made when it does not exist.
    ///
    /// Never fails and never falls back to a private store: a name that is no group identifier, a group that is denied or
    /// a daemon that cannot be reached show in ``connectionState``, ``errors`` and whatever is awaited.
    ///
    /// - Parameter suiteName: 1–200 bytes of `A-Z a-z 0-9 . _ -`, such as `group.com.example.app`.
    public convenience init(suiteName: String) {
        self.init(suiteName: suiteName, link: .shared)
    }

    deinit {
        searchList.close()
    }

    convenience init(suiteName: String, link: DaemonLink) {
        do throws(GroupError) {
            let replica = link.replica(of: try GroupIdentifier(suiteName))
            self.init(suiteName: suiteName, backend: .daemon(link, replica))
        } catch {
            let replica = Replica(.none, tagPrefix: "")
            replica.markReady()
            self.init(suiteName: suiteName, backend: .invalid(replica, AppGroupError(error)))
        }
    }

    init(suiteName: String, backend: Backend) {
        ForkGuard.arm()
        self.suiteName = suiteName
        self.backend = backend
        searchList = SearchList(own: backend.replica)
    }

    /// A group that lives in this object only, with the same rules: for tests, no daemon needed.
    public static func inMemory(suiteName: String = "group.memory") -> GroupDefaults {
        let group = (try? GroupIdentifier(suiteName)) ?? .none
        return GroupDefaults(suiteName: suiteName, backend: .memory(MemoryGroup(group)))
    }
}

extension GroupDefaults.Backend {
    var replica: Replica {
        switch self {
        case .daemon(_, let replica), .invalid(let replica, _): replica
        case .memory(let group): group.replica
        }
    }
}

extension GroupIdentifier {
    /// Stands where no group can be named.
    static let none: GroupIdentifier = {
        do throws(GroupError) { return try GroupIdentifier("none") } catch { preconditionFailure("\(error)") }
    }()
}

// MARK: - What everything else is made of

extension GroupDefaults {
    /// How long the first read of a group waits for its state, in seconds. Without a daemon it does not wait.
    static let firstReadLimit = 2.0

    /// What a reader sees: the first hit in the search list. Noted by whoever tracks what it reads.
    func stored(_ key: String) -> Value? {
        if !searchList.isReady {
            if ForkGuard.isChild { return nil }
            waitForFirstState()
        }
        return searchList.value(key)
    }

    func waitForFirstState() {
        if searchList.isReady { return }
        backend.replica.waitUntilReady(Deadline(afterSeconds: Self.firstReadLimit))
    }

    /// Throws where nothing can be asked of the group: in a forked child, or when the group cannot be used, so that writes
    /// would wait for ever.
    func checkUsable() throws(AppGroupError) {
        if ForkGuard.isChild { throw ForkGuard.error }
        if let failure = backend.replica.failure { throw failure }
    }

    /// Applies edits as one commit: at once in this process, then everywhere.
    ///
    /// Throws what is known without the daemon. What the daemon says comes to who awaits ``commit()``, or by ``errors``.
    @discardableResult
    func submit(_ submission: ReplicaMachine.Submission) throws(AppGroupError) -> UInt64 {
        try checkUsable()
        do throws(GroupError) {
            switch backend {
            case .daemon(let link, let replica): return try link.submit(submission, to: replica)
            case .memory(let group): return try group.submit(submission)
            case .invalid(let replica, _): _ = replica
            }
        } catch {
            throw AppGroupError(error)
        }
        guard case .invalid(_, let error) = backend else { return 0 }
        throw error
    }

    @discardableResult
    func submit(_ edits: [Edit]) throws(AppGroupError) -> UInt64 {
        try submit(ReplicaMachine.Submission(edits))
    }

    /// The same for the setters, which do not throw: an error goes to `errors`.
    func submitOrReport(_ edits: [Edit]) {
        do throws(AppGroupError) {
            try submit(edits)
        } catch {
            searchList.report(error)
        }
    }

    /// Calls back when the daemon has answered all writes up to this one, with the first error among them.
    func whenAnswered(upTo number: UInt64, _ completion: @escaping @Sendable (Result<Void, AppGroupError>) -> Void) {
        switch backend {
        case .daemon(let link, let replica): link.whenAnswered(replica, upTo: number, completion)
        case .memory: completion(.success(()))
        case .invalid(_, let error): completion(.failure(error))
        }
    }
}
