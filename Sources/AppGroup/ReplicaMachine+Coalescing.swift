import GroupModel
import PropertyList

// What waits is kept small: of several writes that set one key only the last counts, and is all that is sent.

extension ReplicaMachine {
    /// So many writes wait before they are gone through.
    private static let patience = 256

    /// Leaves out of the waiting writes what later ones set anew, once there are many: a process that sets without pause
    /// while the daemon is away keeps no more than its keys. The work is spread over the writes that came meanwhile.
    mutating func coalesceIfMany() {
        guard writes.count >= coalesceAt else { return }
        var superseded: Set<Key> = []
        var kept: [Write] = []
        for var write in writes.reversed() {
            guard write.stage == .waiting, write.isPlain else {
                superseded = []
                kept.append(write)
                continue
            }
            write.edits = Self.effective(write.edits, superseded: &superseded)
            if write.edits.isEmpty, !write.isDurable, let last = kept.indices.last, kept[last].isOpen {
                // It is answered when the one is that stands for it.
                kept[last].first = write.first
            } else {
                kept.append(write)
            }
        }
        writes = kept.reversed()
        coalesceAt = max(Self.patience, 2 * writes.count)
    }

    /// The edits that are not undone by later ones or by what comes after them.
    static func effective(_ edits: [Edit], superseded: inout Set<Key>) -> [Edit] {
        var result: [Edit] = []
        for edit in edits.reversed() where !superseded.contains(edit.key) {
            result.append(edit)
            if edit.isAbsolute { superseded.insert(edit.key) }
        }
        return result.reversed()
    }
}

extension ReplicaMachine.Write {
    fileprivate var isOpen: Bool { stage == .waiting && isPlain }
}

extension Edit {
    /// Whether its outcome does not depend on what was there before.
    var isAbsolute: Bool { operation == .set || operation == .remove }
}

extension ReplicaMachine.Step {
    /// This step and the next one as one: what has come back is no change.
    func followed(by later: Self) -> Self {
        var olds: [Key: Value?] = [:]
        var news: [Key: Value?] = [:]
        for change in changes + later.changes {
            if olds.index(forKey: change.key) == nil { olds.updateValue(change.old, forKey: change.key) }
            news.updateValue(change.new, forKey: change.key)
        }
        var both = later
        both.changes = olds.compactMap { key, old in
            let new = news[key] ?? nil
            return old == new ? nil : Change(key: key, old: old, new: new)
        }.sorted { $0.key < $1.key }
        both.coalesced = (coalesced ?? 1) + (later.coalesced ?? 1)
        return both
    }
}
