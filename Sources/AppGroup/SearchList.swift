import GroupModel
import PropertyList
import Synchronization

/// One effective change: what a reader of the search list sees change.
struct EffectiveChange: Sendable {
    var key: Key
    var old: Value?
    var new: Value?
}

/// Where a setting is looked for: the arguments of the command line, the group, the suites added to it, the registered
/// defaults; the first hit counts. It turns the steps of its groups into changes of what readers see.
///
/// Safe for any thread. Lives as long as its `GroupDefaults`.
final class SearchList: Sendable {
    typealias Observer = @Sendable (ReplicaMachine.Step, [EffectiveChange]) -> Void

    private struct State: ~Copyable {
        var suites: [(replica: Replica, observer: UInt64)] = []
        var observers: [(id: UInt64, call: Observer)] = []
        var errorObservers: [(id: UInt64, call: @Sendable (AppGroupError) -> Void)] = []
        var nextID: UInt64 = 1
        var ownObserver: UInt64?
    }

    private let own: Replica
    private let state = Mutex(State())

    init(own: Replica) {
        self.own = own
    }

    deinit {
        state.withLock { state in
            if let observer = state.ownObserver { own.removeObserver(observer) }
            for (replica, observer) in state.suites { replica.removeObserver(observer) }
        }
    }

    /// The effective value, noted by whoever tracks what it reads.
    func value(_ key: Key) -> Value? {
        if let argument = ProcessDomains.shared.argument(key) { return argument }
        if let value = own.cell(key).value { return value }
        for suite in suites {
            if let value = suite.cell(key).value { return value }
        }
        return ProcessDomains.shared.registered(key)
    }

    /// What the list holds below the group's own value.
    private func below(_ key: Key) -> Value? {
        for suite in suites {
            if let value = suite.value(key) { return value }
        }
        return ProcessDomains.shared.registered(key)
    }

    private var suites: [Replica] { state.withLock { $0.suites.map(\.replica) } }

    /// All keys with their effective values.
    var merged: [Key: Value] {
        var values = ProcessDomains.shared.allRegistered
        for suite in suites.reversed() { values.merge(suite.values) { $1 } }
        values.merge(own.values) { $1 }
        values.merge(ProcessDomains.shared.allArguments) { $1 }
        return values
    }

    // MARK: Suites

    func addSuite(_ replica: Replica) {
        guard replica !== own, !suites.contains(where: { $0 === replica }) else { return }
        let observer = replica.addObserver { [weak self] step in self?.suiteChanged(replica, step) }
        state.withLock { $0.suites.append((replica, observer)) }
    }

    func removeSuite(_ replica: Replica) {
        let removed = state.withLock { state -> UInt64? in
            guard let index = state.suites.firstIndex(where: { $0.replica === replica }) else { return nil }
            return state.suites.remove(at: index).observer
        }
        if let removed { replica.removeObserver(removed) }
    }

    // MARK: Changes

    /// Hears of every step that changes something for a reader, in order, outside all locks.
    func addObserver(_ call: @escaping Observer) -> UInt64 {
        let (id, isFirst) = state.withLock { state in
            state.nextID += 1
            state.observers.append((state.nextID, call))
            return (state.nextID, state.ownObserver == nil)
        }
        if isFirst {
            let observer = own.addObserver { [weak self] step in self?.ownChanged(step) }
            let isSurplus = state.withLock { state in
                guard state.ownObserver == nil else { return true }
                state.ownObserver = observer
                return false
            }
            if isSurplus { own.removeObserver(observer) }
        }
        return id
    }

    func removeObserver(_ id: UInt64) {
        state.withLock { $0.observers.removeAll { $0.id == id } }
    }

    private func ownChanged(_ step: ReplicaMachine.Step) {
        tell(step) { change in
            (change.old ?? self.below(change.key), change.new ?? self.below(change.key))
        }
    }

    private func suiteChanged(_ suite: Replica, _ step: ReplicaMachine.Step) {
        let before = Array(suites.prefix { $0 !== suite })
        let after = Array(suites.drop { $0 !== suite }.dropFirst())
        tell(step) { change in
            for replica in [self.own] + before {
                if let value = replica.value(change.key) { return (value, value) }
            }
            let lower =
                after.lazy.compactMap { $0.value(change.key) }.first
                ?? ProcessDomains.shared.registered(change.key)
            return (change.old ?? lower, change.new ?? lower)
        }
    }

    private func tell(_ step: ReplicaMachine.Step, _ effective: (Change) -> (old: Value?, new: Value?)) {
        let changes = step.changes.compactMap { change -> EffectiveChange? in
            // What an argument hides, no reader sees change.
            if ProcessDomains.shared.argument(change.key) != nil { return nil }
            let (old, new) = effective(change)
            return old == new ? nil : EffectiveChange(key: change.key, old: old, new: new)
        }
        guard !changes.isEmpty else { return }
        for observer in state.withLock({ $0.observers.map(\.call) }) { observer(step, changes) }
    }

    // MARK: Errors of what nobody awaits

    func report(_ error: AppGroupError) {
        for observer in state.withLock({ $0.errorObservers.map(\.call) }) { observer(error) }
    }

    func addErrorObserver(_ call: @escaping @Sendable (AppGroupError) -> Void) -> UInt64 {
        state.withLock { state in
            state.nextID += 1
            state.errorObservers.append((state.nextID, call))
            return state.nextID
        }
    }

    func removeErrorObserver(_ id: UInt64) {
        state.withLock { $0.errorObservers.removeAll { $0.id == id } }
    }
}
