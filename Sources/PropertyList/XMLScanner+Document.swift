extension XMLScanner {
    /// Finds out whether this is UTF-8 text of a bearable size, and returns where it begins, after a byte order mark.
    ///
    /// An encoding that the XML declaration names is not asked for: what is valid UTF-8 is read as UTF-8.
    func checkEncoding(byteLimit: Int) throws(PropertyListError) -> Int {
        guard bytes.count <= byteLimit else { throw failure(.tooLarge(byteLimit: byteLimit), at: 0) }
        if let name = wideEncoding { throw failure(.unsupportedEncoding(name), at: 0) }
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw failure(.invalidUTF8, at: error.byteOffsets.lowerBound)
        }
        let start = bytes.starts(with: XMLPlace.byteOrderMark) ? 3 : 0
        guard let first = bytes[start...].firstIndex(where: { !$0.isXMLWhiteSpace }) else {
            throw failure(.empty, at: 0)
        }
        if bytes[first] == 0 { throw failure(.zeroByte, at: first) }
        guard bytes[first] == UInt8(ascii: "<") else { throw failure(.notXML, at: first) }
        return start
    }

    /// Whether the XML declaration names an encoding that is not UTF-8. Other programs take its word, we do not: only what
    /// is in both is safe to add to the text.
    var declaresOtherEncoding: Bool {
        var scanner = XMLScanner(bytes, at: bytes.starts(with: XMLPlace.byteOrderMark) ? 3 : 0)
        let start = scanner.at
        guard scanner.isAt("<?xml"), (try? scanner.skipMarkup()) == true else { return false }
        let words = bytes[start..<scanner.at].split { $0.isXMLWhiteSpace || "='\"?".utf8.contains($0) }
        guard let name = words.firstIndex(where: { $0.elementsEqual("encoding".utf8) }), name + 1 < words.count else {
            return false
        }
        return String(decoding: words[name + 1], as: UTF8.self).lowercased() != "utf-8"
    }

    /// UTF-16 or UTF-32 by the byte order mark or by the zeros around the first `<`.
    private var wideEncoding: String? {
        switch (peek(0), peek(1), peek(2), peek(3)) {
        case (0xFF, 0xFE, 0, 0), (0, 0, 0xFE, 0xFF), (0x3C, 0, 0, 0), (0, 0, 0, 0x3C): bytes.count >= 4 ? "UTF-32" : nil
        case (0xFF, 0xFE, _, _), (0xFE, 0xFF, _, _), (0x3C, 0, _, _), (0, 0x3C, _, _): bytes.count >= 2 ? "UTF-16" : nil
        default: nil
        }
    }

    /// Reads the whole text: its entries, and where the root dictionary's tag stands.
    mutating func document() throws(PropertyListError) -> (entries: [Key: Value], root: Int) {
        let (entries, root) = try body { (scanner, root) throws(PropertyListError) in try scanner.rootEntries(of: root)
        }
        return (entries, root)
    }

    /// Reads the whole text, whose root may be any value.
    mutating func anyValue() throws(PropertyListError) -> Value {
        try body { (scanner, root) throws(PropertyListError) in try scanner.value(of: root, depth: 0) }.0
    }

    /// The root, with or without the element `plist` around it.
    private mutating func body<Root>(
        _ read: (inout Self, XMLTag) throws(PropertyListError) -> Root
    ) throws(PropertyListError) -> (Root, Int) {
        let (root, outer) = try rootTag()
        let value = try read(&self, root)
        guard let outer else {
            try expectEnd()
            return (value, root.start)
        }
        try skipToTag()
        if at < bytes.count, !isAtEndTag {
            let second = try startTag()
            throw failure(.unexpectedElement(second.element.name), at: second.start)
        }
        try endTag(of: outer)
        try expectEnd()
        return (value, root.start)
    }

    /// Where the root's tag stands, in a text that was read before.
    func rootStart() throws(PropertyListError) -> Int {
        var scanner = XMLScanner(bytes, at: bytes.starts(with: XMLPlace.byteOrderMark) ? 3 : 0)
        return try scanner.rootTag().root.start
    }

    /// The tag of the root, and that of the element `plist` if there is one around it.
    private mutating func rootTag() throws(PropertyListError) -> (root: XMLTag, outer: XMLTag?) {
        try skipProlog()
        guard at < bytes.count else { throw failure(.noValue, at: at) }
        guard !isAtEndTag else { throw failure(.malformedTag, at: at) }
        let tag = try startTag()
        return tag.element == .plist ? (try firstElement(in: tag), tag) : (tag, nil)
    }

    private mutating func skipProlog() throws(PropertyListError) {
        try skipToTag()
        while isAt("<!DOCTYPE") {
            try skipDocumentType()
            try skipToTag()
        }
    }

    private mutating func firstElement(in outer: XMLTag) throws(PropertyListError) -> XMLTag {
        guard !outer.isEmpty else { throw failure(.noValue, at: outer.start) }
        try skipToTag()
        guard at < bytes.count else { throw unclosed(outer) }
        guard !isAtEndTag else { throw failure(.noValue, at: at) }
        return try startTag()
    }

    private mutating func rootEntries(of tag: XMLTag) throws(PropertyListError) -> [Key: Value] {
        guard tag.element == .dict else { throw failure(.rootIsNoDictionary(tag.element.name), at: tag.start) }
        return try entries(of: tag, depth: 0)
    }

    private mutating func expectEnd() throws(PropertyListError) {
        while at < bytes.count {
            if bytes[at].isXMLWhiteSpace {
                at += 1
                continue
            }
            let isMarkup = bytes[at] == UInt8(ascii: "<") ? try skipMarkup() : false
            if !isMarkup {
                throw failure(.contentAfterEnd, at: at)
            }
        }
    }
}
