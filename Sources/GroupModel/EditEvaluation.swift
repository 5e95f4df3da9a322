package import PropertyList

extension Edit {
    /// The value that the key has after this edit; nil for "no such key". An absent key counts as empty, zero or false.
    ///
    /// Throws `invalidValue` for a missing, superfluous or unfit operand, `wrongType` where the key holds another type.
    package func evaluated(on current: Value?) throws(GroupError) -> Value? {
        var value = current
        try apply(to: &value)
        return value
    }

    /// The same in place: a row of appends to one array is linear. An error leaves the value as it was.
    package func apply(to value: inout Value?) throws(GroupError) {
        guard operation == .merge || otherwise == nil else {
            throw .invalidValue(key: key.string, reason: "the operation \(operation.rawValue) takes no other value")
        }
        switch operation {
        case .set: value = try operand()
        case .remove:
            try refuseOperand()
            value = nil
        case .append: try append(to: &value)
        case .merge: try merge(into: &value)
        case .increment: value = try incremented(value)
        case .toggle: value = try toggled(value)
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

    private func append(to value: inout Value?) throws(GroupError) {
        let element = try operand()
        switch value {
        case nil: value = .array([element])
        case .array(var elements):
            // Let go of the other reference, or the array would be copied.
            value = nil
            elements.append(element)
            value = .array(elements)
        case let other?: throw wrongType(expected: "array", found: other)
        }
    }

    private func merge(into value: inout Value?) throws(GroupError) {
        guard case .dictionary(let additions) = try operand() else {
            throw .invalidValue(key: key.string, reason: "the operation merge takes a dictionary")
        }
        switch value {
        case .dictionary(var entries):
            value = nil
            entries.merge(additions) { $1 }
            value = .dictionary(entries)
        case nil: value = otherwise ?? .dictionary(additions)
        case let other?:
            guard let otherwise else { throw wrongType(expected: "dictionary", found: other) }
            value = otherwise
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
