import PropertyList

/// What one observer has not taken yet: a bounded memory of news. Pure; owned by a `DeliveryMachine`.
protocol PendingNews: Sendable {
    associatedtype News: Sendable
    associatedtype Element: Sendable

    mutating func add(_ news: News)
    /// The next thing to deliver, if there is one.
    mutating func take() -> Element?
}

/// Changes as they go to observers: those of one commit, with its origin.
struct NewsOfChanges: Sendable {
    var changes: [GroupDefaults.Change]
    var origin: GroupDefaults.Origin?
    var revision: Int?
    var coalesced = 1
}

/// One change a key at most: for a slow consumer the newest wins. It keeps the oldest `old`; a value that has come back
/// vanishes. A key that changes again goes to the end, so that revisions grow from one element to the next.
struct PendingChanges: PendingNews {
    private var pending: [PropertyList.Key: (change: GroupDefaults.Change, turn: UInt64)] = [:]
    /// The keys in turn; entries that are not their key's latest are passed over.
    private var order: [(key: PropertyList.Key, turn: UInt64)] = []
    private var head = 0
    private var nextTurn: UInt64 = 0

    init(initial: [GroupDefaults.Change] = []) {
        for change in initial { enqueue(change, PropertyList.Key(change.key)) }
    }

    mutating func add(_ news: NewsOfChanges) {
        for change in news.changes {
            let key = PropertyList.Key(change.key)
            guard let earlier = pending.removeValue(forKey: key)?.change else {
                enqueue(change, key)
                continue
            }
            if let both = earlier.followed(by: change) { enqueue(both, key) }
        }
        compact()
    }

    mutating func take() -> GroupDefaults.Change? {
        while head < order.count {
            let (key, turn) = order[head]
            head += 1
            guard let entry = pending[key], entry.turn == turn else { continue }
            pending[key] = nil
            return entry.change
        }
        (order, head) = ([], 0)
        return nil
    }

    private mutating func enqueue(_ change: GroupDefaults.Change, _ key: PropertyList.Key) {
        pending[key] = (change, nextTurn)
        order.append((key, nextTurn))
        nextTurn += 1
    }

    /// Keeps the order within twice the number of pending changes, and some.
    private mutating func compact() {
        guard order.count - head > 2 * pending.count + 16 || head > order.count / 2 else { return }
        order = order[head...].filter { pending[$0.key]?.turn == $0.turn }
        head = 0
    }
}

/// Commits, each with all its changes; beyond a number of them the newest takes in those that come.
struct PendingCommits: PendingNews {
    /// So many wait at most for a slow consumer.
    static let limit = 64

    private var pending: [NewsOfChanges] = []
    /// Behind them the newest, while it takes others in.
    private var gathered: GatheredNews?

    mutating func add(_ news: NewsOfChanges) {
        guard pending.count + (gathered == nil ? 0 : 1) >= Self.limit else {
            endGathering()
            pending.append(news)
            return
        }
        if gathered == nil, let last = pending.popLast() { gathered = GatheredNews(last) }
        gathered?.add(news)
        if gathered?.isEmpty == true { gathered = nil }
    }

    mutating func take() -> GroupDefaults.Commit? {
        if pending.isEmpty { endGathering() }
        guard !pending.isEmpty else { return nil }
        let next = pending.removeFirst()
        return GroupDefaults.Commit(
            changes: next.changes, origin: next.origin, revision: next.revision, coalesced: next.coalesced)
    }

    private mutating func endGathering() {
        if let gathered = gathered.take() { pending.append(gathered.news) }
    }
}

/// News that take in later ones, so that each costs what it has itself, however much is gathered already.
private struct GatheredNews {
    private var byKey: [PropertyList.Key: GroupDefaults.Change] = [:]
    /// Of the newest.
    private var origin: GroupDefaults.Origin?
    private var revision: Int?
    private var coalesced = 0

    init(_ first: NewsOfChanges) { add(first) }

    var isEmpty: Bool { byKey.isEmpty }

    /// What has come back to its old value vanishes.
    mutating func add(_ later: NewsOfChanges) {
        for change in later.changes {
            let key = PropertyList.Key(change.key)
            byKey[key] = byKey[key].map { $0.followed(by: change) } ?? change
        }
        (origin, revision) = (later.origin, later.revision)
        coalesced += later.coalesced
    }

    var news: NewsOfChanges {
        NewsOfChanges(
            changes: byKey.sorted { $0.key < $1.key }.map(\.value), origin: origin, revision: revision,
            coalesced: coalesced)
    }
}

/// The newest only.
struct PendingLatest<Element: Sendable & Equatable>: PendingNews {
    private var pending: Element?
    private var last: Element?

    init(initial: Element?) {
        pending = initial
    }

    mutating func add(_ news: Element) {
        pending = news == last ? nil : news
    }

    mutating func take() -> Element? {
        defer { pending = nil }
        if let pending { last = pending }
        return pending
    }
}

/// One after the other; beyond a number of them the oldest are forgotten.
struct PendingQueue<Element: Sendable>: PendingNews {
    /// So many wait at most for a slow consumer.
    static var limit: Int { 256 }

    private var pending: [Element] = []

    mutating func add(_ news: Element) {
        if pending.count >= Self.limit { pending.removeFirst() }
        pending.append(news)
    }

    mutating func take() -> Element? {
        pending.isEmpty ? nil : pending.removeFirst()
    }
}
