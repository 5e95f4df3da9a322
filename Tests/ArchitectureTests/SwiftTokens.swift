/// A word, a literal or a mark of a Swift source, with its line. Comments are left out.
struct Token: Equatable {
    enum Kind { case word, string, mark }

    var kind: Kind
    /// The content, for a string literal (with interpolations left out: their tokens follow on their own).
    var text: String
    var line: Int
    /// Whether nothing stands between it and the token before: `try!` is one thing, `try !done()` another.
    var isAttached: Bool
}

/// Splits a Swift source into tokens: just enough of the grammar that text in comments and string literals is never
/// taken for code, and code in interpolations always is. Regular expression literals are not known to it.
struct SwiftTokens {
    private let bytes: [UInt8]
    private var index = 0
    private var line = 1
    private var tokens: [Token] = []
    /// Where the last token ended.
    private var lastEnd = -1

    static func of(_ source: String) -> [Token] {
        var scanner = SwiftTokens(bytes: Array(source.utf8))
        scanner.scanCode(untilParenthesis: false)
        return scanner.tokens
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func scanCode(untilParenthesis: Bool) {
        var open = 0
        while let byte = peek() {
            if at("//") {
                skip { !$0.at("\n") }
            } else if at("/*") {
                skipBlockComment()
            } else if let hashes = stringDelimiter() {
                scanString(hashes: hashes)
            } else if Self.isWord(byte) {
                scanWord()
            } else {
                if byte == UInt8(ascii: "(") { open += 1 }
                if byte == UInt8(ascii: ")") { open -= 1 }
                if untilParenthesis, open < 0 { return advance() }
                let start = index
                advance()
                if !Self.isBlank(byte) { append(.mark, from: start) }
            }
        }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if at("/*") {
                depth += 1
                advance(2)
            } else if at("*/") {
                depth -= 1
                advance(2)
            } else {
                advance()
            }
        } while depth > 0 && index < bytes.count
    }

    /// How many `#` stand before the quote of a string literal here; nil where none begins.
    private func stringDelimiter() -> Int? {
        let hashes = bytes[index...].prefix { $0 == UInt8(ascii: "#") }.count
        return peek(hashes) == UInt8(ascii: "\"") ? hashes : nil
    }

    private mutating func scanString(hashes: Int) {
        var token = Token(kind: .string, text: "", line: line, isAttached: index == lastEnd)
        advance(hashes)
        let quote = at("\"\"\"") ? "\"\"\"" : "\""
        let escape = "\\" + String(repeating: "#", count: hashes)
        let end = quote + String(repeating: "#", count: hashes)
        advance(quote.utf8.count)
        let place = tokens.count
        var content: [UInt8] = []
        while let byte = peek(), !at(end) {
            if at(escape + "(") {
                advance(escape.utf8.count + 1)
                scanCode(untilParenthesis: true)
            } else {
                let length = at(escape) ? escape.utf8.count + 1 : 1
                content += length == 1 ? [byte] : []
                advance(length)
            }
        }
        advance(end.utf8.count)
        token.text = String(decoding: content, as: UTF8.self)
        tokens.insert(token, at: place)
        lastEnd = index
    }

    private mutating func scanWord() {
        let start = index
        skip { $0.peek().map(Self.isWord) ?? false }
        append(.word, from: start)
    }

    /// A word or a mark, which lies within one line.
    private mutating func append(_ kind: Token.Kind, from start: Int) {
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        tokens.append(Token(kind: kind, text: text, line: line, isAttached: start == lastEnd))
        lastEnd = index
    }

    private func peek(_ offset: Int = 0) -> UInt8? {
        index + offset < bytes.count ? bytes[index + offset] : nil
    }

    private func at(_ text: String) -> Bool {
        bytes[index...].starts(with: text.utf8)
    }

    private mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where index < bytes.count {
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
    }

    private mutating func skip(while condition: (SwiftTokens) -> Bool) {
        while index < bytes.count, condition(self) { advance() }
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || (9...13).contains(byte)
    }
}
