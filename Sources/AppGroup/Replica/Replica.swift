import GroupModel
import GroupProtocol
import PropertyList
import Synchronization

/// One group in this process: its state for readers, and the order in which observers hear of changes.
///
/// Safe for any thread. Observers are called outside all locks, one step after the other, on the thread that brought the
/// step about (or on one that is busy telling earlier steps): they may read, write, add and remove observers.
final class Replica: Sendable {
    typealias Observer = @Sendable (ReplicaMachine.Step) -> Void

    private struct State: ~Copyable {
        var machine: ReplicaMachine
        /// The keys that somebody reads. They hold what the machine shows.
        var places: [Key: Place] = [:]
        /// Steps that are not told yet; the first is at `head`.
        var steps: [ReplicaMachine.Step] = []
        var head = 0
        /// The number of the newest step; 0 before the first.
        var newestStep: UInt64 = 0
        var isTelling = false
        /// Each hears of the steps after the one that was the newest when it came.
        var observers: [(id: UInt64, after: UInt64, call: Observer)] = []
        var nextObserver: UInt64 = 1
        /// Opened when the group's state is known, or known to be out of reach.
        var gates: [Gate] = []
        var failure: AppGroupError?

        /// Takes a step: from here on every reader sees it. It is told afterwards.
        mutating func take(_ step: ReplicaMachine.Step?) {
            guard var step, !step.changes.isEmpty else { return }
            for change in step.changes { places[change.key]?.store(change.new) }
            newestStep += 1
            guard !observers.isEmpty else { return }
            step.number = newestStep
            // Where they come faster than observers take them, the last one takes in what comes. Not one that somebody who
            // came after it begins with.
            if steps.count - head >= Replica.stepLimit, let last = steps.last,
                observers.allSatisfy({ $0.after < last.number })
            {
                steps[steps.count - 1] = last.followed(by: step)
            } else {
                steps.append(step)
            }
        }

        mutating func beginTelling() -> (ReplicaMachine.Step, [Observer])? {
            guard !isTelling else { return nil }
            isTelling = true
            return nextToTell()
        }

        mutating func nextToTell() -> (ReplicaMachine.Step, [Observer])? {
            guard head < steps.count else {
                isTelling = false
                return nil
            }
            let step = steps[head]
            head += 1
            if head == steps.count {
                steps.removeAll(keepingCapacity: head <= Replica.stepLimit)
                head = 0
            } else if head > Replica.stepLimit {
                steps.removeFirst(head)
                head = 0
            }
            return (step, observers.compactMap { $0.after < step.number ? $0.call : nil })
        }
    }

    /// So many steps wait to be told before they are put together.
    private static let stepLimit = 256

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
        _ body: (inout ReplicaMachine) throws(GroupError) -> (Result, ReplicaMachine.Step?)
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
        _ body: (inout ReplicaMachine) throws(GroupError) -> (Result, ReplicaMachine.Step?)
    ) throws(GroupError) -> Result {
        let outcome = state.withLock { state -> Swift.Result<Result, GroupError> in
            do throws(GroupError) {
                let (result, step) = try body(&state.machine)
                state.take(step)
                return .success(result)
            } catch {
                return .failure(error)
            }
        }
        return try outcome.get()
    }

    func enqueueStep(_ body: (inout ReplicaMachine) -> ReplicaMachine.Step?) {
        state.withLock { $0.take(body(&$0.machine)) }
    }

    /// Looks at the machine, or changes what no reader sees.
    func inspect<Result: Sendable>(_ body: (inout ReplicaMachine) -> Result) -> Result {
        state.withLock { body(&$0.machine) }
    }

    /// One thread tells at a time, so that all observers hear everything in one order.
    func tell() {
        var next = state.withLock { $0.beginTelling() }
        while let (step, observers) = next {
            for observer in observers { observer(step) }
            next = state.withLock { $0.nextToTell() }
        }
    }

    /// Adds who hears of all steps from now on, and of none before.
    func addObserver(_ call: @escaping Observer) -> UInt64 {
        state.withLock { state in
            let id = state.nextObserver
            state.nextObserver += 1
            state.observers.append((id, state.newestStep, call))
            return id
        }
    }

    /// The values as they are after a step, and which one: what observers hear of later steps goes on from there.
    func snapshot() -> (values: [Key: Value], step: UInt64) {
        state.withLock { ($0.machine.visible, $0.newestStep) }
    }

    /// For tests of leaks.
    var observerCount: Int { state.withLock { $0.observers.count } }

    func removeObserver(_ id: UInt64) {
        state.withLock { $0.observers.removeAll { $0.id == id } }
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
