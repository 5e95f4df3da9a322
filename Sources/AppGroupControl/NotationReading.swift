package import PropertyList

/// Values from the text that `read` prints: the inverse of `TextRendering`.
///
///     "text"  42  1.0  true  date(2026-11-30T09:00:00Z)  data(aGVsbG8=)  [1, 2]  { a = 1, "b c" = 2 }
///
/// Elements and entries are set apart by a comma, a line end or both.
package struct NotationReading {
    /// What was expected instead of what is there.
    package struct Problem: Error, Equatable, Sendable {
        /// Counted from 1.
        package var line: Int
        /// In characters, counted from 1.
        package var column: Int
        package var expected: String

        package init(line: Int, column: Int, expected: String) {
            (self.line, self.column, self.expected) = (line, column, expected)
        }
    }

    private let text: [Unicode.Scalar]
    private var index = 0

    private init(_ text: String) {
        self.text = Array(text.unicodeScalars)
    }

    package static func value(_ text: String) throws(Problem) -> Value {
        var reading = NotationReading(text)
        reading.skipSpace()
        let value = try reading.value(levels: Value.depthLimit)
        reading.skipSpace()
        guard reading.next == nil else { throw reading.problem("nothing after the value") }
        return value
    }

    // MARK: Values

    private mutating func value(levels: Int) throws(Problem) -> Value {
        switch next {
        case "\"": return .string(try quotedText())
        case "[": return .array(try elements(levels: levels))
        case "{": return .dictionary(try entries(levels: levels))
        default: return try word()
        }
    }

    private mutating func elements(levels: Int) throws(Problem) -> [Value] {
        try open(levels)
        var elements: [Value] = []
        while try !close("]") {
            elements.append(try value(levels: levels - 1))
            try separate(before: "]")
        }
        return elements
    }

    private mutating func entries(levels: Int) throws(Problem) -> [Key: Value] {
        try open(levels)
        var entries: [Key: Value] = [:]
        while try !close("}") {
            let start = index
            let key = Key(try name())
            skipSpace()
            guard take("=") else { throw problem("= after the key") }
            skipSpace()
            guard entries.updateValue(try value(levels: levels - 1), forKey: key) == nil else {
                index = start
                throw problem("a key that was not there before")
            }
            try separate(before: "}")
        }
        return entries
    }

    private mutating func open(_ levels: Int) throws(Problem) {
        guard levels > 0 else { throw problem("no more than \(Value.depthLimit) levels") }
        index += 1
    }

    private mutating func close(_ end: Unicode.Scalar) throws(Problem) -> Bool {
        skipSpace()
        guard next != nil else { throw problem(String(Character(end))) }
        return take(end)
    }

    private mutating func separate(before end: Unicode.Scalar) throws(Problem) {
        let hasLineEnd = skipSpace()
        guard take(",") || hasLineEnd || next == end else { throw problem("a comma or \(end)") }
    }

    private mutating func name() throws(Problem) -> String {
        if next == "\"" { return try quotedText() }
        let name = run { TextRendering.isPlain($0) }
        guard !name.isEmpty else { throw problem("a key") }
        return name
    }

    // MARK: Words

    /// A number, a boolean, a date or data.
    private mutating func word() throws(Problem) -> Value {
        let start = index
        let word = run { TextRendering.isPlain($0) || $0 == "+" }
        if let value = Self.number(word) { return value }
        switch word {
        case "true": return .boolean(true)
        case "false": return .boolean(false)
        case "date", "data": if take("(") { return try parenthesized(word == "date" ? .date : .base64) }
        default: break
        }
        index = start
        throw problem(#"a value such as "text", 42, 1.0, true, date(…), data(…), […] or {…}"#)
    }

    private static func number(_ word: String) -> Value? {
        if ["nan", "+infinity", "-infinity"].contains(word) { return try? ValueParsing.value(word, as: .real) }
        let isReal = word.utf8.contains { [UInt8(ascii: "."), UInt8(ascii: "e")].contains($0) }
        return try? ValueParsing.value(word, as: isReal ? .real : .integer)
    }

    private mutating func parenthesized(_ flag: ValueFlag) throws(Problem) -> Value {
        let start = index
        let content = run { $0 != ")" && $0 != "\n" }
        guard take(")") else { throw problem(")") }
        do throws(ValueParsing.Problem) {
            return try ValueParsing.value(content, as: flag)
        } catch {
            index = start
            throw problem(error.expected)
        }
    }

    // MARK: Texts

    private mutating func quotedText() throws(Problem) -> String {
        index += 1
        var text = String.UnicodeScalarView()
        while let scalar = next, scalar != "\n" {
            index += 1
            switch scalar {
            case "\"": return String(text)
            case "\\": text.append(try escaped())
            default: text.append(scalar)
            }
        }
        throw problem("\" at the end of the text")
    }

    private mutating func escaped() throws(Problem) -> Unicode.Scalar {
        let start = index - 1
        let scalar = next
        index += 1
        switch scalar {
        case "\"", "\\": return scalar ?? "\\"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u" where take("{"):
            let digits = run { $0.properties.isASCIIHexDigit }
            if let number = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(number), take("}") { return scalar }
        default: break
        }
        index = start
        throw problem(#"\", \\, \n, \r, \t or \u{…}"#)
    }

    // MARK: Scalars

    private var next: Unicode.Scalar? { index < text.count ? text[index] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        index += 1
        return true
    }

    private mutating func run(_ isIncluded: (Unicode.Scalar) -> Bool) -> String {
        var run = String.UnicodeScalarView()
        while let scalar = next, isIncluded(scalar) {
            run.append(scalar)
            index += 1
        }
        return String(run)
    }

    /// Whether there was a line end in it.
    @discardableResult
    private mutating func skipSpace() -> Bool {
        run { $0 == " " || $0 == "\t" || $0 == "\n" || $0 == "\r" }.utf8.contains(UInt8(ascii: "\n"))
    }

    private func problem(_ expected: String) -> Problem {
        let before = text.prefix(index)
        let lineStart = before.lastIndex(of: "\n").map { $0 + 1 } ?? 0
        return Problem(
            line: before.count { $0 == "\n" } + 1, column: index - lineStart + 1, expected: expected)
    }
}
