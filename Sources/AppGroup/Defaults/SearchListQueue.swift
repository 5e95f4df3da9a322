import GroupModel
import PropertyList

/// How far somebody has heard of the layers of a search list: the numbers of the last steps, and which suites there were.
struct ListView {
    var own: UInt64
    /// Each with the number of its coming, which names the layer.
    var suites: [(replica: Replica, number: UInt64, after: UInt64)] = []
    var registered: UInt64
    /// The number of the last suite's coming or going.
    var structure: UInt64 = 0

    func step(of layer: SearchListQueue.Layer) -> UInt64? {
        switch layer {
        case .own: own
        case .registered: registered
        case .suite(let number): suites.first { $0.number == number }?.after
        }
    }

    func isLevel(with other: ListView) -> Bool {
        own == other.own && registered == other.registered && structure == other.structure
            && suites.elementsEqual(other.suites) { $0.number == $1.number && $0.after == $1.after }
    }
}

/// What happens in the layers of one search list, in the order in which all its observers hear of it.
///
/// A layer may be ahead of what was told: what an observer hears is made of the layers as they were when the step before was
/// told, so that its old value is always the new one that it heard last. For that the steps that are not told yet are looked
/// through, here and where they come from, and no copy of the values is kept. Owned by the list, changed under the queue's
/// lock; the locks of the layers are taken meanwhile.
struct SearchListQueue: ~Copyable {
    enum Layer: Equatable {
        case own
        /// By the number of its coming: one that goes and comes again is another layer, which hears for itself.
        case suite(UInt64)
        case registered
    }

    enum Event {
        case step(Layer, ReplicaMachine.Step)
        /// It shows as it was after the step, and from then on.
        case added(Replica, after: UInt64)
        case removed(Replica, observer: UInt64)
    }

    struct Observer {
        var id: UInt64
        /// Where it began, as long as that is ahead of what the others have heard of.
        var view: ListView?
        var call: SearchList.Observer
    }

    /// What is to be told of one event, outside the lock.
    struct News {
        var step: ReplicaMachine.Step
        var isOwn = false
        /// What readers see change.
        var changes: [EffectiveChange] = []
        var calls: [(SearchList.Observer, [EffectiveChange])] = []
        var removal: (Replica, UInt64)?
    }

    private var events: [(number: UInt64, event: Event)] = []
    private var head = 0
    private var isTelling = false
    private var nextID: UInt64 = 1
    private var sources: (own: UInt64, registrations: UInt64, inbox: ProcessDomains.Inbox)?
    private(set) var observers: [Observer] = []
    /// What all have heard of who are not ahead; nil until somebody has to hear of changes.
    private(set) var view: ListView?
    /// The number of the newest suite's coming or going.
    private(set) var structure: UInt64 = 0

    mutating func open(_ view: ListView, own: UInt64, registrations: UInt64, inbox: ProcessDomains.Inbox) {
        self.view = view
        self.view?.structure = structure
        sources = (own, registrations, inbox)
    }

    /// Forgets what is not told, and gives what it listened by.
    mutating func close() -> (own: UInt64?, registrations: UInt64?, suites: [(Replica, UInt64)]) {
        let suites = events[head...].compactMap { entry -> (Replica, UInt64)? in
            if case .removed(let replica, let observer) = entry.event { (replica, observer) } else { nil }
        }
        defer { (events, head, view, sources) = ([], 0, nil, nil) }
        return (sources?.own, sources?.registrations, suites)
    }

    /// Adds who has heard of all that the view says, and of nothing after it.
    mutating func addObserver(_ view: ListView, _ call: @escaping SearchList.Observer) -> UInt64 {
        nextID += 1
        let isAhead = !(self.view?.isLevel(with: view) ?? true)
        observers.append(Observer(id: nextID, view: isAhead ? view : nil, call: call))
        return nextID
    }

    mutating func removeObserver(_ id: UInt64) -> Observer? {
        observers.firstIndex { $0.id == id }.map { observers.remove(at: $0) }
    }

    // MARK: Events

    mutating func append(_ event: Event) {
        guard view != nil else { return }
        switch event {
        case .added, .removed:
            structure += 1
            events.append((structure, event))
        case .step(let layer, let step): append(step, of: layer)
        }
    }

