/// Writes JSON text straight into bytes, from a tree or piece by piece.
///
/// A plain value owned by whoever encodes. Commas come by themselves; that members and values alternate and containers
/// are closed is the caller's part. No white space is written, and reals always carry a point or an exponent, so that
/// they are reals again when read.
package struct JSONWriter: Sendable {
    package var bytes: [UInt8]
    /// Whether a value stands before, at this level.
    private var needsComma = false

    package init(capacity: Int = 0) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    package mutating func beginObject() { begin("{") }
    package mutating func endObject() { end("}") }
    package mutating func beginArray() { begin("[") }
    package mutating func endArray() { end("]") }

    /// The name of a member; its value is to follow.
    package mutating func member(_ name: String) {
        separate()
        appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    package mutating func null() { literal("null") }
    package mutating func boolean(_ value: Bool) { literal(value ? "true" : "false") }

    package mutating func integer(_ value: Int64) {
        separate()
        appendDecimal(value)
    }

    /// The shortest digits that read back as the same double. JSON has no NaN and no infinities, and callers spell them
    /// otherwise; one that slips through becomes `null`, which no reader takes for a number.
    package mutating func real(_ value: Double) {
        guard value.isFinite else { return null() }
        literal(value.description)
    }

    package mutating func string(_ value: String) {
        separate()
        appendQuoted(value)
    }

    /// A value that is encoded already: one complete JSON value, which is not looked at.
    package mutating func raw(_ encoded: [UInt8]) {
        separate()
        bytes.append(contentsOf: encoded)
    }

    package mutating func raw(_ encoded: ArraySlice<UInt8>) {
        separate()
        bytes.append(contentsOf: encoded)
    }

    /// The NUL after a message; the next value starts a new one.
    package mutating func endMessage() {
        bytes.append(0)
        needsComma = false
    }

    package mutating func write(_ json: JSON) {
        switch json {
        case .null: null()
        case .boolean(let value): boolean(value)
        case .integer(let value): integer(value)
        case .real(let value): real(value)
        case .string(let value): string(value)
        case .array(let elements):
            beginArray()
            for element in elements { write(element) }
            endArray()
        case .object(let object): write(object)
        }
    }

    package mutating func write(_ object: JSONObject) {
        beginObject()
        for (name, value) in object {
            member(name)
            write(value)
        }
        endObject()
    }
}

// MARK: - Members

extension JSONWriter {
    package mutating func member(_ name: String, string value: String) {
        member(name)
        string(value)
    }

    package mutating func member(_ name: String, integer value: Int64) {
        member(name)
        integer(value)
    }

    package mutating func member(_ name: String, real value: Double) {
        member(name)
        real(value)
    }

    package mutating func member(_ name: String, boolean value: Bool) {
        member(name)
        boolean(value)
    }

    package mutating func member(_ name: String, strings values: [String]) {
        member(name)
        beginArray()
        for value in values { string(value) }
        endArray()
    }

    package mutating func member(_ name: String, raw encoded: [UInt8]) {
        member(name)
        raw(encoded)
    }

    package mutating func member(_ name: String, _ value: JSON) {
        member(name)
        write(value)
    }
}

// MARK: - Bytes

extension JSONWriter {
    private mutating func begin(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    private mutating func end(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func literal(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func appendDecimal(_ value: Int64) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        let start = bytes.count
        var rest = value.magnitude
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest != 0
        bytes[start...].reverse()
    }

    private mutating func appendQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        if Self.isPlain(text) {
            bytes.append(contentsOf: text.utf8)
        } else {
            for byte in text.utf8 { appendEscaped(byte) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0..<0x20:
            bytes.append(contentsOf: "\\u00".utf8)
            bytes.append(Self.hexadecimal(byte >> 4))
            bytes.append(Self.hexadecimal(byte & 0xF))
        default:
            bytes.append(byte)
        }
    }

    /// Whether the text can stand between quotes as it is.
    private static func isPlain(_ text: String) -> Bool {
        let bytes = text.utf8.span
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
        }
        return true
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + (digit - 10)
    }
}
