import GroupModel
import PropertyList

/// What an observer that fell behind has missed of one group, in bounded space: the keys that changed, with what it last
/// saw of each. The newest values are looked up when it reads again.
struct CollapsedChanges: Sendable {
    private var isDeleted = false
    /// Set where even the changes would pass the bound, or a snapshot was due anyway.
    private(set) var snapshotReason: Snapshot.Reason?
    private var lastSeen: [Key: Value?] = [:]
    private var newest: Commit?
    /// How many commits these changes stand for.
    private(set) var count = 0
    /// In bytes of keys and old values.
    private(set) var size = 0

    /// Takes in a commit. Past `limit`, in bytes of what these changes take, only a snapshot is left.
    mutating func fold(_ commit: Commit, filter: KeyFilter, limit: Int) {
        guard snapshotReason == nil, !isDeleted else { return }
        // Where values come from is not kept here, and may be all that changed.
        if commit.origin.kind == .administrator { return restart(with: .overflow) }
        count += 1
        newest = commit
        newest?.changes = []
        for change in commit.changes where filter.includes(change.key) {
            guard lastSeen.index(forKey: change.key) == nil else { continue }
            lastSeen.updateValue(change.old, forKey: change.key)
            size += change.key.string.utf8.count + (change.old?.encodedSize ?? 0) + Self.entryOverhead
        }
        if size > limit { restart(with: .overflow) }
    }

    /// From here on only a snapshot tells the observer where it stands.
    mutating func restart(with reason: Snapshot.Reason) {
        // The first reason tells more: a new epoch stays one, however much follows.
        snapshotReason = snapshotReason ?? reason
        lastSeen = [:]
        size = 0
    }

    mutating func delete() {
        self = CollapsedChanges()
        isDeleted = true
    }

    /// Whether a deletion is to be told first. What follows it stays.
    mutating func takeDeletion() -> Bool {
        defer { isDeleted = false }
        return isDeleted
    }

    /// The one commit that stands for all; nil where every key came back to the value that the observer knows.
    func commit(now state: GroupState) -> Commit? {
        guard var commit = newest else { return nil }
        commit.changes = lastSeen.compactMap { key, old in
            let new = state.effective(key)
            return old == new.value ? nil : Change(key: key, old: old, new: new.value, layer: new.layer)
        }
        commit.changes.sort { $0.key < $1.key }
        return commit.changes.isEmpty ? nil : commit
    }

    /// What an entry of the dictionary takes beside its texts, in bytes.
    private static let entryOverhead = 64
}
