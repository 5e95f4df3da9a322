extension XMLScanner {
    /// Reads the value whose start tag was just read. `depth` is the number of arrays and dictionaries that it stands
    /// in, the root dictionary not counted.
    mutating func value(of tag: XMLTag, depth: Int) throws(PropertyListError) -> Value {
        switch tag.element {
        case .string: return .string(try string(of: tag))
        case .integer: return try number(of: tag)
        case .real: return try real(of: tag)
        case .true: return try boolean(true, of: tag)
        case .false: return try boolean(false, of: tag)
        case .date: return try date(of: tag)
        case .data: return try data(of: tag)
        case .array:
            guard depth < Value.depthLimit else { throw failure(.tooDeep, at: tag.start) }
            return .array(try elements(of: tag, depth: depth + 1))
        case .dict:
            guard depth < Value.depthLimit else { throw failure(.tooDeep, at: tag.start) }
            return .dictionary(try entries(of: tag, depth: depth + 1))
        case .key, .plist:
            throw failure(.unexpectedElement(tag.element.name), at: tag.start)
        }
    }

    /// Reads the entries of a dictionary up to and with its end tag. Where a key stands twice the last one counts.
    mutating func entries(of tag: XMLTag, depth: Int) throws(PropertyListError) -> [Key: Value] {
        var entries: [Key: Value] = [:]
        if depth == 0 { entries.reserveCapacity(min(256, (bytes.count - tag.end) / Self.shortEntry)) }
        while let keyTag = try nextKey(in: tag) {
            let key = Key(try string(of: keyTag))
            let valueTag = try valueTag(after: keyTag, in: tag)
            entries[key] = try value(of: valueTag, depth: depth)
            if depth == 0, entries.count == 256 { reserve(&entries, since: tag.end) }
        }
        return entries
    }

    /// What a short key and a short scalar take with their tags, in bytes: for a small file room is made once.
    private static let shortEntry = 24

    /// Makes room for as many entries as a root will have whose others are about as long as those so far: to move a
    /// hundred thousand entries at every doubling would take a fifth of the time.
    private func reserve(_ entries: inout [Key: Value], since start: Int) {
        let length = max(1, (at - start) / entries.count)
        entries.reserveCapacity((bytes.count - start) / length)
    }

    /// The tag of the dictionary's next key; nil when the end tag was read.
    mutating func nextKey(in tag: XMLTag) throws(PropertyListError) -> XMLTag? {
        guard !tag.isEmpty else { return nil }
        try skipToTag()
        if at >= bytes.count { throw unclosed(tag) }
        if isAtEndTag {
            try endTag(of: tag)
            return nil
        }
        let keyTag = try startTag()
        guard keyTag.element == .key else { throw failure(.valueWithoutKey, at: keyTag.start) }
        return keyTag
    }

    /// The tag of the value that belongs to the key just read.
    mutating func valueTag(after keyTag: XMLTag, in tag: XMLTag) throws(PropertyListError) -> XMLTag {
        try skipToTag()
        if at >= bytes.count { throw unclosed(tag) }
        guard !isAtEndTag else { throw failure(.keyWithoutValue, at: keyTag.start) }
        let valueTag = try startTag()
        guard valueTag.element != .key else { throw failure(.keyWithoutValue, at: keyTag.start) }
        return valueTag
    }

    private mutating func elements(of tag: XMLTag, depth: Int) throws(PropertyListError) -> [Value] {
        var elements: [Value] = []
        guard !tag.isEmpty else { return elements }
        while true {
            try skipToTag()
            if at >= bytes.count { throw unclosed(tag) }
            if isAtEndTag { break }
            elements.append(try value(of: try startTag(), depth: depth))
        }
        try endTag(of: tag)
        return elements
    }
}

// MARK: - Scalars

extension XMLScanner {
    private mutating func boolean(_ value: Bool, of tag: XMLTag) throws(PropertyListError) -> Value {
        let text = try text(of: tag)
        guard text.allSatisfy(\.isXMLWhiteSpace) else { throw failure(.unexpectedText, at: tag.end) }
        return .boolean(value)
    }

    private mutating func date(of tag: XMLTag) throws(PropertyListError) -> Value {
        let text = try text(of: tag).trimmed
        // Whole seconds only: with a fraction, `plistlib` and Foundation would take the whole file for damaged.
        guard text.count == 20, let timestamp = Timestamp(rfc3339: text) else {
            throw failure(.malformedDate, at: tag.start)
        }
        return .date(timestamp)
    }

    private mutating func data(of tag: XMLTag) throws(PropertyListError) -> Value {
        guard let bytes = Base64.decode(try text(of: tag), ignoringWhiteSpace: true) else {
            throw failure(.malformedData, at: tag.start)
        }
        return .data(bytes)
    }

    /// Decimal digits, or hexadecimal ones after `0x`; a sign before them.
    private mutating func number(of tag: XMLTag) throws(PropertyListError) -> Value {
        var digits = try text(of: tag).trimmed
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst().trimmed }
        var radix: UInt64 = 10
        if digits.count > 2, digits.first == UInt8(ascii: "0"),
            digits[digits.startIndex + 1] | 0x20 == UInt8(ascii: "x")
        {
            digits = digits.dropFirst(2)
            radix = 16
        }
        guard !digits.isEmpty else { throw failure(.malformedInteger, at: tag.start) }
        var magnitude: UInt64 = 0
        var isOutOfRange = false
        for character in digits {
            guard let digit = Self.digit(character), digit < radix else {
                throw failure(.malformedInteger, at: tag.start)
            }
            let (product, overflow) = magnitude.multipliedReportingOverflow(by: radix)
            let (sum, carry) = product.addingReportingOverflow(digit)
            magnitude = sum
            isOutOfRange = isOutOfRange || overflow || carry
        }
        guard !isOutOfRange else { throw failure(.integerOutOfRange, at: tag.start) }
        guard isNegative else { return .unsigned(magnitude) }
        guard magnitude <= Int64.min.magnitude else { throw failure(.integerOutOfRange, at: tag.start) }
        return .integer(Int64(truncatingIfNeeded: 0 &- magnitude))
    }

    private static func digit(_ character: UInt8) -> UInt64? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt64(character - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt64(character - UInt8(ascii: "a") + 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt64(character - UInt8(ascii: "A") + 10)
        default: nil
        }
    }

    private mutating func real(of tag: XMLTag) throws(PropertyListError) -> Value {
        let digits = try text(of: tag).trimmed
        let text = String(decoding: digits, as: UTF8.self)
        if digits.allSatisfy(Self.isInDecimal) {
            if let number = Double(text) { return .real(number) }
        } else {
            switch text.lowercased() {
            case "nan", "+nan", "-nan": return .real(.nan)
            case "inf", "+inf", "infinity", "+infinity": return .real(.infinity)
            case "-inf", "-infinity": return .real(-.infinity)
            default: break
            }
        }
        throw failure(.malformedReal, at: tag.start)
    }

    /// Whether the character may stand in a decimal number; the standard library would read hexadecimal ones too.
    private static func isInDecimal(_ character: UInt8) -> Bool {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"), 0x45, 0x65:
            true
        default: false
        }
    }
}

extension ArraySlice<UInt8> {
    /// Without the white space at both ends.
    var trimmed: ArraySlice<UInt8> {
        var slice = self
        while let first = slice.first, first.isXMLWhiteSpace { slice.removeFirst() }
        while let last = slice.last, last.isXMLWhiteSpace { slice.removeLast() }
        return slice
    }
}
