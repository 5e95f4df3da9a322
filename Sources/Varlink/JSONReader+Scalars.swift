/// Strings and numbers.
extension JSONReader {
    /// A string, from behind its opening quote to behind its closing one.
    ///
    /// Nearly all strings have no escape: they are found and copied in one piece.
    mutating func string(in bytes: Span<UInt8>) throws(JSONError) -> String {
        let start = position
        try skipPlain(in: bytes)
        guard bytes[position] == UInt8(ascii: "\"") else { return try escapedString(from: start, in: bytes) }
        let text = try Self.text(start..<position, of: bytes)
        position += 1
        return text
    }

    /// Steps to the next quote or backslash.
    private mutating func skipPlain(in bytes: Span<UInt8>) throws(JSONError) {
        let end = bytes.nextSpecial(from: position)
        guard end < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        guard bytes[end] >= 0x20 else { throw JSONError(.controlCharacter, at: end) }
        position = end
    }

    /// The string as the bytes between escapes and what the escapes stand for, in turn.
    private mutating func escapedString(from start: Int, in bytes: Span<UInt8>) throws(JSONError) -> String {
        var text = try Self.text(start..<position, of: bytes)
        while bytes[position] == UInt8(ascii: "\\") {
            position += 1
            text.unicodeScalars.append(try escape(in: bytes))
            let start = position
            try skipPlain(in: bytes)
            text += try Self.text(start..<position, of: bytes)
        }
        position += 1
        return text
    }

    /// What stands behind a backslash.
    private mutating func escape(in bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
        let letter = try peek(in: bytes)
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicodeEscape(in: bytes)
        default: throw JSONError(.invalidEscape, at: position - 1)
        }
    }

    /// The scalar of `\uXXXX`, or of the pair `\uD8XX\uDCXX`, from behind the first `u`.
    private mutating func unicodeEscape(in bytes: Span<UInt8>) throws(JSONError) -> Unicode.Scalar {
        let start = position - 2
        let first = try fourDigits(in: bytes)
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800..<0xDC00).contains(first), position + 1 < bytes.count,
            bytes[position] == UInt8(ascii: "\\"), bytes[position + 1] == UInt8(ascii: "u")
        else { throw JSONError(.loneSurrogate, at: start) }
        position += 2
        let second = try fourDigits(in: bytes)
        guard (0xDC00..<0xE000).contains(second),
            let scalar = Unicode.Scalar(0x1_0000 + (first & 0x3FF) << 10 + (second & 0x3FF))
        else { throw JSONError(.loneSurrogate, at: start) }
        return scalar
    }

    private mutating func fourDigits(in bytes: Span<UInt8>) throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch try peek(in: bytes) {
            case let byte where Self.isDigit(byte): digit = byte - UInt8(ascii: "0")
            case let byte where (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte): digit = byte - 87
            case let byte where (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte): digit = byte - 55
            default: throw JSONError(.invalidEscape, at: position)
            }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }
}

extension JSONReader {
    /// The literal of a double never needs more; longer ones only keep the conversion busy.
    private static let longestNumber = 4096

    /// `1` is an integer, `1.0` and `1e3` are reals, and so is an integer beyond Int64.
    mutating func number(in bytes: Span<UInt8>) throws(JSONError) -> JSON {
        let start = position
        let isNegative = bytes[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let digits = position
        let magnitude = try integerPart(in: bytes)
        let count = position - digits
        let isReal = try skipFractionAndExponent(in: bytes)
        // Nineteen digits always fit the magnitude.
        if !isReal, count <= 19, let integer = Self.integer(magnitude, isNegative: isNegative) {
            return .integer(integer)
        }
        return .real(try Self.real(start..<position, of: bytes))
    }

    /// The value wraps around where there are more than nineteen digits.
    private mutating func integerPart(in bytes: Span<UInt8>) throws(JSONError) -> UInt64 {
        let first = try peek(in: bytes)
        guard Self.isDigit(first) else { throw JSONError(.unexpectedByte, at: position) }
        position += 1
        if first == UInt8(ascii: "0") { return 0 }
        var magnitude = UInt64(first - UInt8(ascii: "0"))
        while position < bytes.count, Self.isDigit(bytes[position]) {
            magnitude = magnitude &* 10 &+ UInt64(bytes[position] - UInt8(ascii: "0"))
            position += 1
        }
        return magnitude
    }

    private mutating func skipFractionAndExponent(in bytes: Span<UInt8>) throws(JSONError) -> Bool {
        let start = position
        if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try skipDigits(in: bytes)
        }
        if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            let sign = try peek(in: bytes)
            if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try skipDigits(in: bytes)
        }
        return position > start
    }

    /// One digit at least.
    private mutating func skipDigits(in bytes: Span<UInt8>) throws(JSONError) {
        guard Self.isDigit(try peek(in: bytes)) else { throw JSONError(.unexpectedByte, at: position) }
        while position < bytes.count, Self.isDigit(bytes[position]) {
            position += 1
        }
    }

    private static func integer(_ magnitude: UInt64, isNegative: Bool) -> Int64? {
        if !isNegative { return Int64(exactly: magnitude) }
        return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }

    private static func real(_ range: Range<Int>, of bytes: Span<UInt8>) throws(JSONError) -> Double {
        guard range.count <= longestNumber, let value = Double(try text(range, of: bytes)), value.isFinite else {
            throw JSONError(.numberOutOfRange, at: range.lowerBound)
        }
        return value
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}
