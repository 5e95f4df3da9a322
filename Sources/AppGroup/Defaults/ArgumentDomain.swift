import PropertyList

/// Reads `-key value` pairs from a command line, as `UserDefaults` does on Apple's platforms and in Foundation.
enum ArgumentDomain {
    /// Every argument that begins with a single `-` and is followed by one that does not is a setting. A value that is a
    /// property list, in XML or in the old style, is that list; anything else is its text: `YES` is the string "YES" (U31).
    static func parse(_ arguments: [String]) -> [Key: Value] {
        var values: [Key: Value] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), !argument.hasPrefix("--"), argument.utf8.count > 1 else { continue }
            guard let value = rest.first, !value.hasPrefix("-") || Double(value) != nil else { continue }
            rest.removeFirst()
            values[Key(String(argument.dropFirst()))] = self.value(value)
        }
        return values
    }

    static func value(_ text: String) -> Value {
        let start = text.drop { $0.isWhitespace }
        if start.hasPrefix("<"), let value = xml(start) { return value }
        return OldStyleParser.parse(text) ?? .string(text)
    }

    /// A whole XML property list, or one element of it.
    private static func xml(_ text: Substring) -> Value? {
        guard let list = element(text) else { return nil }
        let document = "<plist version=\"1.0\"><dict><key>v</key>\(list)</dict></plist>"
        let parsed = try? XMLPropertyList(parsing: Array(document.utf8), byteLimit: 1 << 20)
        // One element, not several: the wrapping must not make two keys of it.
        guard let entries = parsed?.entries, entries.count == 1 else { return nil }
        return entries["v"]
    }

    /// What stands inside `<plist>`, or the text where it has none.
    private static func element(_ text: Substring) -> Substring? {
        let bytes = text.utf8
        guard let open = firstIndex(of: "<plist", in: bytes) else { return text }
        guard let start = bytes[open...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
        let inner = bytes[bytes.index(after: start)...]
        guard let end = firstIndex(of: "</plist", in: inner) else { return nil }
        return Substring(inner[..<end])
    }

    private static func firstIndex(of text: String, in bytes: Substring.UTF8View) -> Substring.Index? {
        var rest = bytes
        while !rest.isEmpty {
            if rest.starts(with: text.utf8) { return rest.startIndex }
            rest = rest.dropFirst()
        }
        return nil
    }
}

/// The old style of property lists: `(a, b)`, `{ k = v; }`, `"quoted text"`, `<0fbd77>`. Its scalars are text or data.
private struct OldStyleParser {
    private var rest: ArraySlice<UInt8>

    /// Nil for what is not wholly in this style.
    static func parse(_ text: String) -> Value? {
        let bytes = Array(text.utf8)
        guard bytes.count <= 1 << 20 else { return nil }
        var parser = OldStyleParser(rest: bytes[...])
        guard let value = parser.value(levels: Value.depthLimit) else { return nil }
        parser.skipBlanks()
        return parser.rest.isEmpty ? value : nil
    }

    private mutating func skipBlanks() {
        rest = rest.drop { $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func value(levels: Int) -> Value? {
        guard levels > 0 else { return nil }
        if take("(") { return array(levels) }
        if take("{") { return dictionary(levels) }
        if take("<") { return data() }
        return text().map(Value.string)
    }

    private mutating func array(_ levels: Int) -> Value? {
        var elements: [Value] = []
        while !take(")") {
            guard let element = value(levels: levels - 1) else { return nil }
            elements.append(element)
            // A comma may stand before the end, as in the lists that `defaults` prints.
            if !take(",") { return take(")") ? .array(elements) : nil }
        }
        return .array(elements)
    }

    private mutating func dictionary(_ levels: Int) -> Value? {
        var entries: [Key: Value] = [:]
        while !take("}") {
            guard let key = text(), take("="), let entry = value(levels: levels - 1) else { return nil }
            entries[Key(key)] = entry
            if !take(";") { return take("}") ? .dictionary(entries) : nil }
        }
        return .dictionary(entries)
    }

    private mutating func data() -> Value? {
        var digits: [UInt8] = []
        while !take(">") {
            guard let digit = rest.popFirst().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                return nil
            }
            digits.append(UInt8(digit))
        }
        guard digits.count.isMultiple(of: 2) else { return nil }
        return .data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }

    private mutating func text() -> String? {
        skipBlanks()
        guard let first = rest.first else { return nil }
        if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") { return quoted() }
        let word = rest.prefix(while: Self.isPlain)
        rest = rest.dropFirst(word.count)
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }

    /// Text outside the list's own punctuation; Apple's parser wants quotes for other than ASCII, this one does not.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), UInt8(ascii: "/"),
            UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "-"), 0x80...:
            true
        default: false
        }
    }

    private mutating func quoted() -> String? {
        guard let quote = rest.popFirst() else { return nil }
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == quote { return String(decoding: bytes, as: UTF8.self) }
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            guard let escaped = rest.popFirst() else { return nil }
            switch escaped {
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "U"), UInt8(ascii: "u"):
                guard let scalar = unicodeEscape() else { return nil }
                bytes += String(Character(scalar)).utf8
            default: bytes.append(escaped)
            }
        }
        return nil
    }

    /// Four hexadecimal digits.
    private mutating func unicodeEscape() -> Unicode.Scalar? {
        let digits = rest.prefix(4)
        rest = rest.dropFirst(4)
        guard digits.count == 4 else { return nil }
        return UInt32(String(decoding: digits, as: UTF8.self), radix: 16).flatMap(Unicode.Scalar.init)
    }
}
