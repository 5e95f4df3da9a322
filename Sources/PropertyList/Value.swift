/// A property-list value. Integer 1, real 1.0 and boolean true are three values.
///
/// Equality is what "nothing changed" means everywhere in the project: text byte for byte, reals by bit pattern (so that
/// -0.0 is not 0.0) except that every NaN equals every NaN.
package enum Value: Sendable {
    case string(String)
    /// An integer within `Int64`.
    case integer(Int64)
    /// An integer above `Int64.max`. Smaller ones are always `integer`; `Value.unsigned(_:)` takes care of it.
    case unsignedInteger(UInt64)
    case real(Double)
    case boolean(Bool)
    case date(Timestamp)
    case data([UInt8])
    case array([Value])
    case dictionary([Key: Value])

    /// How many levels of arrays and dictionaries a value may have: 64. Deeper ones are refused wherever they come from.
    package static let depthLimit = 64

    /// The integer in its one canonical form.
    package static func unsigned(_ number: UInt64) -> Value {
        Int64(exactly: number).map(Value.integer) ?? .unsignedInteger(number)
    }
}

extension Value: Equatable {
    package static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left.isIdentical(to: right)
        case (.integer(let left), .integer(let right)): left == right
        case (.unsignedInteger(let left), .unsignedInteger(let right)): left == right
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern || (left.isNaN && right.isNaN)
        case (.boolean(let left), .boolean(let right)): left == right
        case (.date(let left), .date(let right)): left == right
        case (.data(let left), .data(let right)): left == right
        case (.array(let left), .array(let right)): left == right
        case (.dictionary(let left), .dictionary(let right)): left == right
        default: false
        }
    }
}

extension Value {
    /// The eight types of property lists, by the names that `defaults read-type` prints.
    package enum Kind: String, Sendable, CaseIterable {
        case string, integer, real, boolean, date, data, array, dictionary
    }

    package var kind: Kind {
        switch self {
        case .string: .string
        case .integer, .unsignedInteger: .integer
        case .real: .real
        case .boolean: .boolean
        case .date: .date
        case .data: .data
        case .array: .array
        case .dictionary: .dictionary
        }
    }

    /// The levels of arrays and dictionaries in this value: 0 for a scalar.
    package var depth: Int {
        switch self {
        case .array(let elements): 1 + (elements.lazy.map(\.depth).max() ?? 0)
        case .dictionary(let entries): 1 + (entries.values.lazy.map(\.depth).max() ?? 0)
        default: 0
        }
    }
}
