import GroupModel
import PropertyList

extension Edit {
    /// The value that the key has after this edit; nil for "no such key". An absent key counts as empty, zero or false.
    ///
    /// Throws `invalidValue` for a missing, superfluous or unfit operand, `wrongType` where the key holds another type.
    func evaluated(on current: Value?) throws(GroupError) -> Value? {
        switch operation {
        case .set: return try operand()
        case .remove:
            try refuseOperand()
            return nil
        case .append: return try appended(to: current)
        case .merge: return try merged(into: current)
        case .increment: return try incremented(current)
        case .toggle: return try toggled(current)
        }
    }

    private func operand() throws(GroupError) -> Value {
        guard let value else {
            throw .invalidValue(key: key.string, reason: "the operation \(operation.rawValue) needs a value")
        }
        return value
    }

    private func refuseOperand() throws(GroupError) {
        guard value == nil else {
            throw .invalidValue(key: key.string, reason: "the operation \(operation.rawValue) takes no value")
        }
    }

    private func appended(to current: Value?) throws(GroupError) -> Value {
        let element = try operand()
        switch current {
        case nil: return .array([element])
        case .array(let elements): return .array(elements + [element])
        case let other?: throw wrongType(expected: "array", found: other)
        }
    }

    private func merged(into current: Value?) throws(GroupError) -> Value {
        guard case .dictionary(let additions) = try operand() else {
            throw .invalidValue(key: key.string, reason: "the operation merge takes a dictionary")
        }
        switch current {
        case nil: return .dictionary(additions)
        case .dictionary(let entries): return .dictionary(entries.merging(additions) { $1 })
        case let other?: throw wrongType(expected: "dictionary", found: other)
        }
    }

    private func toggled(_ current: Value?) throws(GroupError) -> Value {
        try refuseOperand()
        switch current {
        case nil: return .boolean(true)
        case .boolean(let flag): return .boolean(!flag)
        case let other?: throw wrongType(expected: "boolean", found: other)
        }
    }

    private func incremented(_ current: Value?) throws(GroupError) -> Value {
        let step = try operand()
        guard let addend = Number(step) else {
            throw .invalidValue(key: key.string, reason: "the operation increment takes an integer or a real")
        }
        guard let current else { return step }
        guard let number = Number(current) else { throw wrongType(expected: "number", found: current) }
        guard let sum = number + addend else {
            throw .invalidValue(key: key.string, reason: "the sum cannot be stored exactly in 64 bits")
        }
        return sum
    }

    private func wrongType(expected: String, found: Value) -> GroupError {
        .wrongType(key: key.string, expected: expected, found: found.kind.rawValue)
    }
}

/// A number as `increment` adds it: integers exactly over the whole of Int64 and UInt64, reals as reals.
private enum Number {
    case integer(Int128)
    case real(Double)

    init?(_ value: Value) {
        switch value {
        case .integer(let number): self = .integer(Int128(number))
        case .unsignedInteger(let number): self = .integer(Int128(number))
        case .real(let number): self = .real(number)
        default: return nil
        }
    }

    /// An integer that a `Double` cannot hold is not silently rounded.
    private var exactReal: Double? {
        switch self {
        case .integer(let number): Double(exactly: number)
        case .real(let number): number
        }
    }

    static func + (left: Number, right: Number) -> Value? {
        if case .integer(let left) = left, case .integer(let right) = right {
            let sum = left + right
            return Int64(exactly: sum).map(Value.integer) ?? UInt64(exactly: sum).map(Value.unsignedInteger)
        }
        guard let left = left.exactReal, let right = right.exactReal else { return nil }
        return .real(left + right)
    }
}
