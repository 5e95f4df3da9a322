extension Span<UInt8> {
    /// The eight bytes from `index` on as one number, the first byte lowest. Traps where they are not all in the span.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        // Marked unsafe for what other types it could read; the bounds are checked, and any bytes are a number.
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
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
        let ones = Self.ones
        let controls = (self &- ones &* 0x20) & ~self
        let others = self ^ ones &* 0xEF
        return (controls | (others &- ones) & ~others) & (ones &* 0x80) != 0
    }
}

extension UInt64 {
    /// Which of its bytes, the lowest first, is the first of this value.
    @inline(__always)
    func firstIndex(of byte: UInt8) -> Int? {
        let found = zeroBytes(of: self ^ Self.ones &* UInt64(byte))
        return found == 0 ? nil : found.trailingZeroBitCount / 8
    }

    /// Whether one of the bytes ends or changes a text of XML: `<`, `&`, CR or a zero.
    @inline(__always)
    var hasMarkup: Bool {
        let starts = zeroBytes(of: self ^ Self.ones &* 0x3C) | zeroBytes(of: self ^ Self.ones &* 0x26)
        return starts | zeroBytes(of: self ^ Self.ones &* 0x0D) | zeroBytes(of: self) != 0
    }

    fileprivate static var ones: UInt64 { 0x0101_0101_0101_0101 }

    /// The highest bit of each byte that is zero. Bits above the first may be wrong, that one never is.
    @inline(__always)
    private func zeroBytes(of word: UInt64) -> UInt64 {
        (word &- Self.ones) & ~word & (Self.ones &* 0x80)
    }
}

extension [UInt8] {
    package init(copying span: Span<UInt8>) {
        self.init()
        append(copying: span)
    }

    /// Appends a copy of these bytes, in one step.
    package mutating func append(copying span: Span<UInt8>) {
        // The pointer is used within the call only.
        unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }

    /// Puts these bytes in the place of as many from `index` on.
    mutating func overwrite(at index: Int, with span: Span<UInt8>) {
        precondition(index >= 0 && index + span.count <= count, "\(span.count) bytes at \(index) of \(count)")
        unsafe span.withUnsafeBytes { source in
            unsafe withUnsafeMutableBytes { unsafe $0[index..<(index + source.count)].copyBytes(from: source) }
        }
    }
}

extension OutputSpan<UInt8> {
    /// Appends a copy of these bytes, in one step. Traps where there is no room for them.
    @inlinable
    package mutating func append(copying span: Span<UInt8>) {
        precondition(span.count <= freeCapacity, "\(span.count) bytes where \(freeCapacity) have room")
        // Both pointers are used within the call only, and the room behind `count` is this span's to fill.
        unsafe span.withUnsafeBufferPointer { source in
            unsafe withUnsafeMutableBufferPointer { buffer, count in
                guard let from = source.baseAddress, let start = buffer.baseAddress else { return }
                unsafe (start + count).initialize(from: from, count: source.count)
                count += source.count
            }
        }
    }
}
