package import GroupModel

/// What one `Watch` call says next.
package enum WatchReply: Sendable {
    case snapshot(Snapshot)
    /// A whole commit, as it was recorded.
    case recorded(RecordedCommit)
    /// A commit made for this observer: cut to its keys, or standing for `coalesced` commits.
    case commit(Commit, coalesced: Int?)
    case deleted(GroupIdentifier)
}

/// One `Watch` call: which groups and keys it asked for, what it has been told, and what waits until its socket takes it.
///
/// The queue is bounded. Past the bound all that waits collapses to the newest value a key, so that an observer that does
/// not read costs at most the bound, and still ends with the newest state. Owned by its connection, on the loop's thread.
package struct WatchStream: Sendable {
    private struct Entry: Sendable {
        let group: GroupIdentifier
        let filter: KeyFilter
        /// The newest revision that was sent or is covered by a snapshot: what comes late is not said twice.
        var seen: Int64 = 0
        /// The last that was said is that the group was deleted.
        var isGone = false
        var collapsed: CollapsedChanges?
    }

    private enum Item: Sendable {
        case commit(RecordedCommit, isWhole: Bool)
        case snapshot(GroupIdentifier, Snapshot.Reason)
        case part(Snapshot)
        case deleted(GroupIdentifier)

        var group: GroupIdentifier {
            switch self {
            case .commit(let recorded, _): recorded.commit.group
            case .part(let snapshot): snapshot.group
            case .snapshot(let group, _), .deleted(let group): group
            }
        }

        /// In bytes of encoded commits.
        var size: Int {
            if case .commit(let recorded, _) = self { recorded.encoded.count } else { 0 }
        }
    }

    /// The bound, in bytes of encoded commits.
    private let limit: Int
    /// One a group; nearly all watches have one.
    private var entries: [Entry]
    private let places: [GroupIdentifier: Int]
    private var queue: [Item] = []
    private var head = 0
    private var queuedSize = 0
    private var hasCollapsed = false
    /// Of all groups together.
    private var collapsedSize = 0

    package init(_ watches: [(group: GroupIdentifier, filter: KeyFilter)], limit: Int) {
        self.limit = limit
        entries = watches.map { Entry(group: $0.group, filter: $0.filter) }
        places = Dictionary(watches.indices.map { (watches[$0].group, $0) }) { first, _ in first }
    }

    package var groups: some Collection<GroupIdentifier> { entries.lazy.map(\.group) }
    package var isEmpty: Bool { head == queue.count && !hasCollapsed }
    /// Whether so much waits that it was put together.
    package var isBehind: Bool { hasCollapsed }
    /// What waits, in bytes of encoded commits and of what they collapsed to: at most the bound, but for one commit that
    /// is larger than the bound and waits alone.
    package var waitingSize: Int { queuedSize + collapsedSize }
}

// MARK: Those who are up to date

extension WatchStream {
    /// Where the group is among the watched ones, for `isCurrent`.
    package func place(of group: GroupIdentifier) -> Int? { places[group] }

    /// Whether the observer has been told everything before this revision of a group, and nothing waits: it may be sent the
    /// commits from there on, as all others are who want the same keys, without their passing through the queue.
    package func isCurrent(_ place: Int, before revision: Int64) -> Bool {
        isEmpty && entries[place].seen < revision && !entries[place].isGone
    }
}

// MARK: Between two daemons

extension WatchStream {
    /// How an observer stands to one group: where a stream that takes this one's place begins.
    package enum Standing: Equatable, Sendable {
        /// It has been told everything up to this revision.
        case at(Int64)
        /// It is to get the whole state.
        case snapshot(Snapshot.Reason)
        /// It has been told that the group is gone.
        case gone
    }

    /// How it stands to each of its groups. What was taken off the queue counts as told.
    ///
    /// - Parameter now: the present revision of a group; nil for one that is gone.
    /// - Returns: nil where it has been told a part of something.
    package func standings(now: (GroupIdentifier) -> Int64?) -> [GroupIdentifier: Standing]? {
        var standings: [GroupIdentifier: Standing] = [:]
        for entry in entries {
            switch queue[head...].first(where: { $0.group == entry.group }) {
            case .part?, .deleted?: return nil
            case .snapshot(_, let reason)?: standings[entry.group] = .snapshot(reason)
            // Those before it went out, whether through this queue or not.
            case .commit(let recorded, _)?: standings[entry.group] = .at(recorded.commit.revision - 1)
            case nil:
                if entry.collapsed != nil {
                    standings[entry.group] = .snapshot(.overflow)
                } else if entry.isGone {
                    standings[entry.group] = .gone
                } else {
                    guard let revision = now(entry.group) else { return nil }
                    standings[entry.group] = .at(revision)
                }
            }
        }
        return standings
    }

