import GroupModel
import PropertyList

/// The steps of one layer of the search list, in the order in which all its observers hear of them. Pure; owned by whoever
/// holds the layer's values, and changed under the same lock as they.
struct StepQueue {
    typealias Observer = @Sendable (ReplicaMachine.Step) -> Void

    /// Steps that not all observers have heard of; the first is at `head`.
    private var steps: [ReplicaMachine.Step] = []
    private var head = 0
    private var isTelling = false
    private var observers: [(id: UInt64, after: UInt64, call: Observer)] = []
    private var nextID: UInt64 = 1
    /// The number of the newest step; 0 before the first.
    private(set) var newest: UInt64 = 0
    /// Somebody goes on from the values after this step: it takes in no later one.
    private var sealed: UInt64 = 0

    /// So many steps wait to be told before they are put together.
    static let limit = 256

    var observerCount: Int { observers.count }

    /// Takes a step that readers see from now on.
    mutating func add(_ step: ReplicaMachine.Step) {
        newest += 1
        guard !observers.isEmpty else { return }
        var step = step
        step.number = newest
        // Where they come faster than observers take them, the last one takes in what comes.
        if steps.count - head >= Self.limit, let last = steps.last, last.number > sealed {
            steps[steps.count - 1] = last.followed(by: step)
        } else {
            steps.append(step)
        }
    }

    /// The newest step: what is read now is how things are after it, and later steps go on from there.
    mutating func seal() -> UInt64 {
        sealed = newest
        return newest
    }

    /// What a key held before the first step after this one that changes it, as far as not all have heard of it.
    func old(_ key: Key, after number: UInt64) -> Value?? {
        for step in steps[head...] where step.number > number {
            if let change = step.changes.first(where: { $0.key == key }) { return .some(change.old) }
        }
        return nil
    }

    /// The same for all keys.
    func olds(after number: UInt64) -> [Key: Value?] {
        var olds: [Key: Value?] = [:]
        for step in steps[head...].reversed() where step.number > number {
            for change in step.changes { olds.updateValue(change.old, forKey: change.key) }
        }
        return olds
    }

    // MARK: Observers

    /// They hear of the steps after the newest one.
    mutating func addObserver(_ call: @escaping Observer) -> (id: UInt64, after: UInt64) {
        nextID += 1
        observers.append((nextID, seal(), call))
        return (nextID, newest)
    }

    mutating func removeObserver(_ id: UInt64) -> Observer? {
        observers.firstIndex { $0.id == id }.map { observers.remove(at: $0).call }
    }

    // MARK: Telling

    /// Nil where there is nothing to tell, or somebody is at it.
    mutating func beginTelling() -> (ReplicaMachine.Step, [Observer])? {
        guard !isTelling, head < steps.count else { return nil }
        isTelling = true
        return (steps[head], observers(of: steps[head]))
    }

    /// The first step is told, and stood here until now; the next one, or the end.
    mutating func nextToTell() -> (ReplicaMachine.Step, [Observer])? {
        head += 1
        if head == steps.count {
            steps.removeAll(keepingCapacity: head <= Self.limit)
            (head, isTelling) = (0, false)
            return nil
        }
        if head > Self.limit {
            steps.removeFirst(head)
            head = 0
        }
        return (steps[head], observers(of: steps[head]))
    }

    private func observers(of step: ReplicaMachine.Step) -> [Observer] {
        observers.compactMap { $0.after < step.number ? $0.call : nil }
    }
}
