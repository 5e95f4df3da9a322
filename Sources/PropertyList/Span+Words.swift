extension Span<UInt8> {
    /// The eight bytes from `index` on as one number, the first byte lowest. Traps where they are not all in the span.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        let eight = extracting(index..<(index + 8))
        var word: UInt64 = 0
        for step in 0..<8 { word |= UInt64(eight[step]) << UInt64(truncatingIfNeeded: step * 8) }
        return word
    }

    /// Whether one of the bytes is a control character or 0xEF.
    var hasControlOrByteEF: Bool {
        guard count >= 8 else { return indices.contains { self[$0] < 0x20 || self[$0] == 0xEF } }
        var index = 0
        while index + 8 <= count {
            if word(at: index).hasControlOrByteEF { return true }
            index += 8
        }
        // The rest together with some bytes before it.
        return word(at: count - 8).hasControlOrByteEF
    }
}

extension UInt64 {
    /// Taking a number from each byte borrows, up to the byte's highest bit, from the lowest byte that was smaller; bytes
    /// above 0x7F have that bit already, and are left out. Only whether there is one is exact, not where.
    @inline(__always)
    fileprivate var hasControlOrByteEF: Bool {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let controls = (self &- ones &* 0x20) & ~self
        let others = self ^ ones &* 0xEF
        return (controls | (others &- ones) & ~others) & (ones &* 0x80) != 0
    }
}
