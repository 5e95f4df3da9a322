import GroupModel
import PropertyList
import Synchronization

/// Where a setting is looked for: what an administrator forces, the arguments of the command line, the group, an
/// administrator's default, the suites added to it, the registered defaults; the first hit counts. It turns the steps of its groups into changes of what readers see.
///
/// Safe for any thread. Owned by a `GroupDefaults`, which closes it at its end: until then it hears of changes, and its cells
/// hold it. There is no weak reference to it, since that would slow down every read. Its lock may be held when a replica's is
/// taken, never the other way round.
@safe
final class SearchList: Sendable {
    private struct State: ~Copyable {
        /// The keys that somebody reads.
        var cells: [Key: Cell] = [:]
        /// The last one is in use.
        var tables: [CellTable]
        var suites: [Replica] = []
        var news = SearchListNews()
        var errorObservers: [(id: UInt64, call: @Sendable (AppGroupError) -> Void)] = []
        /// Keys whose values could not be read as the type that was asked for, and were reported.
        var reported: Set<Key> = []
        var nextID: UInt64 = 1
        /// Not until somebody has to hear of changes.
        var isListening = false
    }

    private let own: Replica
    private let domains: ProcessDomains
    private let state: Mutex<State>
    /// The table in use, which the state holds.
    private let table: Atomic<Unmanaged<CellTable>>
    private let hasSuites = Atomic(false)
    private let ownKeys = WholeList()
    private let allKeys = WholeList()
    private let fork = ForkGuard.mark

    init(own: Replica, domains: ProcessDomains = .shared) {
        self.own = own
        self.domains = domains
        let first = CellTable(count: 64)
        state = Mutex(State(tables: [first]))
        unsafe table = Atomic(.passUnretained(first))
    }

    /// Nobody reads or observes any more.
    func close() {
        let (isListening, suites, cells, news) = state.withLock { state in
            defer {
                (state.isListening, state.suites, state.cells, state.news) = (false, [], [:], SearchListNews())
                for table in state.tables { table.removeAll() }
            }
            return (state.isListening, state.suites, state.cells, state.news)
        }
        _ = (cells, news)
        if isListening {
            own.removeListener(self)
            domains.removeListener(self)
        }
        for replica in suites { replica.removeListener(self) }
    }

    // MARK: Reading

    /// The effective value, noted by whoever tracks what it reads. The key comes as text, since to make one of it costs.
    func value(_ name: String) -> Value? {
        let hash = CellTable.hash(name)
        if let cell = unsafe table.load(ordering: .acquiring)._withUnsafeGuaranteedRef({
            unsafe $0.find(name, hash: hash)
        }) {
            return unsafe cell._withUnsafeGuaranteedRef { $0.value }
        }
        return cell(Key(name)).value
    }

    /// Whether the group's state is there, and this process may read it.
    var isReady: Bool { own.isReady && !fork.isChild }

    /// The key's cell, through which it is read; made at the first asking.
    func cell(_ key: Key) -> Cell {
        state.withLock { state in
            if let cell = state.cells[key] { return cell }
            listen(&state)
            let cell = Cell(
                key, argument: domains.argument(key), place: own.place(key), list: self,
                isLayered: !state.suites.isEmpty)
            state.cells[key] = cell
            add(cell, &state)
            return cell
        }
    }

    private func add(_ cell: Cell, _ state: inout State) {
        if let table = state.tables.last, state.cells.count * 2 <= table.count { return table.add(cell) }
        let larger = CellTable(count: state.tables.reduce(64) { max($0, $1.count) } * 4)
        for cell in state.cells.values { larger.add(cell) }
        state.tables.append(larger)
        unsafe table.store(.passUnretained(larger), ordering: .releasing)
    }

    /// Whether the group itself holds the key, noted like the effective value.
    func isOwn(_ key: Key) -> Bool {
        !ForkGuard.isChild && cell(key).isOwn
    }

