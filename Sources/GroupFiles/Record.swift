/// The frame of one record of a journal, which is one line of text:
///
///     0000002c 5bd1a0e4 {"revision":7, … }⏎
///
/// eight digits for the payload's length, eight for its CRC-32C (both hexadecimal, lower case), each followed by a
/// blank, the payload, a line feed. The payload is JSON without a line feed, which this module does not look into; so
/// `less`, `grep` and `cut -c19- | jq` read a journal.
enum Record {
    /// The bytes in front of the payload.
    static let headerSize = 18
    /// The bytes that a record has beyond its payload.
    static let overhead = headerSize + 1
    static let lineFeed = UInt8(ascii: "\n")

    /// Adds the framed payload to `buffer`.
    static func append(_ payload: [UInt8], to buffer: inout [UInt8]) {
        precondition(!payload.isEmpty && payload.count <= UInt32.max, "payload of \(payload.count) bytes")
        assert(!payload.contains(lineFeed), "a line feed in a payload")
        Hexadecimal.append(UInt32(payload.count), to: &buffer)
        buffer.append(UInt8(ascii: " "))
        Hexadecimal.append(Checksum.crc32c(payload), to: &buffer)
        buffer.append(UInt8(ascii: " "))
        buffer.append(contentsOf: payload)
        buffer.append(lineFeed)
    }

    /// What a header says; nil where the bytes from `offset` on are none.
    static func header(_ span: Span<UInt8>, at offset: Int) -> (length: Int, checksum: UInt32)? {
        guard span.count - offset >= headerSize else { return nil }
        guard span[offset + 8] == UInt8(ascii: " "), span[offset + 17] == UInt8(ascii: " ") else { return nil }
        guard let length = Hexadecimal.number(span, at: offset), length > 0 else { return nil }
        guard let checksum = Hexadecimal.number(span, at: offset + 9) else { return nil }
        return (Int(length), checksum)
    }

    /// Where the payload of the whole and sound record at `offset` is; nil where there is none.
    static func payload(_ span: Span<UInt8>, at offset: Int) -> Range<Int>? {
        guard let header = header(span, at: offset) else { return nil }
        let start = offset + headerSize
        guard header.length < span.count - start else { return nil }
        let range = start..<start + header.length
        // The line feed first: it costs nothing, and spares the checksum of most of what only looks like a record.
        guard span[range.upperBound] == lineFeed, Checksum.crc32c(span, range) == header.checksum else { return nil }
        return range
    }
}

/// Lower-case hexadecimal digits of fixed width. Upper case is refused: one record has one spelling.
enum Hexadecimal {
    @inline(__always)
    static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    static func append(_ number: UInt32, to buffer: inout [UInt8]) {
        for shift in stride(from: UInt32(28), through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: number >> shift & 0xF)
            buffer.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
        }
    }

    /// The eight digits at `index`, which are within the span.
    static func number(_ span: Span<UInt8>, at index: Int) -> UInt32? {
        var number: UInt32 = 0
        for step in 0..<8 {
            guard let digit = value(of: span[index + step]) else { return nil }
            number = number << 4 | UInt32(digit)
        }
        return number
    }
}
