extension Span<UInt8> {
    /// The eight bytes from `index` on as one number, the first byte lowest. Traps where they are not all in the span.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        let eight = extracting(index..<(index + 8))
        var word: UInt64 = 0
        for step in 0..<8 { word |= UInt64(eight[step]) << UInt64(truncatingIfNeeded: step * 8) }
        return word
    }

    /// Whether both have the same bytes.
    func isIdentical(to other: Span<UInt8>) -> Bool {
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