    /// What the group itself holds, noted as a whole.
    var ownValues: [Key: Value] {
        state.withLock { listen(&$0) }
        ownKeys.noteAccess()
        return own.ownValues
    }

    /// Whether an administrator has set the key, noted for itself.
    func isForced(_ key: Key) -> Bool {
        !ForkGuard.isChild && cell(key).isForced
    }

    /// The same without being noted.
    func isForcedNow(_ key: Key) -> Bool { own.isForced(key) }
    func isOwnNow(_ key: Key) -> Bool { own.isOwn(key) }

    /// All keys with their effective values, noted as a whole.
    var allValues: [Key: Value] {
        state.withLock { listen(&$0) }
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
        hasSuites.load(ordering: .acquiring) ? state.withLock { $0.suites } : []
    }

    private var merged: [Key: Value] {
        var result = domains.allRegistered
        for suite in suites.reversed() { result.merge(suite.values) { $1 } }
        result.merge(own.values) { $1 }
        result.merge(domains.allArguments) { $1 }
        result.merge(own.forcedValues) { $1 }
        return result
    }

    // MARK: Suites

    /// Adds a group below those that are there; what becomes visible of it is told.
    func addSuite(_ replica: Replica) {
        guard replica !== own else { return }
        change { suites in
            guard !suites.contains(where: { $0 === replica }) else { return }
            suites.append(replica)
            replica.addListener(self)
        }
    }

    /// Takes a group out; what was visible of it is told.
    func removeSuite(_ replica: Replica) {
        change { suites in
            guard let index = suites.firstIndex(where: { $0 === replica }) else { return }
            suites.remove(at: index)
            replica.removeListener(self)
        }
    }

    private func change(_ body: (inout [Replica]) -> Void) {
        ChangeOrder.withLock {
            let before = merged
            state.withLock { state in
                body(&state.suites)
                hasSuites.store(!state.suites.isEmpty, ordering: .releasing)
                for cell in state.cells.values { cell.setLayered(!state.suites.isEmpty) }
            }
            let after = merged
            let keys = Set(before.keys).union(after.keys).sorted()
            note(
                ReplicaMachine.Step(isOwn: true),
                keys.map { EffectiveChange(key: $0, old: before[$0], new: after[$0]) })
        }
        tell()
    }
}

// MARK: - Changes

extension SearchList {
    /// Adds who hears from now on of every step that changes something for a reader, in order, outside all locks.
    func addObserver(_ call: @escaping SearchListNews.Observer) -> UInt64 {
        addObserver(valuesOf: .none, call).id
    }

    /// The same, with the values that the changes go on from.
    func addObserver(
        valuesOf selection: KeySelection, _ call: @escaping SearchListNews.Observer
    ) -> (id: UInt64, values: [Key: Value]) {
        let (id, values) = ChangeOrder.withLock {
            let id = state.withLock { state in
                listen(&state)
                return state.news.addObserver(call)
            }
            if case .none = selection { return (id, [Key: Value]()) }
            return (id, merged)
        }
        return (id, values.filter { selection.includes($0.key) })
    }

    func removeObserver(_ id: UInt64) {
        // The closure may hold the last reference to something: it goes when the lock is free again.
        let removed = state.withLock { $0.news.removeObserver(id) }
        _ = removed
    }

    /// For tests of leaks.
    var observerCount: Int { state.withLock { $0.news.observerCount } }

    private func listen(_ state: inout State) {
        guard !state.isListening else { return }
        state.isListening = true
        own.addListener(self)
        domains.addListener(self)
    }

    /// What is equal has not changed.
    private func note(_ step: ReplicaMachine.Step, _ candidates: [EffectiveChange]) {
        let changes = candidates.filter { $0.old != $0.new }
        guard !changes.isEmpty || !step.changes.isEmpty || !step.relayered.isEmpty else { return }
        state.withLock { state in
            // Nobody has read anything yet.
            guard state.isListening else { return }
            state.news.append(.init(step: step, changes: changes))
        }
    }

