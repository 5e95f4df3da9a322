import GroupModel
import PropertyList
import Synchronization

/// One effective change: what a reader of the search list sees change.
struct EffectiveChange: Sendable, Equatable {
    var key: Key
    var old: Value?
    var new: Value?
}

/// Where a setting is looked for: the arguments of the command line, the group, the suites added to it, the registered
/// defaults; the first hit counts. It turns the steps of its groups into changes of what readers see.
///
/// Safe for any thread. Owned by a `GroupDefaults`, which closes it at its end: until then it hears of changes, and its cells
/// hold it. There is no weak reference to it, since that would slow down every read.
///
/// Locks are taken in this order: that of the queue, that of the state, a replica's or that of the process's domains.
final class SearchList: Sendable {
    typealias Observer = @Sendable (ReplicaMachine.Step, [EffectiveChange]) -> Void

    private struct State: ~Copyable {
        /// The keys that somebody reads.
        var cells: [Key: Cell] = [:]
        /// Those that were read last, by a hash that costs next to nothing.
        var recent = [Cell?](repeating: nil, count: SearchList.recentCount)
        var suites: [(replica: Replica, number: UInt64, observer: UInt64)] = []
        var errorObservers: [(id: UInt64, call: @Sendable (AppGroupError) -> Void)] = []
        /// Keys whose values could not be read as the type that was asked for, and were reported.
        var reported: Set<Key> = []
        var nextID: UInt64 = 1
    }

    let own: Replica
    let domains: ProcessDomains
    private let state = Mutex(State())
    /// What observers have not heard of yet.
    let queue = Mutex(SearchListQueue())
    private let isListening = Atomic(false)
    private let hasSuites = Atomic(false)
    private let ownKeys = WholeList()
    private let allKeys = WholeList()
    private let fork = ForkGuard.mark

    init(own: Replica, domains: ProcessDomains = .shared) {
        self.own = own
        self.domains = domains
    }

    /// Nobody reads or observes any more.
    func close() {
        let ended = queue.withLock { queue in
            isListening.store(false, ordering: .releasing)
            return queue.close()
        }
        let (suites, cells) = state.withLock { state in
            defer {
                (state.suites, state.cells) = ([], [:])
                state.recent = [Cell?](repeating: nil, count: Self.recentCount)
            }
            return (state.suites, state.cells)
        }
        _ = cells
        if let source = ended.own { own.removeObserver(source) }
        if let source = ended.registrations { domains.removeObserver(source) }
        for suite in suites { suite.replica.removeObserver(suite.observer) }
        for (replica, observer) in ended.suites { replica.removeObserver(observer) }
    }

    /// From now on changes are heard of: before anything is read that somebody wants to know changes of.
    private func listen() {
        if isListening.load(ordering: .acquiring) { return }
        queue.withLock { listen(&$0) }
    }

    private func listen(_ queue: inout SearchListQueue) {
        guard queue.view == nil else { return }
        let (ownID, step) = own.addObserver { [self] step in heard(.own, step) }
        let (registrationsID, inbox, registered) = domains.addObserver { [self] in tell() }
        queue.open(
            ListView(own: step, registered: registered), own: ownID, registrations: registrationsID, inbox: inbox)
        isListening.store(true, ordering: .releasing)
    }

    // MARK: Reading

    /// The effective value, noted by whoever tracks what it reads.
    func value(_ key: Key) -> Value? {
        let hash = Self.hash(of: key)
        let (scalar, found) = state.withLock { state -> (Value?, Cell?) in
            guard let cell = state.recent[hash & (state.recent.count - 1)], cell.key == key else { return (nil, nil) }
            let scalar = cell.scalar
            return (scalar, scalar == nil ? cell : nil)
        }
        return scalar ?? (found ?? cell(key)).value
    }

    /// Whether the group's state is there, and this process may read it.
    var isReady: Bool { own.isReady && !fork.isChild }

