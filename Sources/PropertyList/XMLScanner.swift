/// Walks over the bytes of an XML property list: tags, text, and what stands between them.
///
/// A value type without any state but the place; it belongs to whoever scans. It works on the bytes as they are: they
/// were found to be UTF-8 before, and every byte that means something in XML is ASCII.
struct XMLScanner {
    let bytes: [UInt8]
    /// Where the scanner stands.
    var at: Int

    init(_ bytes: [UInt8], at offset: Int = 0) {
        self.bytes = bytes
        at = offset
    }

    /// The byte so many places on, 0 past the end.
    func peek(_ distance: Int) -> UInt8 {
        at + distance < bytes.count ? bytes[at + distance] : 0
    }

    func isAt(_ text: String) -> Bool {
        var offset = at
        for byte in text.utf8 {
            guard offset < bytes.count, bytes[offset] == byte else { return false }
            offset += 1
        }
        return true
    }

    func failure(_ reason: PropertyListError.Reason, at offset: Int) -> PropertyListError {
        let place = XMLPlace(of: offset, in: bytes)
        return PropertyListError(reason: reason, line: place.line, column: place.column)
    }

    /// The text ended within an element.
    func unclosed(_ tag: XMLTag) -> PropertyListError {
        let line = XMLPlace(of: tag.start, in: bytes).line
        return failure(.unclosedElement(tag.element.name, line: line), at: bytes.count)
    }
}

/// A place in a text as an editor shows it.
struct XMLPlace {
    var line = 1
    var column = 1

    /// Line ends are LF, CR LF and CR; a byte order mark takes no column; a character of several bytes takes one.
    init(of offset: Int, in bytes: [UInt8]) {
        let end = min(offset, bytes.count)
        var index = bytes.starts(with: XMLPlace.byteOrderMark) ? 3 : 0
        while index < end {
            let byte = bytes[index]
            index += 1
            if byte == 0x0A || (byte == 0x0D && !(index < bytes.count && bytes[index] == 0x0A)) {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 && byte != 0x0D {
                column += 1
            }
        }
    }

    static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
}

// MARK: - Between elements

extension XMLScanner {
    /// Goes over white space, comments and processing instructions to the next tag or to the end.
    mutating func skipToTag() throws(PropertyListError) {
        while at < bytes.count {
            if bytes[at].isXMLWhiteSpace {
                at += 1
            } else if bytes[at] == UInt8(ascii: "<") {
                guard try skipMarkup() else { return }
            } else {
                throw failure(bytes[at] == 0 ? .zeroByte : .unexpectedText, at: at)
            }
        }
    }

    /// Goes over the comment or processing instruction that begins here; false if it is something else.
    mutating func skipMarkup() throws(PropertyListError) -> Bool {
        switch peek(1) {
        case UInt8(ascii: "?"):
            try skip(opening: 2, past: [UInt8(ascii: "?"), UInt8(ascii: ">")], named: "<?")
        case UInt8(ascii: "!") where peek(2) == UInt8(ascii: "-") && peek(3) == UInt8(ascii: "-"):
            try skip(opening: 4, past: [UInt8(ascii: "-"), UInt8(ascii: "-"), UInt8(ascii: ">")], named: "<!--")
        default:
            return false
        }
        return true
    }

    /// Goes from the opening to just after the terminator, and returns where that begins.
    @discardableResult
    mutating func skip(opening: Int, past terminator: [UInt8], named name: String) throws(PropertyListError) -> Int {
        var index = at + opening
        while index + terminator.count <= bytes.count {
            if bytes[index] == terminator[0], bytes[index..<index + terminator.count].elementsEqual(terminator) {
                at = index + terminator.count
                return index
            }
            index += 1
        }
        throw failure(.unclosedMarkup(name), at: at)
    }

    /// Goes over `<!DOCTYPE …>`, an internal subset included. Entity declarations are refused outright: nothing good
    /// comes of them in a property list, and bombs are made of them.
    mutating func skipDocumentType() throws(PropertyListError) {
        let start = at
        at += 2
        var isInSubset = false
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): try skipQuoted(from: start)
            case UInt8(ascii: "["): isInSubset = true
            case UInt8(ascii: "]"): isInSubset = false
            case UInt8(ascii: ">") where !isInSubset:
                at += 1
                return
            case UInt8(ascii: "<") where isAt("<!ENTITY"): throw failure(.entityDeclaration, at: at)
            // Both end after their last byte, and the step below goes on from the byte before.
            case UInt8(ascii: "<"): if try skipMarkup() { at -= 1 }
            default: break
            }
            at += 1
        }
        throw failure(.unclosedMarkup("<!DOCTYPE"), at: start)
    }

    /// Goes to the closing quotation mark of the one here.
    private mutating func skipQuoted(from start: Int) throws(PropertyListError) {
        let mark = bytes[at]
        at += 1
        while at < bytes.count, bytes[at] != mark { at += 1 }
        if at >= bytes.count { throw failure(.unclosedMarkup("<!DOCTYPE"), at: start) }
    }
}