    private func ownChanges(_ step: ReplicaMachine.Step) -> [EffectiveChange] {
        let changes = step.changes.map { change in
            if let argument = domains.argument(change.key) { return self.change(change, under: argument, step) }
            let below = change.old == nil || change.new == nil ? below(change.key) : nil
            return EffectiveChange(key: change.key, old: change.old ?? below, new: change.new ?? below)
        }
        // An argument that an administrator's value goes before from now on, or no more, the value being the same.
        let others = step.relayered.keys.filter { key in !step.changes.contains { $0.key == key } }.sorted()
        return changes
            + others.compactMap { key in
                guard let argument = domains.argument(key) else { return nil }
                let value = own.value(key)
                return change(Change(key: key, old: value, new: value), under: argument, step)
            }
    }

    /// What an argument hides, no reader sees change, but for what is forced.
    private func change(_ change: Change, under argument: Value, _ step: ReplicaMachine.Step) -> EffectiveChange {
        let isForced = own.isForced(change.key)
        let wasForced = step.relayered[change.key].map { $0 == .managed } ?? isForced
        return EffectiveChange(
            key: change.key, old: wasForced ? change.old : argument, new: isForced ? change.new : argument)
    }

    private func suiteChanges(_ step: ReplicaMachine.Step, of suite: Replica) -> [EffectiveChange] {
        let suites = suites
        let higher = [own] + suites.prefix { $0 !== suite }
        let lower = suites.drop { $0 !== suite }.dropFirst()
        return step.changes.compactMap { change -> EffectiveChange? in
            if domains.argument(change.key) != nil { return nil }
            if higher.contains(where: { $0.value(change.key) != nil }) { return nil }
            let below = lower.lazy.compactMap { $0.value(change.key) }.first ?? domains.registered(change.key)
            return EffectiveChange(key: change.key, old: change.old ?? below, new: change.new ?? below)
        }
    }

    private func registeredChanges(_ step: ReplicaMachine.Step) -> [EffectiveChange] {
        step.changes.compactMap { change in
            if domains.argument(change.key) != nil { return nil }
            if own.value(change.key) != nil || suites.contains(where: { $0.value(change.key) != nil }) { return nil }
            return EffectiveChange(key: change.key, old: change.old, new: change.new)
        }
    }
}

extension SearchList: LayerListener {
    func hear(_ step: ReplicaMachine.Step, of layer: Layer) {
        var step = step
        let changes: [EffectiveChange]
        switch layer {
        case .group(let replica) where replica === own: changes = ownChanges(step)
        case .group(let suite):
            changes = suiteChanges(step, of: suite)
            // Revisions are those of another group.
            (step.changes, step.relayered, step.revision) = ([], [:], nil)
        case .registered:
            changes = registeredChanges(step)
            step.changes = []
        }
        note(step, changes)
    }

    /// One thread tells at a time, so that all observers hear everything in one order.
    func tell() {
        var next = state.withLock { $0.news.beginTelling() }
        while let (item, observers) = next {
            announce(item)
            if !item.changes.isEmpty {
                for observer in observers { observer(item.step, item.changes) }
            }
            next = state.withLock { $0.news.nextToTell() }
        }
    }

    private func announce(_ item: SearchListNews.Item) {
        // Whether the group itself holds a key is told whether or not a reader sees its value change.
        let own = item.step.changes.filter { ($0.old == nil) != ($0.new == nil) }.map(\.key)
        let relayered = item.step.relayered.keys
        let (cells, ownCells, relayeredCells) = state.withLock { state in
            (
                item.changes.compactMap { state.cells[$0.key] },
                Set(own).union(relayered).compactMap { state.cells[$0] }, relayered.compactMap { state.cells[$0] }
            )
        }
        for cell in cells { cell.announce() }
        if !item.changes.isEmpty { allKeys.announce() }
        for cell in ownCells { cell.announceIsOwn() }
        for cell in relayeredCells { cell.announceIsForced() }
        if !item.step.changes.isEmpty || !relayered.isEmpty { ownKeys.announce() }
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
