import LinuxIO

/// CRC-32C (Castagnoli), the checksum of a journal's records.
///
/// By the processor where it can, else table-driven, eight bytes a step. No state, any thread.
enum Checksum {
    /// `tables[k * 256 + b]`: what the byte `b` does to the remainder when `k` more bytes follow it.
    private static let tables: [UInt32] = makeTables()

    private static func makeTables() -> [UInt32] {
        var tables = [UInt32](repeating: 0, count: 8 * 256)
        for byte in 0..<256 {
            var remainder = UInt32(byte)
            for _ in 0..<8 {
                // The polynomial 0x1EDC6F41 with its bits reversed.
                remainder = remainder & 1 == 0 ? remainder >> 1 : remainder >> 1 ^ 0x82F6_3B78
            }
            tables[byte] = remainder
        }
        for index in 256..<tables.count {
            let shorter = tables[index - 256]
            tables[index] = shorter >> 8 ^ tables[Int(shorter & 0xFF)]
        }
        return tables
    }

    /// The checksum of the bytes of `span` in `range`, which lies within it.
    static func crc32c(_ span: Span<UInt8>, _ range: Range<Int>) -> UInt32 {
        guard HardwareChecksum.isSupported else { return tableDriven(span, range) }
        return ~HardwareChecksum.remainder(~UInt32(0), over: span.extracting(range))
    }

    /// The same on any processor.
    static func tableDriven(_ span: Span<UInt8>, _ range: Range<Int>) -> UInt32 {
        let table = tables.span
        var remainder = ~UInt32(0)
        var index = range.lowerBound
        while range.upperBound - index >= 8 {
            let word = span.word(at: index) ^ UInt64(remainder)
            remainder = table[1792 + Int(word & 0xFF)] ^ table[1536 + Int(word >> 8 & 0xFF)]
            remainder ^= table[1280 + Int(word >> 16 & 0xFF)] ^ table[1024 + Int(word >> 24 & 0xFF)]
            remainder ^= table[768 + Int(word >> 32 & 0xFF)] ^ table[512 + Int(word >> 40 & 0xFF)]
            remainder ^= table[256 + Int(word >> 48 & 0xFF)] ^ table[Int(word >> 56)]
            index += 8
        }
        while index < range.upperBound {
            remainder = remainder >> 8 ^ table[Int(UInt8(truncatingIfNeeded: remainder) ^ span[index])]
            index += 1
        }
        return ~remainder
    }

    static func crc32c(_ bytes: [UInt8]) -> UInt32 {
        crc32c(bytes.span, 0..<bytes.count)
    }
}

extension Span<UInt8> {
    /// The little-endian number in the eight bytes from `index` on. Traps where they are not all in the span.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        // Marked unsafe for what other types it could read; the bounds are checked, and any bytes are a number.
        unsafe UInt64(littleEndian: bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt64.self))
    }
}
