package import GroupModel
package import PropertyList

/// What one `Watch` call says next.
package enum WatchReply: Sendable {
    case snapshot(Snapshot)
    /// A whole commit, as it was recorded.
    case recorded(RecordedCommit)
    /// A commit made for this observer: cut to its keys, or standing for `coalesced` commits.
    case commit(Commit, coalesced: Int?)
    case deleted(GroupIdentifier)
}

/// The state of a group, or a part of it where it is large.
package struct Snapshot: Sendable {
    package enum Reason: String, Sendable, CaseIterable {
        /// The watch began without a position.
        case initial
        /// The commits after the position are not kept any more.
        case tooOld
        /// More changed than this observer's queue may hold.
        case overflow
        /// The group was made anew since.
        case otherEpoch
    }

    package var group: GroupIdentifier
    package var position: Position
    package var values: [Key: Value]
    package var reason: Reason
    /// More parts of the same position follow.
    package var isPartial: Bool
}

/// One `Watch` call: which groups and keys it asked for, what it has been told, and what waits until its socket takes it.
///
/// The queue is bounded. Past the bound all that waits collapses to the newest value a key, so that an observer that does
/// not read costs at most the bound, and still ends with the newest state. Owned by its connection, on the loop's thread.
package struct WatchStream: Sendable {
    private struct Entry: Sendable {
        var filter: KeyFilter
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
    private var entries: [GroupIdentifier: Entry]
    private var queue: [Item] = []
    private var head = 0
    private var queuedSize = 0
    private var hasCollapsed = false
    /// Of all groups together.
    private var collapsedSize = 0

    package init(_ watches: [(group: GroupIdentifier, filter: KeyFilter)], limit: Int) {
        self.limit = limit
        entries = Dictionary(watches.map { ($0.group, Entry(filter: $0.filter)) }) { first, _ in first }
    }

    package var groups: some Collection<GroupIdentifier> { entries.keys }
    package var isEmpty: Bool { head == queue.count && !hasCollapsed }
    /// What waits, in bytes of encoded commits and of what they collapsed to: at most the bound, but for one commit that
    /// is larger than the bound and waits alone.
    package var waitingSize: Int { queuedSize + collapsedSize }
}

// MARK: What happens

extension WatchStream {
    /// The observer is to get the whole state, as it is when its turn comes.
    package mutating func offerSnapshot(of group: GroupIdentifier, reason: Snapshot.Reason) {
        guard let entry = entries[group] else { return }
        if entry.collapsed != nil {
            fold(group) { $0.restart(with: reason) }
        } else {
            queue.append(.snapshot(group, reason))
        }
    }

    /// The observer stands at this revision already (it said so, with `since`).
    package mutating func resume(_ group: GroupIdentifier, after revision: Int64) {
        entries[group]?.seen = revision
    }

    /// A commit that the journal has taken. In the order of revisions for each group.
    package mutating func offer(_ recorded: RecordedCommit) {
        let commit = recorded.commit
        guard let entry = entries[commit.group], commit.revision > entry.seen else { return }
        let wanted = commit.changes.count { entry.filter.includes($0.key) }
        guard wanted > 0 else { return }
        if entry.collapsed != nil {
            fold(commit, entry.filter)
        } else {
            queue.append(.commit(recorded, isWhole: wanted == commit.changes.count))
            queuedSize += recorded.encoded.count
        }
        // Whoever has nothing else waiting is not slow, however large a single commit is.
        if waitingSize > limit, waitingSize > recorded.encoded.count { collapse() }
    }

    package mutating func offerDeletion(of group: GroupIdentifier) {
        guard let entry = entries[group] else { return }
        if entry.collapsed != nil {
            fold(group) { $0.delete() }
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

    private mutating func fold(_ commit: Commit, _ filter: KeyFilter) {
        let room = limit - collapsedSize + (entries[commit.group]?.collapsed?.size ?? 0)
        fold(commit.group) { $0.fold(commit, filter: filter, limit: room) }
    }

    private mutating func fold(_ group: GroupIdentifier, _ step: (inout CollapsedChanges) -> Void) {
        var changes = entries[group]?.collapsed ?? CollapsedChanges()
        collapsedSize -= changes.size
        step(&changes)
        collapsedSize += changes.size
        entries[group]?.collapsed = changes
        hasCollapsed = true
    }

    /// Everything that waits becomes one entry a key.
    private mutating func collapse() {
        let items = queue[head...]
        queue = []
        head = 0
        queuedSize = 0
        for item in items {
            switch item {
            case .commit(let recorded, _):
                let commit = recorded.commit
                guard let entry = entries[commit.group], commit.revision > entry.seen else { continue }
                fold(commit, entry.filter)
            case .snapshot(let group, let reason): fold(group) { $0.restart(with: reason) }
            case .part(let part): fold(part.group) { $0.restart(with: .overflow) }
            case .deleted(let group): fold(group) { $0.delete() }
            }
        }
    }
}

// MARK: What is said

extension WatchStream {
    /// The next reply, taken off the queue; nil when there is nothing to say.
    ///
    /// - Parameters:
    ///   - partSize: a snapshot whose values are larger goes out in parts of about this size, in bytes.
    ///   - state: the group's present state, all of it in the journal; nil for a group that is gone.
    /// - Returns: what to send.
    package mutating func next(partSize: Int, state: (GroupIdentifier) -> GroupState?) -> WatchReply? {
        while let item = popItem() {
            switch item {
            case .commit(let recorded, let isWhole):
                if let reply = reply(for: recorded, isWhole: isWhole) { return reply }
            case .snapshot(let group, let reason):
                if let reply = snapshot(of: group, reason, partSize: partSize, state: state) { return reply }
            case .part(let snapshot): return .snapshot(snapshot)
            case .deleted(let group):
                if let reply = deletion(of: group) { return reply }
            }
        }
        return nextCollapsed(partSize: partSize, state: state)
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

    private mutating func reply(for recorded: RecordedCommit, isWhole: Bool) -> WatchReply? {
        var commit = recorded.commit
        guard let entry = entries[commit.group], commit.revision > entry.seen else { return nil }
        entries[commit.group]?.seen = commit.revision
        if isWhole { return .recorded(recorded) }
        commit.changes.removeAll { !entry.filter.includes($0.key) }
        return .commit(commit, coalesced: nil)
    }

    /// Nil where that was said already, of a group made again and deleted again before its turn came.
    private mutating func deletion(of group: GroupIdentifier) -> WatchReply? {
        guard entries[group]?.isGone == false else { return nil }
        entries[group]?.isGone = true
        entries[group]?.seen = 0
        return .deleted(group)
    }

    private mutating func snapshot(
        of group: GroupIdentifier, _ reason: Snapshot.Reason, partSize: Int,
        state: (GroupIdentifier) -> GroupState?
    ) -> WatchReply? {
        // A group that is gone by now has its `deleted` behind this in the queue.
        guard let entry = entries[group], let present = state(group) else { return nil }
        entries[group]?.seen = present.revision
        entries[group]?.isGone = false
        let values = present.values(matching: entry.filter)
        let whole = Snapshot(
            group: group, position: present.position, values: values, reason: reason, isPartial: false)
        var parts = whole.split(partSize: partSize)
        let first = parts.removeFirst()
        queue.insert(contentsOf: parts.map(Item.part), at: head)
        return .snapshot(first)
    }

    private mutating func nextCollapsed(partSize: Int, state: (GroupIdentifier) -> GroupState?) -> WatchReply? {
        guard hasCollapsed else { return nil }
        for (group, entry) in entries {
            guard var changes = entry.collapsed else { continue }
            if changes.takeDeletion() {
                entries[group]?.collapsed = changes
                if let reply = deletion(of: group) { return reply }
            }
            entries[group]?.collapsed = nil
            collapsedSize -= changes.size
            if let reason = changes.snapshotReason {
                if let reply = snapshot(of: group, reason, partSize: partSize, state: state) { return reply }
            } else if let present = state(group), let commit = changes.commit(now: present) {
                entries[group]?.seen = commit.revision
                return .commit(commit, coalesced: changes.count)
            }
        }
        hasCollapsed = false
        return nil
    }
}

extension Snapshot {
    /// At least one part; all but the last are marked partial. A value larger than the size has a part of its own.
    fileprivate func split(partSize: Int) -> [Snapshot] {
        var parts: [Snapshot] = []
        var part = self
        part.values = [:]
        part.isPartial = true
        var size = 0
        for (key, value) in values {
            let cost = key.string.utf8.count + value.encodedSize
            if size + cost > partSize, !part.values.isEmpty {
                parts.append(part)
                part.values = [:]
                size = 0
            }
            part.values[key] = value
            size += cost
        }
        part.isPartial = false
        return parts + [part]
    }
}