    /// Where they come faster than observers take them, the layer's last one takes in what comes.
    private mutating func append(_ step: ReplicaMachine.Step, of layer: Layer) {
        if events.count - head >= StepQueue.limit, let index = lastStep(of: layer),
            case .step(_, let last) = events[index].event
        {
            events[index] = (step.number, .step(layer, last.followed(by: step)))
        } else {
            events.append((step.number, .step(layer, step)))
        }
    }

    private func lastStep(of layer: Layer) -> Int? {
        for index in (head..<events.count).reversed() {
            // What comes later does not go before the coming and going of suites.
            guard case .step(let other, _) = events[index].event else { return nil }
            if other == layer { return isStart(events[index].number, of: layer) ? nil : index }
        }
        return nil
    }

    /// Whether somebody goes on from the values after that step.
    private func isStart(_ number: UInt64, of layer: Layer) -> Bool {
        observers.contains { $0.view?.step(of: layer) == number }
    }

    private mutating func takeRegistrations() {
        for step in sources?.inbox.takeAll() ?? [] { append(.step(.registered, step)) }
    }

    // MARK: Telling

    /// Nil where there is nothing to tell, or somebody is at it.
    mutating func beginTelling(_ list: SearchList) -> News? {
        takeRegistrations()
        guard !isTelling else { return nil }
        return nextToTell(list)
    }

    mutating func nextToTell(_ list: SearchList) -> News? {
        takeRegistrations()
        while view != nil, head < events.count {
            let (number, event) = events[head]
            head += 1
            if head > StepQueue.limit || head == events.count {
                events.removeFirst(head)
                head = 0
            }
            if let news = news(of: event, number, list) {
                isTelling = true
                return news
            }
        }
        isTelling = false
        return nil
    }

    /// Nil where nobody is concerned.
    private mutating func news(of event: Event, _ number: UInt64, _ list: SearchList) -> News? {
        guard var common = view else { return nil }
        var news = News(step: ReplicaMachine.Step(isOwn: true))
        if case .removed(let replica, let observer) = event { news.removal = (replica, observer) }
        if case .step(let layer, let step) = event {
            (news.step, news.isOwn) = (step, layer == .own)
            // Revisions are those of another group.
            if layer != .own { news.step.revision = nil }
        }
        news.changes = changes(by: event, number, for: &common, list)
        view = common
        for index in observers.indices {
            var changes = news.changes
            if var ahead = observers[index].view {
                changes = self.changes(by: event, number, for: &ahead, list)
                observers[index].view = ahead.isLevel(with: common) ? nil : ahead
            }
            if !changes.isEmpty { news.calls.append((observers[index].call, changes)) }
        }
        return news.changes.isEmpty && news.calls.isEmpty && !news.isOwn && news.removal == nil ? nil : news
    }
}

// MARK: - What an event changes for who has heard of what came before

extension SearchListQueue {
    /// What an argument hides, no reader sees change; and what is equal has not changed.
    private func changes(
        by event: Event, _ number: UInt64, for view: inout ListView, _ list: SearchList
    ) -> [EffectiveChange] {
        let candidates =
            switch event {
            case .step(.own, let step): ownChanges(step, &view, list)
            case .step(.registered, let step): registeredChanges(step, &view, list)
            case .step(.suite(let suite), let step): suiteChanges(step, suite, &view, list)
            case .added(let replica, let after): changesByAdding(replica, after, number, &view, list)
            case .removed(let replica, _): changesByRemoving(replica, number, &view, list)
            }
        return candidates.filter { $0.old != $0.new && list.domains.argument($0.key) == nil }
    }

    private func ownChanges(
        _ step: ReplicaMachine.Step, _ view: inout ListView, _ list: SearchList
    ) -> [EffectiveChange] {
        guard step.number > view.own else { return [] }
        view.own = step.number
        return step.changes.map { change in
            let below = change.old == nil || change.new == nil ? value(change.key, in: view, from: 0, list) : nil
            return EffectiveChange(key: change.key, old: change.old ?? below, new: change.new ?? below)
        }
    }

