import GroupModel
import GroupProtocol
import PropertyList
import Synchronization

/// A group without a daemon: it lives in this process and nowhere else. For tests, with the same rules.
final class MemoryGroup: Sendable {
    let replica: Replica
    /// What the daemon would hold. Protected by its lock, which is not held while the replica tells.
    private let held: Mutex<(values: [Key: Value], revision: Int64)>
    private let epoch: Epoch

    init(_ group: GroupIdentifier) {
        replica = Replica(group, tagPrefix: "memory")
        epoch = Epoch(high: .random(in: .min ... .max), low: .random(in: .min ... .max))
        held = Mutex(([:], 0))
        let position = Position(epoch: epoch, revision: 0)
        replica.step {
            $0.take(.init(group: group.string, position: position, values: [:], reason: "initial", isPartial: false))
        }
        replica.markReady()
    }

    /// Applies edits as one commit.
    func submit(_ edits: [Edit], unchangedSince: Int64?) throws(GroupError) -> UInt64 {
        let group = replica.group
        // One lock for both, so that commits come to the replica in the order of their revisions.
        let outcome = held.withLock { held -> Result<UInt64, GroupError> in
            do throws(GroupError) {
                if let unchangedSince, unchangedSince < held.revision {
                    throw .conflict(keys: edits.map(\.key.string), revision: held.revision)
                }
                let number = try replica.enqueue { machine throws(GroupError) in
                    let (number, step) = try machine.submit(edits)
                    _ = machine.nextToSend()
                    return (number, step)
                }
                let changes = Self.changes(edits, &held.values)
                if !changes.isEmpty { held.revision += 1 }
                let position = Position(epoch: epoch, revision: held.revision)
                replica.enqueueStep { $0.acknowledged(number, at: position, changed: !changes.isEmpty) }
                guard !changes.isEmpty else { return .success(number) }
                let commit = Commit(
                    group: group, revision: held.revision, time: Timestamp(microseconds: 0),
                    origin: Origin(kind: .client), changes: changes)
                replica.enqueueStep { $0.take(commit, coalesced: nil) }
                return .success(number)
            } catch {
                return .failure(error)
            }
        }
        replica.tell()
        return try outcome.get()
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
