import GroupModel
import GroupProtocol
import PropertyList
import Synchronization

/// A group without a daemon: it lives in this process and nowhere else. For tests, with the same rules.
final class MemoryGroup: Sendable {
    /// What the daemon would hold.
    private struct Held {
        var values: [Key: Value] = [:]
        var revision: Int64 = 0
        /// When each key changed last, for writes that are conditional.
        var changedAt: [Key: Int64] = [:]
    }

    let replica: Replica
    /// Its lock is not held while the replica tells.
    private let held = Mutex(Held())
    private let epoch: Epoch
    /// The other groups that this one can name: a world for each group that was made by itself.
    private let neighbours = Mutex<[GroupIdentifier: MemoryGroup]>([:])

    init(_ group: GroupIdentifier) {
        replica = Replica(group, tagPrefix: "memory")
        epoch = Epoch(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        let position = Position(epoch: epoch, revision: 0)
        replica.step {
            $0.take(.init(group: group.string, position: position, values: [:], reason: "initial", isPartial: false))
        }
        replica.markReady()
    }

    /// The group of this name, as seen from here.
    func group(_ name: GroupIdentifier, isMade: Bool) -> MemoryGroup? {
        if name == replica.group { return self }
        return neighbours.withLock { neighbours in
            if let group = neighbours[name] { return group }
            guard isMade else { return nil }
            let group = MemoryGroup(name)
            neighbours[name] = group
            return group
        }
    }

    /// A consistent look at what the daemon would hold.
    func read() -> (revision: Int64, values: [Key: Value]) {
        held.withLock { ($0.revision, $0.values) }
    }

    /// Applies edits as one commit.
    func submit(_ submission: ReplicaMachine.Submission) throws(GroupError) -> UInt64 {
        // One lock for both, so that commits come to the replica in the order of their revisions.
        let outcome = held.withLock { held -> Result<UInt64, GroupError> in
            do throws(GroupError) {
                try Self.check(submission.edits, held, unchangedSince: submission.unchangedSince)
                let number = try replica.enqueue { machine throws(GroupError) in
                    let (number, step) = try machine.submit(submission)
                    _ = machine.nextToSend()
                    return (number, step)
                }
                let removals = submission.isReset ? held.values.keys.map(Edit.remove) : []
                commit(removals + submission.edits, number, &held)
                return .success(number)
            } catch {
                return .failure(error)
            }
        }
        replica.tell()
        return try outcome.get()
    }

    private static func check(_ edits: [Edit], _ held: Held, unchangedSince: Int64?) throws(GroupError) {
        guard let unchangedSince else { return }
        let changed = edits.filter { (held.changedAt[$0.key] ?? 0) > unchangedSince }
        guard changed.isEmpty else {
            throw .conflict(keys: changed.map(\.key.string), revision: held.revision)
        }
    }

    private func commit(_ edits: [Edit], _ number: UInt64, _ held: inout Held) {
        let changes = Self.changes(edits, &held.values)
        if !changes.isEmpty { held.revision += 1 }
        for change in changes { held.changedAt[change.key] = held.revision }
        let position = Position(epoch: epoch, revision: held.revision)
        replica.enqueueStep { $0.acknowledged(number, at: position, changed: !changes.isEmpty) }
        guard !changes.isEmpty else { return }
        let commit = Commit(
            group: replica.group, revision: held.revision, time: Timestamp(microseconds: 0),
            origin: Origin(kind: .client), changes: changes)
        replica.enqueueStep { $0.take(commit, coalesced: nil) }
    }

    private static func changes(_ edits: [Edit], _ values: inout [Key: Value]) -> [Change] {
        var old: [Key: Value?] = [:]
        for edit in edits {
            if old.index(forKey: edit.key) == nil { old.updateValue(values[edit.key], forKey: edit.key) }
            var value = values[edit.key]
            // The replica has taken it, so it evaluates.
            try? edit.apply(to: &value)
            values[edit.key] = value
        }
        return old.compactMap { key, old in
            old == values[key] ? nil : Change(key: key, old: old, new: values[key])
        }
    }
}
