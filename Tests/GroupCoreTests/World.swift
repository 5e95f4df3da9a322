import GroupCore
import GroupModel
import PropertyList

/// The daemon as a watch sees it: groups that are written, deleted and made anew.
final class World {
    private(set) var groups: [GroupIdentifier: GroupState] = [:]

    init(_ names: [GroupIdentifier] = [Sample.group]) {
        for name in names { create(name, Sample.epoch) }
    }

    func create(_ group: GroupIdentifier, _ epoch: Epoch) {
        groups[group] = GroupState(identifier: group, position: Position(epoch: epoch, revision: 0))
    }

    func delete(_ group: GroupIdentifier) { groups[group] = nil }

    /// The commit, with as many bytes as its values take and some for the envelope.
    func commit(_ changes: [Change], in group: GroupIdentifier) -> RecordedCommit? {
        guard var state = groups[group], !changes.isEmpty else { return nil }
        let commit = Sample.commit(changes, after: state)
        state.apply(commit)
        groups[group] = state
        let size = changes.reduce(60) { $0 + ($1.old?.encodedSize ?? 0) + ($1.new?.encodedSize ?? 0) + 20 }
        return RecordedCommit(commit, encoded: Array(repeating: 0, count: size))
    }

    @discardableResult
    func write(_ edits: [Edit], in group: GroupIdentifier = Sample.group) throws -> RecordedCommit {
        guard let state = groups[group] else { throw GroupError.noSuchGroup(group.string) }
        guard let recorded = commit(try state.changes(for: edits, limits: Limits()), in: group) else {
            throw GroupError.invalidValue(key: "", reason: "the test's edits change nothing")
        }
        return recorded
    }
}

extension WatchStream {
    mutating func next(in world: World, partSize: Int = 1 << 20, commitSize: Int = 1 << 20) -> WatchReply? {
        next(ReplySizes(snapshotPart: partSize, commit: commitSize)) { world.groups[$0] }
    }
}