    /// The observer was told that the group is gone, by a stream that this one takes the place of.
    package mutating func markGone(_ group: GroupIdentifier) {
        if let place = places[group] { entries[place].isGone = true }
    }
}

// MARK: What happens

extension WatchStream {
    /// The observer is to get the whole state, as it is when its turn comes.
    package mutating func offerSnapshot(of group: GroupIdentifier, reason: Snapshot.Reason) {
        guard let place = places[group] else { return }
        if entries[place].collapsed != nil {
            fold(place) { $0.restart(with: reason) }
        } else {
            queue.append(.snapshot(group, reason))
        }
    }

    /// The observer stands at this revision already (it said so, with `since`).
    package mutating func resume(_ group: GroupIdentifier, after revision: Int64) {
        if let place = places[group] { entries[place].seen = revision }
    }

    /// A commit that the journal has taken. In the order of revisions for each group.
    package mutating func offer(_ recorded: RecordedCommit) {
        let commit = recorded.commit
        guard let place = places[commit.group], commit.revision > entries[place].seen else { return }
        let filter = entries[place].filter
        let wanted = commit.changes.count { filter.includes($0.key) }
        guard wanted > 0 else { return }
        if entries[place].collapsed != nil {
            fold(commit, place)
        } else {
            queue.append(.commit(recorded, isWhole: wanted == commit.changes.count))
            queuedSize += recorded.encoded.count
        }
        // Whoever has nothing else waiting is not slow, however large a single commit is.
        if waitingSize > limit, waitingSize > recorded.encoded.count { collapse() }
    }

    package mutating func offerDeletion(of group: GroupIdentifier) {
        guard let place = places[group] else { return }
        if entries[place].collapsed != nil {
            fold(place) { $0.delete() }
        } else {
            forgetUnbegun(group)
            queue.append(.deleted(group))
        }
    }

    /// Drops a snapshot that was to come, and what follows it. When its turn comes there may be a group made anew under
    /// the name, and the commits of the old one would be told on top of the new one's state.
    private mutating func forgetUnbegun(_ group: GroupIdentifier) {
        let begin = queue[head...].firstIndex { if case .snapshot(group, _) = $0 { true } else { false } }
        guard let begin else { return }
        var kept = Array(queue[..<begin])
        for item in queue[begin...] where item.group != group { kept.append(item) }
        queue = kept
        queuedSize = queue[head...].reduce(0) { $0 + $1.size }
    }

    private mutating func fold(_ commit: Commit, _ place: Int) {
        let filter = entries[place].filter
        let room = limit - collapsedSize + (entries[place].collapsed?.size ?? 0)
        fold(place) { $0.fold(commit, filter: filter, limit: room) }
    }

    private mutating func fold(_ place: Int, _ step: (inout CollapsedChanges) -> Void) {
        // Taken out: with two owners each step would copy all that was gathered.
        var changes = entries[place].collapsed.take() ?? CollapsedChanges()
        collapsedSize -= changes.size
        step(&changes)
        collapsedSize += changes.size
        entries[place].collapsed = changes
        hasCollapsed = true
    }

    /// Everything that waits becomes one entry a key.
    private mutating func collapse() {
        let items = queue[head...]
        queue = []
        head = 0
        queuedSize = 0
        for item in items {
            guard let place = places[item.group] else { continue }
            switch item {
            case .commit(let recorded, _):
                if recorded.commit.revision > entries[place].seen { fold(recorded.commit, place) }
            case .snapshot(_, let reason): fold(place) { $0.restart(with: reason) }
            case .part: fold(place) { $0.restart(with: .overflow) }
            case .deleted: fold(place) { $0.delete() }
            }
        }
    }
}

// MARK: What is said

