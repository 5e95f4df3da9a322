/// Steps through the text of an interface description: white space, comments, words and names.
///
/// A value used by one parser for one text. Lines and columns are only counted once an error needs them.
struct IDLScanner {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    func error(_ reason: IDLError.Reason, at offset: Int? = nil) -> IDLError {
        let before = bytes[..<(offset ?? position)]
        let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let line = before.reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
        // A character counts with its first byte.
        let column = before[lineStart...].reduce(1) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
        return IDLError(reason: reason, line: line, column: column)
    }

    // MARK: White space and comments

    mutating func skipSpace() {
        while let byte = current, Self.isSpace(byte) || Self.isLineBreak(byte) {
            position += 1
        }
    }

    /// Steps over white space and comments.
    ///
    /// - Returns: The lines of the comment that stands directly above what follows.
    mutating func skipComments() -> String {
        var lines: [String] = []
        var lineBreaks = 0
        while let byte = current {
            if byte == UInt8(ascii: "#") {
                // An empty line parts a comment from what follows.
                if lineBreaks > 1 { lines = [] }
                lines.append(comment())
                lineBreaks = 0
            } else if Self.isSpace(byte) || Self.isLineBreak(byte) {
                if byte == UInt8(ascii: "\n") { lineBreaks += 1 }
                position += 1
            } else {
                break
            }
        }
        return lineBreaks > 1 ? "" : lines.joined(separator: "\n")
    }

    /// The rest of a line, which may hold a comment but nothing else.
    mutating func endLine() throws(IDLError) {
        while let byte = current, Self.isSpace(byte) {
            position += 1
        }
        if current == UInt8(ascii: "#") { _ = comment() }
        guard let byte = current else { return }
        guard Self.isLineBreak(byte) else { throw error(.lineBreakExpected) }
        position += 1
    }

    private mutating func comment() -> String {
        position += 1
        if current == UInt8(ascii: " ") { position += 1 }
        let start = position
        while let byte = current, !Self.isLineBreak(byte) {
            position += 1
        }
        return text(from: start)
    }

    // MARK: Words

    /// Steps over the text given, if it stands here.
    mutating func skip(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    mutating func expect(_ text: String) throws(IDLError) {
        guard skip(text) else { throw error(.expected(text)) }
    }

    /// The letters, digits, and whatever of `others` stand here; may be empty.
    mutating func word(_ others: String = "") -> String {
        let start = position
        while let byte = current, Self.isAlphanumeric(byte) || others.utf8.contains(byte) {
            position += 1
        }
        return text(from: start)
    }

    /// White space, at least one.
    mutating func expectSpace() throws(IDLError) {
        let start = position
        skipSpace()
        guard position > start else { throw error(.expected(" ")) }
    }

    private func text(from start: Int) -> String {
        String(decoding: bytes[start..<position], as: UTF8.self)
    }

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    static func isUppercase(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    private static func isLineBreak(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
}
