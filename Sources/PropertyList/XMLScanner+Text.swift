extension XMLScanner {
    /// Reads the text of `tag`, whose start tag was just read, and its end tag.
    ///
    /// Nearly every text stands in the file as it is; it is then returned as the slice that it is.
    mutating func text(of tag: XMLTag) throws(PropertyListError) -> ArraySlice<UInt8> {
        guard !tag.isEmpty else { return [] }
        let start = at
        var index = at
        while index + 8 <= bytes.count, !bytes.span.word(at: index).hasMarkup { index += 8 }
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "<") { break }
            if byte == UInt8(ascii: "&") || byte == 0x0D || byte == 0 { return try decodedText(of: tag) }
            index += 1
        }
        at = index
        guard index >= bytes.count || isAtEndTag else {
            at = start
            return try decodedText(of: tag)
        }
        try endTag(of: tag)
        return bytes[start..<index]
    }

    mutating func string(of tag: XMLTag) throws(PropertyListError) -> String {
        String(decoding: try text(of: tag), as: UTF8.self)
    }

    /// The text with references resolved, line ends normalised, CDATA sections opened and comments left out.
    private mutating func decodedText(of tag: XMLTag) throws(PropertyListError) -> ArraySlice<UInt8> {
        var result: [UInt8] = []
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "<"):
                if isAtEndTag {
                    try endTag(of: tag)
                    return result[...]
                }
                if isAt("<![CDATA[") {
                    try appendCharacterData(to: &result)
                } else if try !skipMarkup() {
                    let inner = try startTag()
                    throw failure(.unexpectedElement(inner.element.name), at: inner.start)
                }
            case UInt8(ascii: "&"):
                try appendReference(to: &result)
            default:
                try appendByte(to: &result)
            }
        }
        throw unclosed(tag)
    }

    /// Takes over one byte; CR LF and CR become LF, by the rules of XML.
    private mutating func appendByte(to result: inout [UInt8]) throws(PropertyListError) {
        let byte = bytes[at]
        guard byte != 0 else { throw failure(.zeroByte, at: at) }
        if byte != 0x0D {
            result.append(byte)
        } else if peek(1) != 0x0A {
            result.append(0x0A)
        }
        at += 1
    }

    private mutating func appendCharacterData(to result: inout [UInt8]) throws(PropertyListError) {
        let start = at + 9
        let terminator = [UInt8(ascii: "]"), UInt8(ascii: "]"), UInt8(ascii: ">")]
        let end = try skip(opening: 9, past: terminator, named: "<![CDATA[")
        let after = at
        at = start
        while at < end { try appendByte(to: &result) }
        at = after
    }

    /// `&lt;`, `&#13;`, `&#xD;` and their like.
    private mutating func appendReference(to result: inout [UInt8]) throws(PropertyListError) {
        let start = at
        var end = at + 1
        while end < bytes.count, end - start <= 12, bytes[end] != UInt8(ascii: ";") { end += 1 }
        guard end < bytes.count, bytes[end] == UInt8(ascii: ";"), end > start + 1 else {
            throw failure(.malformedReference, at: start)
        }
        at = end + 1
        let name = bytes[start + 1..<end]
        if name.first == UInt8(ascii: "#") {
            guard let scalar = Self.scalar(name.dropFirst()) else { throw failure(.malformedReference, at: start) }
            result.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            return
        }
        switch String(decoding: name, as: UTF8.self) {
        case "amp": result.append(UInt8(ascii: "&"))
        case "lt": result.append(UInt8(ascii: "<"))
        case "gt": result.append(UInt8(ascii: ">"))
        case "quot": result.append(UInt8(ascii: "\""))
        case "apos": result.append(UInt8(ascii: "'"))
        case let other where name.allSatisfy { $0 > 0x20 && $0 != UInt8(ascii: "<") && $0 != UInt8(ascii: "&") }:
            throw failure(.unknownEntity(other), at: start)
        default: throw failure(.malformedReference, at: start)
        }
    }

    /// The character of that number; a zero character is none.
    private static func scalar(_ digits: ArraySlice<UInt8>) -> Unicode.Scalar? {
        let isHexadecimal = digits.first == UInt8(ascii: "x")
        let digits = isHexadecimal ? digits.dropFirst() : digits
        guard let first = digits.first, first != UInt8(ascii: "+"), first != UInt8(ascii: "-"),
            let number = UInt32(String(decoding: digits, as: UTF8.self), radix: isHexadecimal ? 16 : 10), number > 0
        else { return nil }
        return Unicode.Scalar(number)
    }
}