extension WatchStream {
    /// The next reply, taken off the queue; nil when there is nothing to say.
    ///
    /// - Parameters:
    ///   - sizes: what may be in one reply.
    ///   - state: the group's present state, all of it in the journal; nil for a group that is gone.
    /// - Returns: what to send.
    package mutating func next(_ sizes: ReplySizes, state: (GroupIdentifier) -> GroupState?) -> WatchReply? {
        while let item = popItem() {
            switch item {
            case .commit(let recorded, let isWhole):
                if let reply = reply(for: recorded, isWhole: isWhole, sizes, state: state) { return reply }
            case .snapshot(let group, let reason):
                if let reply = snapshot(of: group, reason, sizes, state: state) { return reply }
            case .part(let snapshot): return .snapshot(snapshot)
            case .deleted(let group):
                if let reply = deletion(of: group) { return reply }
            }
        }
        return nextCollapsed(sizes, state: state)
    }

    private mutating func popItem() -> Item? {
        guard head < queue.count else {
            queue.removeAll(keepingCapacity: queue.capacity <= 64)
            head = 0
            return nil
        }
        let item = queue[head]
        head += 1
        queuedSize -= item.size
        if head == queue.count {
            queue.removeAll(keepingCapacity: queue.capacity <= 64)
            head = 0
        } else if head >= 64, head * 2 >= queue.count {
            // An observer that is always a little behind never empties its queue: what was said is let go here.
            queue.removeFirst(head)
            head = 0
        }
        return item
    }

    private mutating func reply(
        for recorded: RecordedCommit, isWhole: Bool, _ sizes: ReplySizes, state: (GroupIdentifier) -> GroupState?
    ) -> WatchReply? {
        var commit = recorded.commit
        guard let place = places[commit.group], commit.revision > entries[place].seen else { return nil }
        // The first ones of a group that was made again: the snapshot that begins it is behind them, and has them.
        guard !entries[place].isGone else { return nil }
        entries[place].seen = commit.revision
        let isLarge = recorded.encoded.count > sizes.commit
        if isWhole, !isLarge { return .recorded(recorded) }
        let filter = entries[place].filter
        commit.changes.removeAll { !filter.includes($0.key) }
        if isLarge, isWhole || commit.messageSize > sizes.commit {
            return snapshot(of: commit.group, .overflow, sizes, state: state)
        }
        return .commit(commit, coalesced: nil)
    }

    /// Nil where that was said already, of a group made again and deleted again before its turn came.
    private mutating func deletion(of group: GroupIdentifier) -> WatchReply? {
        guard let place = places[group], !entries[place].isGone else { return nil }
        entries[place].isGone = true
        entries[place].seen = 0
        return .deleted(group)
    }

    private mutating func snapshot(
        of group: GroupIdentifier, _ reason: Snapshot.Reason, _ sizes: ReplySizes,
        state: (GroupIdentifier) -> GroupState?
    ) -> WatchReply? {
        // A group that is gone by now has its `deleted` behind this in the queue.
        guard let place = places[group], let present = state(group) else { return nil }
        entries[place].seen = present.revision
        entries[place].isGone = false
        let filter = entries[place].filter
        var whole = Snapshot(
            group: group, position: present.position, values: present.effectiveValues(matching: filter),
            reason: reason, isPartial: false)
        if !present.layers.isEmpty {
            whole.managed = present.keys(from: .managed, matching: filter)
            whole.defaults = present.keys(from: .defaults, matching: filter)
        }
        var parts = whole.split(partSize: sizes.snapshotPart)
        let first = parts.removeFirst()
        queue.insert(contentsOf: parts.map(Item.part), at: head)
        return .snapshot(first)
    }

    private mutating func nextCollapsed(
        _ sizes: ReplySizes, state: (GroupIdentifier) -> GroupState?
    ) -> WatchReply? {
        guard hasCollapsed else { return nil }
        for place in entries.indices {
            guard var changes = entries[place].collapsed else { continue }
            let group = entries[place].group
            if changes.takeDeletion() {
                entries[place].collapsed = changes
                if let reply = deletion(of: group) { return reply }
            }
            entries[place].collapsed = nil
            collapsedSize -= changes.size
            if let reason = changes.snapshotReason {
                if let reply = snapshot(of: group, reason, sizes, state: state) { return reply }
            } else if let present = state(group), let commit = changes.commit(now: present) {
                guard commit.messageSize <= sizes.commit else {
                    return snapshot(of: group, .overflow, sizes, state: state)
                }
                entries[place].seen = commit.revision
                return .commit(commit, coalesced: changes.count)
            }
        }
        hasCollapsed = false
        return nil
    }
}
