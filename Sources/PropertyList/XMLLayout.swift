/// Where the entries of one dictionary stand in the text: what an edit of it has to know.
struct XMLLayout {
    /// One key and its value.
    struct Slot {
        var key: Key
        var keyStart: Int
        var keyEnd: Int
        var valueStart: Int
        var valueEnd: Int
    }

    /// The dictionary's start tag.
    var tag: XMLTag
    /// The offset of its end tag; of the end of the start tag if there is none.
    var contentEnd: Int
    /// The entries of the keys that were asked for, in the order of the text.
    var slots: [Slot] = []
    /// The entry that new ones are made to look like: the last one that begins a line, or else the last one.
    var model: Slot?
    /// The indentation of a comment that begins the dictionary on a line of its own: the model where there is no entry.
    var commentIndentation: [UInt8]?

    /// Scans a dictionary that was read before.
    ///
    /// Values are passed over, not read, and only the wanted entries are kept: an edit costs the scan and the changes,
    /// not the size of all entries.
    init(of dictionary: Int, in bytes: [UInt8], wanting wanted: (Key) -> Bool) throws(PropertyListError) {
        var scanner = XMLScanner(bytes, at: dictionary)
        let tag = try scanner.startTag()
        self.tag = tag
        contentEnd = tag.end
        var isModelOnLine = false
        while true {
            if !tag.isEmpty { try scanner.skipToTag() }
            contentEnd = scanner.at
            if model == nil { commentIndentation = bytes.indentation(ofContentIn: tag.end..<contentEnd) }
            guard let keyTag = try scanner.nextKey(in: tag) else { return }
            let key = Key(try scanner.string(of: keyTag))
            let keyEnd = scanner.at
            let valueTag = try scanner.valueTag(after: keyTag, in: tag)
            try scanner.skipContent(of: valueTag)
            let slot = Slot(
                key: key, keyStart: keyTag.start, keyEnd: keyEnd, valueStart: valueTag.start, valueEnd: scanner.at)
            let isOnLine = bytes.blankStart(before: keyTag.start) != nil
            if isOnLine || !isModelOnLine { model = slot }
            isModelOnLine = isModelOnLine || isOnLine
            if wanted(key) { slots.append(slot) }
        }
    }
}

extension XMLScanner {
    /// Goes to the next such byte, or to the end.
    private mutating func skip(to byte: UInt8) {
        var index = at
        while index + 8 <= bytes.count {
            if let found = bytes.span.word(at: index).firstIndex(of: byte) {
                at = index + found
                return
            }
            index += 8
        }
        while index < bytes.count, bytes[index] != byte { index += 1 }
        at = index
    }

    /// Goes to the end of the element whose start tag was just read, in a text that was read before.
    mutating func skipContent(of tag: XMLTag) throws(PropertyListError) {
        guard !tag.isEmpty else { return }
        var open = 1
        while open > 0 {
            skip(to: UInt8(ascii: "<"))
            guard at < bytes.count else { throw unclosed(tag) }
            if isAtEndTag {
                skip(to: UInt8(ascii: ">"))
                at += 1
                open -= 1
            } else if peek(1) == UInt8(ascii: "!"), isAt("<![CDATA[") {
                let terminator = [UInt8(ascii: "]"), UInt8(ascii: "]"), UInt8(ascii: ">")]
                try skip(opening: 9, past: terminator, named: "<![CDATA[")
            } else if try !skipMarkup(), try !startTag().isEmpty {
                open += 1
            }
        }
    }
}

extension [UInt8] {
    /// The blanks before this offset if nothing else stands before it in its line.
    func indentation(before offset: Int) -> [UInt8]? {
        blankStart(before: offset).map { [UInt8](self[$0..<offset]) }
    }

    /// Where those blanks begin.
    func blankStart(before offset: Int) -> Int? {
        var start = offset
        while start > 0, self[start - 1].isBlank { start -= 1 }
        // A file that begins within its first line counts like a line, but for a byte order mark.
        return start == 0 || self[start - 1] == 0x0A || self[start - 1] == 0x0D ? start : nil
    }

    /// The indentation of the first thing in this range that is no white space, if it begins a line.
    func indentation(ofContentIn range: Range<Int>) -> [UInt8]? {
        self[range].firstIndex { !$0.isXMLWhiteSpace }.flatMap { indentation(before: $0) }
    }

    /// The offset after the blanks and one line end from this offset on, if nothing else stands in the rest of the line.
    func lineEnd(after offset: Int) -> Int? {
        var end = offset
        while end < count, self[end].isBlank { end += 1 }
        guard end < count else { return nil }
        if self[end] == 0x0A { return end + 1 }
        guard self[end] == 0x0D else { return nil }
        return end + 1 < count && self[end + 1] == 0x0A ? end + 2 : end + 1
    }
}
