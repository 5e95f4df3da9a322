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
        _ = append(to: &buffer) { $0.append(contentsOf: payload) }
    }

    /// Frames what `write` adds to `buffer`.
    ///
    /// - Returns: where the payload is.
    static func append(to buffer: inout [UInt8], writing write: (inout [UInt8]) -> Void) -> Range<Int> {
        let header = buffer.count
        // The digits are still to come.
        buffer.append(addingCapacity: headerSize) { $0.append(repeating: UInt8(ascii: " "), count: headerSize) }
        write(&buffer)
        let payload = (header + headerSize)..<buffer.count
        precondition(!payload.isEmpty && payload.count <= UInt32.max, "payload of \(payload.count) bytes")
        assert(!buffer[payload].contains(lineFeed), "a line feed in a payload")
        let checksum = Checksum.crc32c(buffer.span, payload)
        var bytes = buffer.mutableSpan
        Hexadecimal.put(UInt32(payload.count), at: header, in: &bytes)
        Hexadecimal.put(checksum, at: header + 9, in: &bytes)
        buffer.append(lineFeed)
        return payload
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

    /// Eight digits from `index` on, over what is there: all of them at once, each in a byte of its own.
    static func put(_ number: UInt32, at index: Int, in bytes: inout MutableSpan<UInt8>) {
        var digits = UInt64(number)
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // Ten is where the letters begin, 39 places behind where the digits would go on.
        let letters = (digits &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let text = digits &+ 0x3030_3030_3030_3030 &+ letters &* 39
        precondition(index >= 0 && index + 8 <= bytes.count, "digits at \(index) of \(bytes.count)")
        unsafe bytes.withUnsafeMutableBytes {
            unsafe $0.storeBytes(of: text.bigEndian, toByteOffset: index, as: UInt64.self)
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
