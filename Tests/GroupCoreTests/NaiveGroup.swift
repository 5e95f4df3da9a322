import GroupCore
import GroupModel
import PropertyList

/// The same group as `GroupState`, without thought: every state that ever was, as a list of pairs that is searched from
/// front to back. `states[r]` is the group at revision r.
struct NaiveGroup {
    typealias Entries = [(key: Key, value: Value)]

    var states: [Entries] = [[]]

    var revision: Int64 { Int64(states.count - 1) }
    var present: Entries { states.last ?? [] }

    static func look(_ key: Key, in entries: Entries) -> Value? {
        entries.first { Array($0.key.string.utf8) == Array(key.string.utf8) }?.value
    }

    static func put(_ value: Value?, for key: Key, in entries: Entries) -> Entries {
        let others = entries.filter { Array($0.key.string.utf8) != Array(key.string.utf8) }
        return value.map { others + [(key, $0)] } ?? others
    }

    static func size(_ entries: Entries) -> Int { entries.reduce(0) { $0 + $1.value.encodedSize } }

    /// Whether the key's value changed in a commit after this revision.
    func hasChanged(_ key: Key, since revision: Int64) -> Bool {
        (1..<states.count).contains { index in
            index > revision && Self.look(key, in: states[index]) != Self.look(key, in: states[index - 1])
        }
    }

    /// What a write leaves, or nil where it is refused.
    func written(_ edits: [Edit], isReset: Bool = false, limits: Limits) -> Entries? {
        var entries = isReset ? [] : present
        for edit in edits {
            let old = Self.look(edit.key, in: entries)
            guard let new = NaiveEdit.result(edit, on: old) else { return nil }
            entries = Self.put(new, for: edit.key, in: entries)
        }
        // The caps are on what the group would hold, not on what comes and goes within the write.
        for (key, value) in entries where Self.look(key, in: present) != value {
            if value.encodedSize > limits.valueSize { return nil }
        }
        if Self.size(entries) > limits.groupSize, Self.size(entries) > Self.size(present) { return nil }
        if entries.count > limits.keysPerGroup, entries.count > present.count { return nil }
        return entries
    }

    static func isSame(_ left: Entries, _ right: Entries) -> Bool {
        left.count == right.count && left.allSatisfy { look($0.key, in: right) == $0.value }
    }
}

/// The design's sentences on edits, one by one.
enum NaiveEdit {
    /// Nil: refused. `.some(nil)`: no such key afterwards.
    static func result(_ edit: Edit, on current: Value?) -> Value?? {
        switch (edit.operation, edit.value, current) {
        case (.set, let value?, _): return value
        case (.remove, nil, _): return .some(nil)
        case (.append, let value?, nil): return .array([value])
        case (.append, let value?, .array(let elements)?): return .array(elements + [value])
        case (.merge, .dictionary(let added)?, nil): return .dictionary(added)
        case (.merge, .dictionary(let added)?, .dictionary(var entries)?):
            for (key, value) in added { entries[key] = value }
            return .dictionary(entries)
        case (.toggle, nil, nil): return .boolean(true)
        case (.toggle, nil, .boolean(let flag)?): return .boolean(!flag)
        case (.increment, let step?, nil) where step.kind == .integer || step.kind == .real: return step
        case (.increment, let step?, let current?): return sum(current, step).map { .some($0) } ?? nil
        default: return nil
        }
    }

    private static func sum(_ left: Value, _ right: Value) -> Value? {
        if let left = SignedMagnitude(left), let right = SignedMagnitude(right) { return (left + right)?.value }
        guard let left = real(left), let right = real(right) else { return nil }
        return .real(left + right)
    }

    private static func real(_ value: Value) -> Double? {
        switch value {
        case .real(let number): number
        case .integer(let number): Double(exactly: number)
        case .unsignedInteger(let number): Double(exactly: number)
        default: nil
        }
    }
}

/// Addition as it is taught at school.
private struct SignedMagnitude {
    var isNegative: Bool
    var magnitude: UInt64

    init?(_ value: Value) {
        switch value {
        case .integer(let number): (isNegative, magnitude) = (number < 0, number.magnitude)
        case .unsignedInteger(let number): (isNegative, magnitude) = (false, number)
        default: return nil
        }
    }

    private init(isNegative: Bool, magnitude: UInt64) {
        self.isNegative = isNegative
        self.magnitude = magnitude
    }

    static func + (left: SignedMagnitude, right: SignedMagnitude) -> SignedMagnitude? {
        if left.isNegative == right.isNegative {
            let (sum, isOver) = left.magnitude.addingReportingOverflow(right.magnitude)
            return isOver ? nil : SignedMagnitude(isNegative: left.isNegative, magnitude: sum)
        }
        let (large, small) = left.magnitude >= right.magnitude ? (left, right) : (right, left)
        let rest = large.magnitude - small.magnitude
        return SignedMagnitude(isNegative: large.isNegative && rest > 0, magnitude: rest)
    }

    var value: Value? {
        if !isNegative { return .unsigned(magnitude) }
        return magnitude <= Int64.min.magnitude ? .integer(Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
    }
}
