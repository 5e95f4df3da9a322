/// Why a text is no property list that we can read, and where: what `status` shows to the person who has to mend the file.
package struct PropertyListError: Error, Equatable, Sendable {
    package var reason: Reason
    /// Counted from 1; 0 where there are no lines.
    package var line: Int
    /// Counted from 1, in Unicode scalars.
    package var column: Int

    package init(reason: Reason, line: Int, column: Int) {
        self.reason = reason
        self.line = line
        self.column = column
    }

    package enum Reason: Equatable, Sendable {
        /// Nothing but white space: often the moment between a truncation and the write that follows.
        case empty
        case tooLarge(byteLimit: Int)
        /// UTF-16 or UTF-32.
        case unsupportedEncoding(String)
        case invalidUTF8
        case zeroByte
        /// The text begins with something else than `<`.
        case notXML
        /// The text ends within an element that began on that line.
        case unclosedElement(String, line: Int)
        case unclosedMarkup(String)
        case malformedTag
        case unexpectedText
        case unexpectedElement(String)
        case unknownElement(String)
        case wrongEndTag(expected: String, found: String)
        case valueWithoutKey
        case keyWithoutValue
        case noValue
        case rootIsNoDictionary(String)
        case contentAfterEnd
        case entityDeclaration
        case unknownEntity(String)
        case malformedReference
        case malformedInteger
        case integerOutOfRange
        case malformedReal
        case malformedDate
        case malformedData
        case tooDeep
        /// A binary property list whose structure does not hold; it has no lines, so that line and column are 0.
        case malformedBinary
        /// A null, a UID or a set of a binary property list.
        case unsupportedObject(String)
        /// A binary property list that names one object so often that it would fill the memory.
        case tooManyObjects
        /// A value that the format cannot hold.
        case uncarriable(String)
    }
}

extension PropertyListError: CustomStringConvertible {
    package var description: String {
        line > 0 ? "line \(line), column \(column): \(reason)" : reason.description
    }
}

extension PropertyListError.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .empty: "the file is empty"
        case .tooLarge(let byteLimit): "the file is larger than \(byteLimit) bytes"
        case .unsupportedEncoding(let name): "the file is \(name) text; only UTF-8 is read"
        case .invalidUTF8: "a byte that is not UTF-8"
        case .zeroByte: "a zero byte"
        case .notXML: "the file is no XML property list"
        case .unclosedElement(let name, let line): "the file ends within the <\(name)> of line \(line)"
        case .unclosedMarkup(let opening): "a \(opening) that nothing closes"
        case .malformedTag: "a tag that is not well formed"
        case .unexpectedText: "text where only elements may stand"
        case .unexpectedElement(let name): "a \(Self.tag(name)) where none may stand"
        case .unknownElement: "an element that property lists do not have (a < in a text is written &lt;)"
        case .wrongEndTag(let expected, let found): "\(Self.tag("/" + found)) where </\(expected)> was expected"
        case .valueWithoutKey: "a value without a key"
        case .keyWithoutValue: "a key without a value"
        case .noValue: "the property list has no value"
        case .rootIsNoDictionary(let name): "the property list holds a <\(name)>, not a <dict>"
        case .contentAfterEnd: "content after the end of the property list"
        case .entityDeclaration: "an entity declaration; they are not supported"
        case .unknownEntity: "an entity that property lists do not have (an & in a text is written &amp;)"
        case .malformedReference: "an & that begins no character reference (write &amp;)"
        case .malformedInteger: "an <integer> that is no number"
        case .integerOutOfRange: "an <integer> that does not fit 64 bits"
        case .malformedReal: "a <real> that is no number"
        case .malformedDate: "a <date> that is not of the form 2026-11-30T09:00:00Z"
        case .malformedData: "<data> that is not base64"
        case .malformedBinary: "a binary property list that is damaged"
        case .unsupportedObject(let name): "a \(name), which no setting can be"
        case .tooManyObjects: "a binary property list that unfolds to an unreasonable size"
        case .uncarriable(let what): "a property list cannot hold \(what)"
        case .tooDeep: "arrays and dictionaries nested deeper than \(Value.depthLimit) levels"
        }
    }

    private static let elements: Set<String> = [
        "plist", "dict", "array", "key", "string", "integer", "real", "true", "false", "date", "data",
    ]

    /// Of what is no element of ours not even the name: errors come into logs, and what stands there may be a value with a
    /// `<` in it, a password say.
    private static func tag(_ name: String) -> String {
        elements.contains(name.hasPrefix("/") ? String(name.dropFirst()) : name) ? "<\(name)>" : "tag"
    }
}
