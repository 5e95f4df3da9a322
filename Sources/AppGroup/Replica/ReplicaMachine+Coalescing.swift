import GroupModel
import PropertyList

// What waits is kept small: of several writes that set one key only the last counts, and is all that is sent.

extension ReplicaMachine {
    /// So many writes wait before they are gone through.
    private static let patience = 256

    /// Leaves out of the waiting writes what later ones set anew, and puts steps of one key together, once there are many: a
    /// process that sets or counts without pause while the daemon is away keeps no more than its keys. The work is spread
    /// over the writes that came meanwhile.
    mutating func coalesceIfMany() {
        guard writes.count >= coalesceAt else { return }
        var superseded: Set<Key> = []
        // Where in `kept` the next later step of a key is, for those that an earlier one can go into.
        var steps: [Key: Int] = [:]
        var kept: [Write] = []
        for var write in writes.reversed() {
            guard write.isOpen else {
                (superseded, steps) = ([], [:])
                kept.append(write)
                continue
            }
            write.edits = Self.effective(write.edits, superseded: &superseded)
            Self.move(&write, into: &kept, at: &steps)
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

    /// Puts the only edit of a write into the next later one of its key, where both are one step. Only single ones: edits
    /// that were made together stay together.
    private static func move(_ write: inout Write, into kept: inout [Write], at steps: inout [Key: Int]) {
        guard write.edits.count == 1 else {
            for edit in write.edits { steps[edit.key] = nil }
            return
        }
        let edit = write.edits[0]
        if let index = steps[edit.key], let both = edit.followed(by: kept[index].edits[0]) {
            kept[index].edits = [both]
            write.edits = []
        } else {
            // It will be the next one that is kept.
            steps[edit.key] = kept.count
        }
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
    /// Whether it may be changed: it was never sent.
    fileprivate var isOpen: Bool { stage == .waiting && isPlain && !isBelow }
}

extension Edit {
    /// Whether its outcome does not depend on what was there before.
    var isAbsolute: Bool { operation == .set || operation == .remove }

    /// This edit and a later one of the same key as one, where that is the same whatever was there before; nil otherwise.
    func followed(by later: Edit) -> Edit? {
        switch (operation, later.operation) {
        case (.set, _):
            guard !later.isAbsolute, let value, let result = try? later.evaluated(on: value) else { return nil }
            return .set(key, result)
        case (.increment, .increment):
            // Integers only: the sum of reals depends on the order.
            guard case .integer(let first)? = value, case .integer(let second)? = later.value else { return nil }
            let (sum, overflow) = first.addingReportingOverflow(second)
            return overflow ? nil : Edit(key: key, operation: .increment, value: .integer(sum))
        case (.merge, .merge):
            guard otherwise == nil, later.otherwise == nil, let sum = try? later.evaluated(on: value) else {
                return nil
            }
            return Edit(key: key, operation: .merge, value: sum)
        default: return nil
        }
    }
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
        both.relayered = relayered.merging(later.relayered) { before, _ in before }
        both.coalesced = (coalesced ?? 1) + (later.coalesced ?? 1)
        return both
    }
}
