import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Synchronization

/// One group in this process: its state for readers, and the way by which the search lists that show it hear of changes.
///
/// Safe for any thread. Lists tell their observers outside all locks, one step after the other, on the thread that brought
/// the step about (or on one that is busy telling earlier steps).
final class Replica: Sendable {
    private struct State: ~Copyable {
        var machine: ReplicaMachine
        /// The keys that somebody reads. They hold what the machine shows.
        var places: [Key: Place] = [:]
        var listeners = LayerListeners()
        /// Opened when the group's state is known, or known to be out of reach.
        var gates: [Gate] = []
        var failure: AppGroupError?

        /// Takes a step: from here on every reader sees it.
        ///
        /// - Returns: who has to hear of it.
        mutating func take(_ step: ReplicaMachine.Step) -> [any LayerListener] {
            for change in step.changes { places[change.key]?.store(change.new) }
            return step.changes.isEmpty && step.relayered.isEmpty ? [] : listeners.all
        }
    }

    let group: GroupIdentifier
    private let state: Mutex<State>
    private let readiness = Atomic(false)
    private let hasFailed = Atomic(false)

    init(_ group: GroupIdentifier, tagPrefix: String) {
        self.group = group
        state = Mutex(State(machine: ReplicaMachine(tagPrefix: tagPrefix)))
    }

    // MARK: Reading

    /// The place of the key's value, through which it is read again and again; made at the first asking.
    func place(_ key: Key) -> Place {
        state.withLock { state in
            if let place = state.places[key] { return place }
            let place = Place(state.machine.visible[key])
            state.places[key] = place
            return place
        }
    }

    /// The value for who reads it once.
    func value(_ key: Key) -> Value? {
        state.withLock { $0.machine.visible[key] }
    }

    var values: [Key: Value] {
        state.withLock { $0.machine.visible }
    }

    /// What the group itself holds, without what administrators laid over and under it.
    var ownValues: [Key: Value] {
        state.withLock { $0.machine.ownValues }
    }

    var forcedValues: [Key: Value] {
        state.withLock { $0.machine.forcedValues }
    }

    func isOwn(_ key: Key) -> Bool {
        state.withLock { $0.machine.isOwn(key) }
    }

    func isForced(_ key: Key) -> Bool {
        state.withLock { $0.machine.isForced(key) }
    }

    var position: Position? {
        state.withLock { $0.machine.position }
    }

    var hasUnconfirmedWrites: Bool {
        state.withLock { $0.machine.hasUnconfirmedWrites }
    }

    /// Writes that the daemon has not answered.
    var hasWritesUnderWay: Bool {
        state.withLock { !$0.machine.isAnswered(upTo: $0.machine.newestNumber) }
    }

    /// Why the group cannot be used, if it cannot.
    var failure: AppGroupError? {
        hasFailed.load(ordering: .acquiring) ? state.withLock { $0.failure } : nil
    }

    // MARK: Steps

    /// Works on the machine; what readers see change is told to the observers afterwards.
    func update<Result: Sendable>(
        _ body: (inout ReplicaMachine) throws(GroupError) -> (Result, ReplicaMachine.Step)
    ) throws(GroupError) -> Result {
        defer { tell() }
        return try enqueue(body)
    }

    /// The same where nothing is thrown and nothing comes back.
    func step(_ body: (inout ReplicaMachine) -> ReplicaMachine.Step?) {
        enqueueStep(body)
        tell()
    }

    /// `update`, but the observers hear of it with the next `tell` only: for a caller who holds a lock.
    func enqueue<Result: Sendable>(
        _ body: (inout ReplicaMachine) throws(GroupError) -> (Result, ReplicaMachine.Step)
    ) throws(GroupError) -> Result {
        let outcome = inOrder { machine -> (Swift.Result<Result, GroupError>, ReplicaMachine.Step?) in
            do throws(GroupError) {
                let (result, step) = try body(&machine)
                return (.success(result), step)
            } catch {
                return (.failure(error), nil)
            }
        }
        return try outcome.get()
    }

    func enqueueStep(_ body: (inout ReplicaMachine) -> ReplicaMachine.Step?) {
        inOrder { ((), body(&$0)) }
    }

    private func inOrder<Result: Sendable>(
        _ body: (inout ReplicaMachine) -> (Result, ReplicaMachine.Step?)
    ) -> Result {
        ChangeOrder.withLock {
            let (result, step, listeners) = state.withLock { state in
                let (result, step) = body(&state.machine)
                return (result, step, step.map { state.take($0) } ?? [])
            }
            if let step {
                for listener in listeners { listener.hear(step, of: .group(self)) }
            }
            return result
        }
    }

    /// Looks at the machine, or changes what no reader sees.
    func inspect<Result: Sendable>(_ body: (inout ReplicaMachine) -> Result) -> Result {
        state.withLock { body(&$0.machine) }
    }

    /// Has the search lists tell of what they heard.
    func tell() {
        for listener in state.withLock({ $0.listeners.all }) { listener.tell() }
    }

    /// Adds who hears of all steps from now on, and of none before.
    func addListener(_ listener: any LayerListener) {
        state.withLock { $0.listeners.add(listener) }
    }

    /// For tests of leaks.
    var listenerCount: Int { state.withLock { $0.listeners.all.count } }

    func removeListener(_ listener: any LayerListener) {
        let removed = state.withLock { $0.listeners.remove(listener) }
        _ = removed
    }

    // MARK: Readiness

    /// The first state is there, from the daemon or from the file, or there is none to be had.
    func markReady() {
        let gates = state.withLock { state -> [Gate] in
            readiness.store(true, ordering: .releasing)
            defer { state.gates = [] }
            return state.gates
        }
        for gate in gates { gate.open() }
    }

    var isReady: Bool { readiness.load(ordering: .acquiring) }

    /// Waits for the first state; false when it did not come in time.
    @discardableResult
    func waitUntilReady(_ deadline: Deadline) -> Bool {
        if isReady { return true }
        let gate = state.withLock { state -> Gate? in
            guard !isReady else { return nil }
            let gate = Gate()
            state.gates.append(gate)
            return gate
        }
        return gate?.wait(until: deadline) ?? true
    }

    func fail(_ error: AppGroupError?) {
        state.withLock { state in
            state.failure = error
            hasFailed.store(error != nil, ordering: .releasing)
        }
    }
}
