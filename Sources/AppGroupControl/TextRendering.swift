package import PropertyList

/// Values for people: each type looks different, and what is printed is exact.
///
/// `"text"`, `42`, `1.0`, `true`, `date(2026-11-30T09:00:00Z)`, `data(aGVsbG8=)`, `[1, 2]`, `{ a = 1, b = 2 }`.
package enum TextRendering {
    /// What is wider goes over several lines.
    private static let width = 80

    /// In one line.
    package static func inline(_ value: Value) -> String {
        switch value {
        case .string(let text): quoted(text)
        case .integer(let number): String(number)
        case .unsignedInteger(let number): String(number)
        case .real(let number): real(number)
        case .boolean(let flag): flag ? "true" : "false"
        case .date(let date): "date(\(date.rfc3339))"
        case .data(let bytes): "data(\(base64(bytes)))"
        case .array(let elements): "[" + elements.map(inline).joined(separator: ", ") + "]"
        case .dictionary(let entries):
            entries.isEmpty ? "{}" : "{ " + sorted(entries).map(assignment).joined(separator: ", ") + " }"
        }
    }

    /// `key = value` over as many lines as it needs, without the last line end.
    package static func entry(_ key: Key, _ value: Value) -> String {
        Self.key(key) + " = " + block(value, indentation: "")
    }

    /// In one line where it fits, else one element or entry a line.
    package static func block(_ value: Value, indentation: String = "") -> String {
        let line = inline(value)
        guard line.utf8.count + indentation.utf8.count > width else { return line }
        let inner = indentation + "    "
        switch value {
        case .array(let elements) where !elements.isEmpty:
            let lines = elements.map { inner + block($0, indentation: inner) + ",\n" }
            return "[\n" + lines.joined() + indentation + "]"
        case .dictionary(let entries) where !entries.isEmpty:
            let lines = sorted(entries).map { inner + key($0.key) + " = " + block($0.value, indentation: inner) + "\n" }
            return "{\n" + lines.joined() + indentation + "}"
        default: return line
        }
    }

    /// The value alone, for scripts: texts, dates and data without anything around them.
    package static func bare(_ value: Value) -> String {
        switch value {
        case .string(let text): text
        case .date(let date): date.rfc3339
        case .data(let bytes): base64(bytes)
        default: block(value)
        }
    }

    /// As it is where that is unmistakable, else in quotation marks.
    package static func key(_ key: Key) -> String {
        let isPlain = key.string.unicodeScalars.allSatisfy(isPlain)
        return isPlain && !key.string.isEmpty ? key.string : quoted(key.string)
    }

    static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "-": true
        default: false
        }
    }

    /// With what a terminal would act upon, or a reader could not see, written as an escape.
    package static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where isHidden(scalar): result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    /// Control characters, line separators, and the marks that turn the direction of writing.
    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }

    private static func real(_ number: Double) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number > 0 ? "+infinity" : "-infinity" }
        return number.description
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        String(decoding: Base64.encode(bytes), as: UTF8.self)
    }

    private static func assignment(_ key: Key, _ value: Value) -> String {
        Self.key(key) + " = " + inline(value)
    }

    static func sorted(_ entries: [Key: Value]) -> [(key: Key, value: Value)] {
        entries.sorted { $0.key < $1.key }
    }
}