    /// The key's cell, through which it is read; made at the first asking.
    func cell(_ key: Key) -> Cell {
        listen()
        let hash = Self.hash(of: key)
        return state.withLock { state in
            if let cell = state.recent[hash & (state.recent.count - 1)], cell.key == key { return cell }
            let cell = knownOrNewCell(key, &state)
            state.recent[hash & (state.recent.count - 1)] = cell
            return cell
        }
    }

    /// Powers of two: where a program reads more keys, there are more places, up to a bound.
    private static let recentCount = 64
    private static let mostRecentCount = 1 << 13

    /// Cheap rather than good: keys differ in their ends, most often, and a collision costs a look-up and no more.
    private static func hash(of key: Key) -> Int {
        let bytes = key.string.utf8.span
        let count = bytes.count
        var hash = UInt(bitPattern: count)
        if count > 0 { hash = hash &* 31 &+ UInt(bytes[0]) }
        for index in max(count - 8, 0)..<count { hash = hash &* 31 &+ UInt(bytes[index]) }
        return Int(bitPattern: hash ^ hash >> 13)
    }

    /// Each of the known cells has a chance of its own place.
    private static func makeRoom(_ state: inout State) {
        guard state.cells.count * 2 > state.recent.count, state.recent.count < mostRecentCount else { return }
        let count = state.recent.count * 4
        state.recent = [Cell?](repeating: nil, count: count)
        for (key, cell) in state.cells { state.recent[hash(of: key) & (count - 1)] = cell }
    }

    private func knownOrNewCell(_ key: Key, _ state: inout State) -> Cell {
        if let cell = state.cells[key] { return cell }
        let cell = Cell(
            key, argument: domains.argument(key), place: own.place(key), list: self,
            isLayered: !state.suites.isEmpty)
        state.cells[key] = cell
        Self.makeRoom(&state)
        return cell
    }

    /// Whether the group itself holds the key, noted like the effective value.
    func isOwn(_ key: Key) -> Bool {
        !ForkGuard.isChild && cell(key).isOwn
    }

    /// What the group itself holds, noted as a whole.
    var ownValues: [Key: Value] {
        listen()
        ownKeys.noteAccess()
        return own.values
    }

    /// All keys with their effective values, noted as a whole.
    var allValues: [Key: Value] {
        listen()
        allKeys.noteAccess()
        return merged
    }

    /// What the list holds below the group's own value.
    func below(_ key: Key) -> Value? {
        for suite in suites {
            if let value = suite.value(key) { return value }
        }
        return domains.registered(key)
    }

    private var suites: [Replica] {
        hasSuites.load(ordering: .acquiring) ? state.withLock { $0.suites.map(\.replica) } : []
    }

    private var merged: [Key: Value] {
        merged(own.values, suites.map(\.values), domains.allRegistered)
    }

    private func merged(
        _ own: [Key: Value], _ suites: [[Key: Value]], _ registered: [Key: Value]
    ) -> [Key: Value] {
        var result = registered
        for suite in suites.reversed() { result.merge(suite) { $1 } }
        result.merge(own) { $1 }
        result.merge(domains.allArguments) { $1 }
        return result
    }

    // MARK: Suites

    /// Adds a group below those that are there; what becomes visible of it is told.
    func addSuite(_ replica: Replica) {
        guard replica !== own else { return }
        change { queue, state in
            guard !state.suites.contains(where: { $0.replica === replica }) else { return }
            let number = queue.structure + 1
            let (observer, step) = replica.addObserver { [self] step in heard(.suite(number), step) }
            state.suites.append((replica, number, observer))
            queue.append(.added(replica, after: step))
        }
    }

    /// Takes a group out; what was visible of it is told.
    func removeSuite(_ replica: Replica) {
        change { queue, state in
            guard let index = state.suites.firstIndex(where: { $0.replica === replica }) else { return }
            queue.append(.removed(replica, observer: state.suites.remove(at: index).observer))
        }
    }

    private func change(_ body: (inout SearchListQueue, inout State) -> Void) {
        queue.withLock { queue in
            listen(&queue)
            state.withLock { state in
                body(&queue, &state)
                hasSuites.store(!state.suites.isEmpty, ordering: .releasing)
                for cell in state.cells.values { cell.setLayered(!state.suites.isEmpty) }
            }
        }
        tell()
    }
}

