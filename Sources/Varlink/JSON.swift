/// A JSON text as a tree: what a Varlink message is made of.
///
/// A plain value, free to cross threads. Unlike the trees of Foundation it keeps what Varlink needs kept: an integer is
/// not a real (`1` and `1.0` differ), members stay in order, and texts are compared byte for byte.
package enum JSON: Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

extension JSON: Equatable {
    /// Byte-exact: composed and decomposed "é" differ, `1` and `1.0` differ, `0.0` and `-0.0` differ, NaN equals NaN.
    package static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)): left.hasSameBytes(as: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }
}

extension JSON {
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    package var booleanValue: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The value of an integer; a real is none, even when it is whole.
    package var integerValue: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The value of a real or of an integer: Varlink's `float` takes both.
    package var realValue: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }

    package var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    package var arrayValue: [JSON]? {
        if case .array(let value) = self { value } else { nil }
    }

    package var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }
}

extension JSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    package init(booleanLiteral value: Bool) { self = .boolean(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .real(value) }
    package init(stringLiteral value: String) { self = .string(value) }
    package init(arrayLiteral elements: JSON...) { self = .array(elements) }

    package init(dictionaryLiteral elements: (String, JSON)...) {
        self = .object(JSONObject(elements))
    }
}

extension JSON: CustomStringConvertible {
    /// The JSON text, without white space.
    package var description: String {
        var writer = JSONWriter()
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension String {
    /// Whether both have the same UTF-8 bytes (`==` would take canonically equivalent texts for equal).
    func hasSameBytes(as other: String) -> Bool {
        let mine = utf8.span
        let others = other.utf8.span
        guard mine.count == others.count else { return false }
        for index in mine.indices where mine[index] != others[index] {
            return false
        }
        return true
    }
}
