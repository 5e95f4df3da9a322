extension Span<UInt8> {
    /// The eight bytes from `index` on as one number, the first byte lowest. Traps where they are not all in the span.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        // Marked unsafe for what other types it could read; the bounds are checked, and any bytes are a number.
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }

    /// Whether both have the same bytes.
    package func isIdentical(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        guard count >= 8 else { return indices.allSatisfy { self[$0] == other[$0] } }
        var index = 0
        while index + 8 <= count {
            guard word(at: index) == other.word(at: index) else { return false }
            index += 8
        }
        // The rest together with some bytes before it.
        return word(at: count - 8) == other.word(at: count - 8)
    }

    /// The place of the next byte from `start` on that is a quote, a backslash or a control character; the end where
    /// there is none.
    func nextSpecial(from start: Int) -> Int {
        var index = start
        while index + 8 <= count {
            if let found = word(at: index).firstSpecialByte { return index + found }
            index += 8
        }
        while index < count, !self[index].isSpecial {
            index += 1
        }
        return index
    }

    /// Whether there is a quote, a backslash or a control character from `start` on.
    func hasSpecial(from start: Int) -> Bool {
        guard count - start >= 8 else { return nextSpecial(from: start) < count }
        var index = start
        while index + 8 <= count {
            if word(at: index).firstSpecialByte != nil { return true }
            index += 8
        }
        // The rest together with some bytes before it.
        return word(at: count - 8).firstSpecialByte != nil
    }

    /// Whether these very bytes stand at `index`.
    package func has(_ expected: Span<UInt8>, at index: Int) -> Bool {
        index + expected.count <= count && extracting(index..<(index + expected.count)).isIdentical(to: expected)
    }

    /// Where the string without escapes ends that begins at `start`, behind its quote, and whether it is all ASCII, which
    /// is UTF-8 and what property lists carry; nil where no quote comes next among the special bytes.
    package func plainString(from start: Int) -> (end: Int, isASCII: Bool)? {
        var index = start
        var seen: UInt64 = 0
        while index + 8 <= count {
            let word = word(at: index)
            if let found = word.firstSpecialByte {
                // The lowest bytes are the first.
                seen |= word & ((1 << UInt64(truncatingIfNeeded: found * 8)) &- 1)
                index += found
                return self[index] == UInt8(ascii: "\"") ? (index, !seen.hasHighBits) : nil
            }
            seen |= word
            index += 8
        }
        while index < count, !self[index].isSpecial {
            seen |= UInt64(self[index])
            index += 1
        }
        return index < count && self[index] == UInt8(ascii: "\"") ? (index, !seen.hasHighBits) : nil
    }

    /// The place of the next zero from `start` on; the end where there is none.
    func nextZero(from start: Int) -> Int {
        var index = start
        while index + 8 <= count {
            if let found = word(at: index).firstZeroByte { return index + found }
            index += 8
        }
        while index < count, self[index] != 0 {
            index += 1
        }
        return index
    }
}

extension UInt8 {
    /// Whether it has to be escaped in a JSON string.
    @inline(__always)
    fileprivate var isSpecial: Bool {
        self < 0x20 || self == UInt8(ascii: "\"") || self == UInt8(ascii: "\\")
    }
}

/// Eight bytes looked at in one step, the first of them lowest: taking one from each byte borrows, up to its highest bit,
/// from the lowest byte that was zero, and from none before it. Bytes above 0x7F have that bit already, and are left out.
extension UInt64 {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    fileprivate var hasHighBits: Bool { self & Self.highBits != 0 }

    /// How many bytes come before the first zero; nil where there is none.
    @inline(__always)
    fileprivate var firstZeroByte: Int? { Self.first((self &- Self.ones) & ~self) }

    /// The same for a quote.
    @inline(__always)
    var firstQuote: Int? {
        let quotes = self ^ Self.ones &* 0x22
        return Self.first((quotes &- Self.ones) & ~quotes)
    }

    /// The same for what has to be escaped in a JSON string.
    @inline(__always)
    fileprivate var firstSpecialByte: Int? {
        let quotes = self ^ Self.ones &* 0x22
        let backslashes = self ^ Self.ones &* 0x5C
        let controls = (self &- Self.ones &* 0x20) & ~self
        return Self.first(controls | (quotes &- Self.ones) & ~quotes | (backslashes &- Self.ones) & ~backslashes)
    }

    @inline(__always)
    private static func first(_ found: UInt64) -> Int? {
        let marks = found & highBits
        return marks == 0 ? nil : marks.trailingZeroBitCount / 8
    }
}

extension [UInt8] {
    /// Appends a copy of these bytes, in one step.
    @inline(__always)
    mutating func append(copyOf span: Span<UInt8>) {
        // The pointer is used within the call only.
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