// MARK: - Changes

extension SearchList {
    /// Adds who hears from now on of every step that changes something for a reader, in order, outside all locks.
    func addObserver(_ call: @escaping Observer) -> UInt64 {
        addObserver(valuesOf: .none, call).id
    }

    /// The same, with the values that the changes go on from. They are the newest, also where others have not heard of them.
    func addObserver(valuesOf selection: KeySelection, _ call: @escaping Observer) -> (id: UInt64, values: [Key: Value])
    {
        let (id, values) = queue.withLock { queue in
            listen(&queue)
            let (ownValues, step) = own.snapshot()
            let suites = state.withLock { $0.suites }.map { (suite: $0, snapshot: $0.replica.snapshot()) }
            let (registered, number) = domains.snapshot()
            let ends = suites.map { (replica: $0.suite.replica, number: $0.suite.number, after: $0.snapshot.step) }
            let view = ListView(own: step, suites: ends, registered: number, structure: queue.structure)
            let id = queue.addObserver(view, call)
            if case .none = selection { return (id, [Key: Value]()) }
            return (id, merged(ownValues, suites.map(\.snapshot.values), registered))
        }
        return (id, values.filter { selection.includes($0.key) })
    }

    func removeObserver(_ id: UInt64) {
        // The closure may hold the last reference to something: it goes when the lock is free again.
        let removed = queue.withLock { $0.removeObserver(id) }
        _ = removed
    }

    /// For tests of leaks.
    var observerCount: Int { queue.withLock { $0.observers.count } }

    private func heard(_ layer: SearchListQueue.Layer, _ step: ReplicaMachine.Step) {
        queue.withLock { $0.append(.step(layer, step)) }
        tell()
    }

    /// One thread tells at a time, so that all observers hear everything in one order, and each goes on from what it heard
    /// last.
    private func tell() {
        var next = queue.withLock { $0.beginTelling(self) }
        while let news = next {
            deliver(news)
            next = queue.withLock { $0.nextToTell(self) }
        }
    }

    private func deliver(_ news: SearchListQueue.News) {
        if !news.changes.isEmpty {
            let cells = state.withLock { state in news.changes.compactMap { state.cells[$0.key] } }
            for cell in cells { cell.announce() }
            allKeys.announce()
        }
        for (observer, changes) in news.calls { observer(news.step, changes) }
        if news.isOwn { announceOwn(news.step.changes) }
        if let (replica, observer) = news.removal { replica.removeObserver(observer) }
    }

    /// What the group itself holds has changed, whether a reader sees it or not.
    private func announceOwn(_ changes: [Change]) {
        guard !changes.isEmpty else { return }
        let come = changes.filter { ($0.old == nil) != ($0.new == nil) }
        let cells = come.isEmpty ? [] : state.withLock { state in come.compactMap { state.cells[$0.key] } }
        for cell in cells { cell.announceIsOwn() }
        ownKeys.announce()
    }
}

// MARK: - Errors of what nobody awaits

extension SearchList {
    func report(_ error: AppGroupError) {
        if ForkGuard.isChild { return }
        for observer in state.withLock({ $0.errorObservers.map(\.call) }) { observer(error) }
    }

    /// Reports a value that could not be read as the type that was asked for: once for its key, here and on the standard
    /// error, since it is read again and again.
    func reportOnce(_ error: AppGroupError) {
        guard state.withLock({ $0.reported.insert(Key(error.keys.first ?? "")).inserted }) else { return }
        StandardError.write("appgroup: \(error.description)")
        report(error)
    }

    func addErrorObserver(_ call: @escaping @Sendable (AppGroupError) -> Void) -> UInt64 {
        state.withLock { state in
            state.nextID += 1
            state.errorObservers.append((state.nextID, call))
            return state.nextID
        }
    }

    func removeErrorObserver(_ id: UInt64) {
        let removed = state.withLock { state in
            state.errorObservers.firstIndex { $0.id == id }.map { state.errorObservers.remove(at: $0) }
        }
        _ = removed
    }
}
