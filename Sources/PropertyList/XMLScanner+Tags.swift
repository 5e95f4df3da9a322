extension XMLScanner {
    /// Whether the scanner stands at `</`.
    var isAtEndTag: Bool {
        peek(0) == UInt8(ascii: "<") && peek(1) == UInt8(ascii: "/")
    }

    /// Reads the start tag here. Attributes are allowed anywhere, as XML has it, and mean nothing.
    mutating func startTag() throws(PropertyListError) -> XMLTag {
        let start = at
        if let tag = plainStartTag() { return tag }
        at += 1
        let element = try elementName(tagStart: start)
        while true {
            while peek(0).isXMLWhiteSpace { at += 1 }
            switch peek(0) {
            case UInt8(ascii: ">"):
                at += 1
                return XMLTag(element: element, start: start, end: at, isEmpty: false)
            case UInt8(ascii: "/") where peek(1) == UInt8(ascii: ">"):
                at += 2
                return XMLTag(element: element, start: start, end: at, isEmpty: true)
            default:
                try skipAttribute(tagStart: start)
            }
        }
    }

    /// The tag here if it is a plain one, as nearly all are: a name that we know, at once after it `>` or `/>`.
    private mutating func plainStartTag() -> XMLTag? {
        guard at + 9 <= bytes.count else { return nil }
        let word = bytes.span.word(at: at + 1)
        guard let length = word.firstIndex(of: UInt8(ascii: ">")), length > 0 else { return nil }
        let isEmpty = UInt8(truncatingIfNeeded: word >> UInt64(8 * (length - 1))) == UInt8(ascii: "/")
        let nameLength = isEmpty ? length - 1 : length
        guard nameLength > 0, let element = XMLElement(rawValue: word.byteSwapped >> UInt64(64 - 8 * nameLength)) else {
            return nil
        }
        let start = at
        at += length + 2
        return XMLTag(element: element, start: start, end: at, isEmpty: isEmpty)
    }

    /// Goes over the end tag of the element if it stands here without any white space in it.
    private mutating func skipPlainEndTag(of element: XMLElement) -> Bool {
        let length = 8 - element.rawValue.leadingZeroBitCount / 8
        guard at + 11 <= bytes.count, bytes[at] == UInt8(ascii: "<"), bytes[at + 1] == UInt8(ascii: "/"),
            bytes.span.word(at: at + 2).byteSwapped >> UInt64(64 - 8 * length) == element.rawValue,
            bytes[at + 2 + length] == UInt8(ascii: ">")
        else { return false }
        at += length + 3
        return true
    }

    /// Reads the end tag that closes `tag`.
    mutating func endTag(of tag: XMLTag) throws(PropertyListError) {
        if skipPlainEndTag(of: tag.element) { return }
        let start = at
        guard start < bytes.count else { throw unclosed(tag) }
        guard isAtEndTag else { throw failure(.malformedTag, at: start) }
        at += 2
        let nameStart = at
        let packed = packedName()
        if packed != tag.element.rawValue {
            let found = String(decoding: bytes[nameStart..<at], as: UTF8.self)
            if at >= bytes.count { throw unclosed(tag) }
            throw failure(.wrongEndTag(expected: tag.element.name, found: found), at: start)
        }
        while peek(0).isXMLWhiteSpace { at += 1 }
        guard at < bytes.count else { throw unclosed(tag) }
        guard bytes[at] == UInt8(ascii: ">") else { throw failure(.malformedTag, at: start) }
        at += 1
    }

    private mutating func elementName(tagStart: Int) throws(PropertyListError) -> XMLElement {
        let nameStart = at
        if let element = XMLElement(rawValue: packedName()) { return element }
        if at >= bytes.count { throw failure(.unclosedMarkup("<"), at: tagStart) }
        switch nameStart < at ? bytes[nameStart] : 0 {
        case 0: throw failure(.malformedTag, at: tagStart)
        case UInt8(ascii: "!"):
            throw failure(
                bytes[nameStart..<at].starts(with: "![CDATA[".utf8) ? .unexpectedText : .malformedTag, at: tagStart)
        default:
            throw failure(.unknownElement(String(decoding: bytes[nameStart..<at], as: UTF8.self)), at: tagStart)
        }
    }

    /// The name here as one number; 0 if it is longer than any that we know.
    private mutating func packedName() -> UInt64 {
        var packed: UInt64 = 0
        let start = at
        while at < bytes.count {
            let byte = bytes[at]
            if byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "<") { break }
            if byte.isXMLWhiteSpace { break }
            packed = packed << 8 | UInt64(byte)
            at += 1
        }
        return at - start <= 8 ? packed : 0
    }

    /// Goes over `name="value"`.
    private mutating func skipAttribute(tagStart: Int) throws(PropertyListError) {
        let nameStart = at
        while at < bytes.count, !bytes[at].isXMLWhiteSpace, !"=<>/\"'".utf8.contains(bytes[at]) { at += 1 }
        let isNamed = at > nameStart
        while peek(0).isXMLWhiteSpace { at += 1 }
        let isAssigned = peek(0) == UInt8(ascii: "=")
        if isAssigned { at += 1 }
        while peek(0).isXMLWhiteSpace { at += 1 }
        let mark = peek(0)
        guard at < bytes.count else { throw failure(.unclosedMarkup("<"), at: tagStart) }
        guard isNamed, isAssigned, mark == UInt8(ascii: "\"") || mark == UInt8(ascii: "'") else {
            throw failure(.malformedTag, at: tagStart)
        }
        at += 1
        while at < bytes.count, bytes[at] != mark {
            if bytes[at] == UInt8(ascii: "<") { throw failure(.malformedTag, at: tagStart) }
            at += 1
        }
        guard at < bytes.count else { throw failure(.unclosedMarkup("<"), at: tagStart) }
        at += 1
    }
}
