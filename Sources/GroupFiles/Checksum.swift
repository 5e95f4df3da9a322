/// CRC-32C (Castagnoli), the checksum of a journal's records.
///
/// Table-driven, eight bytes a step. Pure: no state, any thread.
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
        let table = tables.span
        var remainder = ~UInt32(0)
        var index = range.lowerBound
        while range.upperBound - index >= 8 {
            let low = remainder ^ UInt32(truncatingIfNeeded: span.word(at: index, bytes: 4))
            let first = table[1792 + Int(low & 0xFF)] ^ table[1536 + Int(low >> 8 & 0xFF)]
            let second = table[1280 + Int(low >> 16 & 0xFF)] ^ table[1024 + Int(low >> 24)]
            let third = table[768 + Int(span[index + 4])] ^ table[512 + Int(span[index + 5])]
            let fourth = table[256 + Int(span[index + 6])] ^ table[Int(span[index + 7])]
            remainder = first ^ second ^ third ^ fourth
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
    /// The little-endian number in `bytes` bytes from `index` on.
    @inline(__always)
    func word(at index: Int, bytes: Int = 8) -> UInt64 {
        var word: UInt64 = 0
        for step in 0..<bytes {
            word |= UInt64(self[index + step]) << UInt64(step * 8)
        }
        return word
    }
}
