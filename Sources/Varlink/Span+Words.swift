extension Span<UInt8> {
    /// The eight bytes from `index` on as one number, the first byte lowest. Traps where they are not all in the span.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        let eight = extracting(index..<(index + 8))
        var word: UInt64 = 0
        for step in 0..<8 { word |= UInt64(eight[step]) << UInt64(truncatingIfNeeded: step * 8) }
        return word
    }

    /// The place of the next byte from `start` on that is a quote, a backslash or a control character; the end where
    /// there is none.
    func nextSpecial(from start: Int) -> Int {
        var index = start
        while index + 8 <= count, !word(at: index).hasSpecialByte {
            index += 8
        }
        while index < count, !self[index].isSpecial {
            index += 1
        }
        return index
    }

    /// The place of the next zero from `start` on; the end where there is none.
    func nextZero(from start: Int) -> Int {
        var index = start
        while index + 8 <= count, !word(at: index).hasZeroByte {
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

/// Eight bytes looked at in one step: taking one from each byte borrows, up to its highest bit, exactly from the lowest
/// byte that was zero. Bytes above 0x7F have that bit already, and are left out.
extension UInt64 {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    @inline(__always)
    fileprivate var hasZeroByte: Bool {
        (self &- Self.ones) & ~self & Self.highBits != 0
    }

    @inline(__always)
    fileprivate var hasSpecialByte: Bool {
        let quotes = self ^ Self.ones &* 0x22
        let backslashes = self ^ Self.ones &* 0x5C
        let controls = (self &- Self.ones &* 0x20) & ~self
        let found = controls | (quotes &- Self.ones) & ~quotes | (backslashes &- Self.ones) & ~backslashes
        return found & Self.highBits != 0
    }
}
