/// Reads a JSON text of a known shape straight into typed values, without a tree in between.
///
/// For the calls that come most, written as programs write them. It knows nothing of escapes, nulls and longer names,
/// and tells nothing of what is wrong: whatever it does not take is to be read again by `JSONReader`, which takes what is
/// sound and says what is not. What it takes means the same to both. A value used for one text; the bytes are handed to
/// each step, since a span must not be stored.
package struct JSONCursor {
    /// The text is not of the shape expected.
    package struct Unexpected: Error {
        package init() {}
    }

    /// A member's name of at most sixteen bytes, as numbers: comparing it is one step.
    package struct Name: Equatable, Sendable {
        /// The first eight bytes, the first of them lowest, and the others.
        private var words: (first: UInt64, second: UInt64) = (0, 0)
        private var count = 0

        fileprivate init() {}

        package init(_ text: StaticString) {
            for byte in text.description.utf8 { append(byte) }
        }

        /// The lowest bytes of a word.
        fileprivate init(_ word: UInt64, count: Int) {
            words.first = word & ((1 << UInt64(truncatingIfNeeded: count * 8)) &- 1)
            self.count = count
        }

        fileprivate mutating func append(_ byte: UInt8) {
            let shift = UInt64(truncatingIfNeeded: count % 8 * 8)
            if count < 8 { words.first |= UInt64(byte) << shift } else { words.second |= UInt64(byte) << shift }
            count += 1
        }

        package static func == (left: Name, right: Name) -> Bool {
            left.words.first == right.words.first && left.words.second == right.words.second
                && left.count == right.count
        }
    }

    private var reader = JSONReader(depthLimit: 0)

    package init() {}

    /// The opening bracket of an object or array that is not empty.
    package mutating func open(_ bracket: Unicode.Scalar, in bytes: Span<UInt8>) throws(Unexpected) {
        reader.skipWhiteSpace(in: bytes)
        try take(UInt8(ascii: bracket), in: bytes)
    }

    /// Behind a member or element.
    ///
    /// - Returns: whether another one follows; if not, the closing bracket is behind us.
    package mutating func another(until bracket: Unicode.Scalar, in bytes: Span<UInt8>) throws(Unexpected) -> Bool {
        reader.skipWhiteSpace(in: bytes)
        guard reader.position < bytes.count else { throw Unexpected() }
        let byte = bytes[reader.position]
        reader.position += 1
        if byte == UInt8(ascii: ",") { return true }
        guard byte == UInt8(ascii: bracket) else { throw Unexpected() }
        return false
    }

    /// The name of a member and what stands between it and its value.
    package mutating func name(in bytes: Span<UInt8>) throws(Unexpected) -> Name {
        reader.skipWhiteSpace(in: bytes)
        try take(UInt8(ascii: "\""), in: bytes)
        let name = try nameBehindQuote(in: bytes)
        reader.skipWhiteSpace(in: bytes)
        try take(UInt8(ascii: ":"), in: bytes)
        reader.skipWhiteSpace(in: bytes)
        return name
    }

    private mutating func nameBehindQuote(in bytes: Span<UInt8>) throws(Unexpected) -> Name {
        // Nearly all names end within eight bytes, which are one number already.
        if reader.position + 8 <= bytes.count {
            let word = bytes.word(at: reader.position)
            if let length = word.firstQuote {
                reader.position += length + 1
                return Name(word, count: length)
            }
        }
        var name = Name()
        let limit = min(bytes.count, reader.position + 17)
        var index = reader.position
        // A name with an escape or a control character in it equals none that is asked for.
        while index < limit, bytes[index] != UInt8(ascii: "\"") {
            name.append(bytes[index])
            index += 1
        }
        guard index < limit else { throw Unexpected() }
        reader.position = index + 1
        return name
    }

    /// A string without escapes.
    package mutating func string(in bytes: Span<UInt8>) throws(Unexpected) -> String {
        let range = try plainString(in: bytes)
        guard let text = try? JSONReader.text(range, of: bytes) else { throw Unexpected() }
        return text
    }

    /// Where the bytes of a string without escapes are; whether they are UTF-8 is not known.
    package mutating func plainString(in bytes: Span<UInt8>) throws(Unexpected) -> Range<Int> {
        try take(UInt8(ascii: "\""), in: bytes)
        let start = reader.position
        let end = bytes.nextSpecial(from: start)
        guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else { throw Unexpected() }
        reader.position = end + 1
        return start..<end
    }

    /// Any string.
    package mutating func text(in bytes: Span<UInt8>) throws(Unexpected) -> String {
        try take(UInt8(ascii: "\""), in: bytes)
        guard let text = try? reader.string(in: bytes) else { throw Unexpected() }
        return text
    }

    /// The name of a member of a map, any text, and what stands between it and its value.
    package mutating func key(in bytes: Span<UInt8>) throws(Unexpected) -> String {
        reader.skipWhiteSpace(in: bytes)
        let name = try text(in: bytes)
        reader.skipWhiteSpace(in: bytes)
        try take(UInt8(ascii: ":"), in: bytes)
        reader.skipWhiteSpace(in: bytes)
        return name
    }

    /// Any value, as a tree.
    package mutating func json(in bytes: Span<UInt8>) throws(Unexpected) -> JSON {
        var whole = JSONReader(depthLimit: JSON.depthLimit)
        whole.position = reader.position
        guard let json = try? whole.value(in: bytes, depth: 0) else { throw Unexpected() }
        reader.position = whole.position
        return json
    }

    /// Steps over any value without looking closely: for a text that was sound when it was written.
    package mutating func skipValue(in bytes: Span<UInt8>) throws(Unexpected) {
        var depth = 0
        repeat {
            guard reader.position < bytes.count else { throw Unexpected() }
            let byte = bytes[reader.position]
            if byte == UInt8(ascii: "\"") {
                try skipString(in: bytes)
                continue
            }
            if depth == 0, byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
                return
            }
            if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") { depth += 1 }
            if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") { depth -= 1 }
            reader.position += 1
        } while depth > 0 || (reader.position < bytes.count && !bytes[reader.position].endsValue)
    }

    private mutating func skipString(in bytes: Span<UInt8>) throws(Unexpected) {
        reader.position += 1
        while true {
            let end = bytes.nextSpecial(from: reader.position)
            guard end < bytes.count else { throw Unexpected() }
            reader.position = end + 1
            if bytes[end] == UInt8(ascii: "\"") { return }
            // What a backslash escapes is no end, whatever it is.
            if bytes[end] == UInt8(ascii: "\\") { reader.position += 1 }
        }
    }

    /// Whether the bracket comes that closes what is empty; then it is behind us.
    package mutating func close(_ bracket: Unicode.Scalar, in bytes: Span<UInt8>) -> Bool {
        reader.skipWhiteSpace(in: bytes)
        guard reader.position < bytes.count, bytes[reader.position] == UInt8(ascii: bracket) else { return false }
        reader.position += 1
        return true
    }

    /// Steps over this very string, if it is what comes.
    package mutating func skip(_ text: String, in bytes: Span<UInt8>) -> Bool {
        let start = reader.position + 1
        let end = start + text.utf8.count
        guard end < bytes.count, bytes[start - 1] == UInt8(ascii: "\""), bytes[end] == UInt8(ascii: "\""),
            bytes.extracting(start..<end).isIdentical(to: text.utf8.span)
        else { return false }
        reader.position = end + 1
        return true
    }

    /// Steps over these very bytes, if they are what comes.
    package mutating func skip(_ expected: [UInt8], in bytes: Span<UInt8>) -> Bool {
        let end = reader.position + expected.count
        guard end <= bytes.count, bytes.extracting(reader.position..<end).isIdentical(to: expected.span) else {
            return false
        }
        reader.position = end
        return true
    }

    /// A number, as an integer or a real.
    package mutating func number(in bytes: Span<UInt8>) throws(Unexpected) -> JSON {
        guard reader.position < bytes.count, let number = try? reader.number(in: bytes) else { throw Unexpected() }
        return number
    }

    package mutating func boolean(in bytes: Span<UInt8>) throws(Unexpected) -> Bool {
        guard reader.position < bytes.count else { throw Unexpected() }
        let value = bytes[reader.position] == UInt8(ascii: "t")
        for expected in (value ? "true" : "false").utf8 { try take(expected, in: bytes) }
        return value
    }

    /// Whether null comes; then it is behind us.
    package mutating func skipNull(in bytes: Span<UInt8>) -> Bool {
        guard reader.position < bytes.count, bytes[reader.position] == UInt8(ascii: "n"),
            let next = try? json(in: bytes)
        else { return false }
        return next.isNull
    }

    /// Nothing but white space follows.
    package mutating func end(in bytes: Span<UInt8>) throws(Unexpected) {
        reader.skipWhiteSpace(in: bytes)
        guard reader.position == bytes.count else { throw Unexpected() }
    }

    private mutating func take(_ byte: UInt8, in bytes: Span<UInt8>) throws(Unexpected) {
        guard reader.position < bytes.count, bytes[reader.position] == byte else { throw Unexpected() }
        reader.position += 1
    }
}

extension UInt8 {
    fileprivate var endsValue: Bool {
        self == UInt8(ascii: ",") || self == UInt8(ascii: "}") || self == UInt8(ascii: "]")
    }
}
