/// Writes JSON text straight into bytes, from a tree or piece by piece.
///
/// A plain value owned by whoever encodes. Commas come by themselves; that members and values alternate and containers
/// are closed is the caller's part. No white space is written, and reals always carry a point or an exponent, so that
/// they are reals again when read.
package struct JSONWriter: Sendable {
    /// What was written. Whoever puts something else here goes on behind it, as behind the end of a message.
    package var bytes: [UInt8]
    /// Whether a value stands before, at this level.
    @usableFromInline var needsComma = false

    package init(capacity: Int = 0) {
        bytes = []
        if capacity > 0 { bytes.reserveCapacity(capacity) }
    }

    /// Writes behind what `bytes` has already. They are exchanged and not copied: with a second owner each piece that is
    /// added would copy them.
    package static func append(to bytes: inout [UInt8], _ write: (inout JSONWriter) -> Void) {
        var writer = JSONWriter()
        swap(&writer.bytes, &bytes)
        write(&writer)
        swap(&writer.bytes, &bytes)
    }

    @inlinable package mutating func beginObject() { begin("{") }
    @inlinable package mutating func endObject() { end("}") }
    @inlinable package mutating func beginArray() { begin("[") }
    @inlinable package mutating func endArray() { end("]") }

    /// The name of a member; its value is to follow.
    package mutating func member(_ name: String) {
        appendQuoted(name, isName: true)
    }

    @inlinable
    package mutating func member(_ name: JSONName) {
        bytes.append(contentsOf: needsComma ? name.following : name.first)
        needsComma = false
    }

    /// An object and the name of its first member.
    @inlinable
    package mutating func beginObject(_ name: JSONName) {
        separate()
        bytes.append(contentsOf: name.opening)
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
        appendQuoted(value, isName: false)
    }

    /// Whether a text stands in a JSON string as it is: nearly every one does.
    package static func isPlain(_ text: Span<UInt8>) -> Bool { !text.hasSpecial(from: 0) }

    /// What stands between the quotes of a string for this text.
    package static func escaped(_ text: Span<UInt8>) -> [UInt8] {
        var writer = JSONWriter()
        writer.string(utf8: text)
        return Array(writer.bytes.dropFirst().dropLast())
    }

    /// The same for a text of which only the UTF-8 is at hand.
    package mutating func string(utf8 text: Span<UInt8>) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        bytes.append(copyOf: text)
        if bytes.span.hasSpecial(from: start) { escape(text, from: start) }
        bytes.append(UInt8(ascii: "\""))
        needsComma = true
    }

    /// A value that is encoded already: one complete JSON value, which is not looked at.
    package mutating func raw(_ encoded: [UInt8]) {
        separate()
        bytes.append(contentsOf: encoded)
    }

    /// A piece of text that is encoded already, from the beginning of a member or value on, which is not looked at. It ends
    /// behind a value, or where one is to follow.
    @inlinable
    package mutating func part(_ encoded: [UInt8], awaitsValue: Bool) {
        separate()
        bytes.append(contentsOf: encoded)
        needsComma = !awaitsValue
    }

    /// The same from within a value on, whose end it has.
    @inlinable
    package mutating func rest(_ encoded: [UInt8], awaitsValue: Bool) {
        bytes.append(contentsOf: encoded)
        needsComma = !awaitsValue
    }

    package mutating func raw(_ encoded: ArraySlice<UInt8>) {
        separate()
        bytes.append(contentsOf: encoded)
    }

    /// The NUL after a message; the next value starts a new one.
    @inlinable
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

    package mutating func member(_ name: JSONName, string value: String) {
        member(name)
        string(value)
    }

    package mutating func member(_ name: JSONName, integer value: Int64) {
        member(name)
        integer(value)
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
    @inlinable
    mutating func begin(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
        needsComma = false
    }

    @inlinable
    mutating func end(_ bracket: Unicode.Scalar) {
        bytes.append(UInt8(ascii: bracket))
        needsComma = true
    }

    @inlinable
    mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func literal(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func appendDecimal(_ value: Int64) {
        // Nineteen digits at most, worked out from the last one on.
        var digits = InlineArray<19, UInt8>(repeating: 0)
        var first = 19
        var rest = value.magnitude
        repeat {
            first -= 1
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            digits[first] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: digit)
            rest = quotient
        } while rest != 0
        bytes.append(addingCapacity: 20) { output in
            if value < 0 { output.append(UInt8(ascii: "-")) }
            for index in first..<19 { output.append(digits[index]) }
        }
    }

    /// A text between quotes. Nearly none has anything to escape, so it is copied in one piece and looked at afterwards.
    private mutating func appendQuoted(_ text: String, isName: Bool) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        let start = bytes.count
        bytes.append(contentsOf: text.utf8)
        if bytes.span.hasSpecial(from: start) { escape(text.utf8.span, from: start) }
        bytes.append(UInt8(ascii: "\""))
        if isName { bytes.append(UInt8(ascii: ":")) }
        needsComma = !isName
    }

    /// Replaces what was put out from `start` on by the same text with escapes.
    private mutating func escape(_ text: Span<UInt8>, from start: Int) {
        bytes.removeLast(bytes.count - start)
        for index in text.indices {
            let byte = text[index]
            if byte < 0x20 {
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(Self.hexadecimal(byte >> 4))
                bytes.append(Self.hexadecimal(byte & 0xF))
            } else {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(byte)
            }
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + (digit - 10)
    }
}
