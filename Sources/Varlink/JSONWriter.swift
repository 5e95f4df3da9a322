/// Writes JSON text straight into bytes, from a tree or piece by piece.
///
/// A plain value owned by whoever encodes. Commas come by themselves; that members and values alternate and containers
/// are closed is the caller's part. No white space is written, and reals always carry a point or an exponent, so that
/// they are reals again when read.
package struct JSONWriter: Sendable {
    package var bytes: [UInt8]
    /// Up to so many bytes room is made for the worst case, instead of counting what has to be escaped.
    private static let shortCount = 64

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
        appendQuoted(name, isName: true)
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
        appendQuoted(value, isName: false)
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

    /// A text between quotes, with what stands around it, in one step: nearly all texts are short, and the bookkeeping of
    /// the array would cost more than the bytes.
    private mutating func appendQuoted(_ text: String, isName: Bool) {
        let count = text.utf8.count
        let room = count <= Self.shortCount ? count * 6 : Self.escapedCount(of: text)
        guard room > count || count <= Self.shortCount else { return appendLongPlain(text, isName: isName) }
        let comma = needsComma
        bytes.append(addingCapacity: room + 4) { output in
            if comma { output.append(UInt8(ascii: ",")) }
            output.append(UInt8(ascii: "\""))
            Self.escape(text.utf8.span, into: &output)
            output.append(UInt8(ascii: "\""))
            if isName { output.append(UInt8(ascii: ":")) }
        }
        needsComma = !isName
    }

    private mutating func appendLongPlain(_ text: String, isName: Bool) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: text.utf8)
        bytes.append(UInt8(ascii: "\""))
        if isName { bytes.append(UInt8(ascii: ":")) }
        needsComma = !isName
    }

    private static func escape(_ text: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
        for index in text.indices {
            let byte = text[index]
            if byte < 0x20 {
                output.append(UInt8(ascii: "\\"))
                output.append(UInt8(ascii: "u"))
                output.append(UInt8(ascii: "0"))
                output.append(UInt8(ascii: "0"))
                output.append(hexadecimal(byte >> 4))
                output.append(hexadecimal(byte & 0xF))
                continue
            }
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
            output.append(byte)
        }
    }

    /// The bytes that the text has once it is escaped.
    private static func escapedCount(of text: String) -> Int {
        let bytes = text.utf8.span
        var count = bytes.count
        for index in bytes.indices {
            let byte = bytes[index]
            if byte < 0x20 {
                count += 5
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
                count += 1
            }
        }
        return count
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + (digit - 10)
    }
}
