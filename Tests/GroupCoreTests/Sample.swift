import GroupCore
import GroupModel
import PropertyList
import TestSupport
import Testing

/// What the tests of this module are made of: groups, commits, random values and edits over few keys, so that they meet.
enum Sample {
    static let epoch = Epoch(high: 1, low: 2)
    static let group = identifier("group.test")

    static func identifier(_ name: String) -> GroupIdentifier {
        guard let identifier = try? GroupIdentifier(name) else { preconditionFailure("no identifier: \(name)") }
        return identifier
    }

    static func state(_ values: [Key: Value] = [:], revision: Int64 = 0) -> GroupState {
        GroupState(identifier: group, position: Position(epoch: epoch, revision: revision), values: values)
    }

    /// R69: composed and decomposed are two keys; the empty key is one.
    static let keys: [Key] = ["", "a", "b", "a.b", "a.c", "\u{E9}", "e\u{301}", "*"]

    static func commit(_ changes: [Change], after state: GroupState) -> Commit {
        Commit(
            group: state.identifier, revision: state.revision + 1,
            time: Timestamp(microseconds: state.revision &* 1_000_003), origin: Origin(kind: .client, tag: "t"),
            changes: changes)
    }
}

extension GroupState {
    /// What the daemon does with a write, without the journal.
    @discardableResult
    mutating func write(
        _ edits: [Edit], unchangedSince: Int64? = nil, limits: Limits = Limits()
    ) throws(GroupError) -> [Change] {
        let changes = try changes(for: edits, unchangedSince: unchangedSince, limits: limits)
        if !changes.isEmpty { apply(Sample.commit(changes, after: self)) }
        return changes
    }
}

extension SplitMix64 {
    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: elements.indices, using: &self)]
    }

    mutating func key() -> Key { pick(Sample.keys) }

    /// Few different values, so that equal ones meet, with the edges among them.
    mutating func value(depth: Int = 0) -> Value {
        switch Int.random(in: 0..<(depth < 2 ? 11 : 8), using: &self) {
        case 0: .string(pick(["", "x", "\u{E9}", "e\u{301}", String(repeating: "long", count: 8)]))
        case 1: .integer(pick([0, 1, -1, .max, .min, .max - 1]))
        case 2: .unsigned(pick([0, UInt64(Int64.max) + 1, .max, .max - 1]))
        case 3: .real(pick([0, -0.0, 1, 0.5, .nan, .infinity, -.infinity, 9_007_199_254_740_992]))
        case 4: .boolean(chance(50))
        case 5: .date(Timestamp(microseconds: pick([0, 1, -1, 1_000_000, 1_000_001, 1_500_000, -1_500_000])))
        case 6: .data(pick([[], [0], [1, 2, 3]]))
        case 7: .integer(Int64.random(in: -3...3, using: &self))
        case 8, 9: .array((0..<Int.random(in: 0...2, using: &self)).map { _ in value(depth: depth + 1) })
        default: .dictionary(entries(depth: depth + 1))
        }
    }

    private mutating func entries(depth: Int) -> [Key: Value] {
        var entries: [Key: Value] = [:]
        for _ in 0..<Int.random(in: 0...2, using: &self) { entries[key()] = value(depth: depth) }
        return entries
    }

    /// Any edit, the senseless ones too.
    mutating func edit() -> Edit {
        let operation = chance(50) ? Edit.Operation.set : pick(Edit.Operation.allCases)
        let needsNone = operation == .remove || operation == .toggle
        let value = chance(95) != needsNone ? value() : nil
        return Edit(key: key(), operation: operation, value: value)
    }

    mutating func edits(upTo count: Int) -> [Edit] {
        (0..<Int.random(in: 1...count, using: &self)).map { _ in edit() }
    }
}

/// What a random run found so far: it stops at its first failure, whose steps are the ones to look at.
final class Verdict {
    private(set) var hasFailed = false

    func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        hasFailed = true
        Issue.record("\(what())")
    }
}
