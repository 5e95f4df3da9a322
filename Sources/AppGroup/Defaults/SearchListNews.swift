import GroupModel
import PropertyList

/// One effective change: what a reader of the search list sees change.
struct EffectiveChange: Sendable, Equatable {
    var key: Key
    var old: Value?
    var new: Value?
}

/// What happened in the layers of one search list, in the order in which all its observers hear of it. Pure; owned by the
/// list, and changed under its lock.
struct SearchListNews {
    typealias Observer = @Sendable (ReplicaMachine.Step, [EffectiveChange]) -> Void

    /// One step of a layer.
    struct Item {
        /// Its changes are those of what the group itself holds: none where another layer has changed.
        var step: ReplicaMachine.Step
        /// What readers see change.
        var changes: [EffectiveChange]
    }

    /// What is not told yet; the first is at `head`.
    private var items: [Item] = []
    private var head = 0
    /// The number of the newest step; 0 before the first.
    private var newest: UInt64 = 0
    private var isTelling = false
    /// Each hears of the steps after the one that was the newest when it came.
    private var observers: [(id: UInt64, after: UInt64, call: Observer)] = []
    private var nextID: UInt64 = 1

    /// So many steps wait to be told before they are put together.
    static let limit = 256

    var observerCount: Int { observers.count }

    mutating func addObserver(_ call: @escaping Observer) -> UInt64 {
        nextID += 1
        observers.append((nextID, newest, call))
        return nextID
    }

    mutating func removeObserver(_ id: UInt64) -> Observer? {
        observers.firstIndex { $0.id == id }.map { observers.remove(at: $0).call }
    }

    /// Adds what readers see from now on.
    mutating func append(_ item: Item) {
        var item = item
        newest += 1
        item.step.number = newest
        // Where they come faster than observers take them, the last one takes in what comes. Not one that somebody who
        // came after it begins with.
        if items.count - head >= Self.limit, let last = items.last,
            observers.allSatisfy({ $0.after < last.step.number })
        {
            items[items.count - 1] = last.followed(by: item)
        } else {
            items.append(item)
        }
    }

    /// Nil where there is nothing to tell, or somebody is at it.
    mutating func beginTelling() -> (Item, [Observer])? {
        guard !isTelling else { return nil }
        isTelling = true
        return nextToTell()
    }

    mutating func nextToTell() -> (Item, [Observer])? {
        guard head < items.count else {
            isTelling = false
            return nil
        }
        let item = items[head]
        head += 1
        if head == items.count {
            items.removeAll(keepingCapacity: head <= Self.limit)
            head = 0
        } else if head > Self.limit {
            items.removeFirst(head)
            head = 0
        }
        return (item, observers.compactMap { $0.after < item.step.number ? $0.call : nil })
    }
}

extension SearchListNews.Item {
    /// This and the next one as one: what has come back is no change.
    func followed(by later: Self) -> Self {
        var both = step.followed(by: later.step)
        both.revision = later.step.revision ?? step.revision
        var places: [Key: Int] = [:]
        var changes: [EffectiveChange] = []
        for change in self.changes + later.changes {
            if let place = places[change.key] {
                changes[place].new = change.new
            } else {
                places[change.key] = changes.count
                changes.append(change)
            }
        }
        return Self(step: both, changes: changes.filter { $0.old != $0.new }.sorted { $0.key < $1.key })
    }
}