    private func registeredChanges(
        _ step: ReplicaMachine.Step, _ view: inout ListView, _ list: SearchList
    ) -> [EffectiveChange] {
        guard step.number > view.registered else { return [] }
        view.registered = step.number
        return step.changes.filter { !isHidden($0.key, in: view, by: view.suites.count, list) }
            .map { EffectiveChange(key: $0.key, old: $0.old, new: $0.new) }
    }

    private func suiteChanges(
        _ step: ReplicaMachine.Step, _ suite: UInt64, _ view: inout ListView, _ list: SearchList
    ) -> [EffectiveChange] {
        guard let index = view.suites.firstIndex(where: { $0.number == suite }),
            step.number > view.suites[index].after
        else { return [] }
        view.suites[index].after = step.number
        return step.changes.filter { !isHidden($0.key, in: view, by: index, list) }.map { change in
            let below = value(change.key, in: view, from: index + 1, list)
            return EffectiveChange(key: change.key, old: change.old ?? below, new: change.new ?? below)
        }
    }

    private func changesByAdding(
        _ replica: Replica, _ after: UInt64, _ number: UInt64, _ view: inout ListView, _ list: SearchList
    ) -> [EffectiveChange] {
        guard number > view.structure else { return [] }
        view.structure = number
        let count = view.suites.count
        view.suites.append((replica, number, after))
        return values(of: replica, number, after: after).sorted { $0.key < $1.key }
            .filter { !isHidden($0.key, in: view, by: count, list) }
            .map { EffectiveChange(key: $0.key, old: value($0.key, in: view, from: count + 1, list), new: $0.value) }
    }

    private func changesByRemoving(
        _ replica: Replica, _ number: UInt64, _ view: inout ListView, _ list: SearchList
    ) -> [EffectiveChange] {
        guard number > view.structure else { return [] }
        view.structure = number
        guard let index = view.suites.firstIndex(where: { $0.replica === replica }) else { return [] }
        let suite = view.suites.remove(at: index)
        return values(of: replica, suite.number, after: suite.after).sorted { $0.key < $1.key }
            .filter { !isHidden($0.key, in: view, by: index, list) }
            .map { EffectiveChange(key: $0.key, old: $0.value, new: value($0.key, in: view, from: index, list)) }
    }
}

// MARK: - The layers as somebody has heard of them

extension SearchListQueue {
    /// Whether the group or one of its first suites has the key.
    private func isHidden(_ key: Key, in view: ListView, by count: Int, _ list: SearchList) -> Bool {
        value(of: list.own, .own, key, after: view.own) != nil
            || view.suites.prefix(count).contains { suite in
                value(of: suite.replica, .suite(suite.number), key, after: suite.after) != nil
            }
    }

    /// The first hit from a suite on downwards.
    private func value(_ key: Key, in view: ListView, from index: Int, _ list: SearchList) -> Value? {
        for suite in view.suites.dropFirst(index) {
            if let value = value(of: suite.replica, .suite(suite.number), key, after: suite.after) { return value }
        }
        guard let inbox = sources?.inbox else { return nil }
        return old(.registered, key, after: view.registered)
            ?? list.domains.registered(key, after: view.registered, besides: inbox)
    }

    /// A step stands where it comes from until it stands here: it is found in either.
    private func value(of replica: Replica, _ layer: Layer, _ key: Key, after number: UInt64) -> Value? {
        old(layer, key, after: number) ?? replica.value(key, after: number)
    }

    /// What the key held before the first event that changes it.
    private func old(_ layer: Layer, _ key: Key, after number: UInt64) -> Value?? {
        for entry in events[head...] where entry.number > number {
            guard case .step(layer, let step) = entry.event else { continue }
            if let change = step.changes.first(where: { $0.key == key }) { return .some(change.old) }
        }
        return nil
    }

    private func values(of replica: Replica, _ suite: UInt64, after number: UInt64) -> [Key: Value] {
        var values = replica.values(after: number)
        for entry in events[head...].reversed() where entry.number > number {
            guard case .step(.suite(suite), let step) = entry.event else { continue }
            for change in step.changes { values[change.key] = change.old }
        }
        return values
    }
}
