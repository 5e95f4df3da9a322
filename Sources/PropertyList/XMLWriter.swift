/// Writes values as the elements of an XML property list, in Apple's layout or all on one line.
struct XMLWriter {
    /// How what is written is laid out.
    enum Layout: Equatable {
        /// Without any line break.
        case inline
        /// Every element on a line of its own, the outermost (whose first line is begun already) at this indentation.
        case lines(indentation: [UInt8])
    }

    private(set) var bytes: [UInt8] = []
    private var layout: Layout
    private let unit: [UInt8]
    private let newline: [UInt8]
    private let isASCII: Bool

    /// `unit` is what a level of nesting adds to the indentation, `newline` what ends a line. With `isASCII` all other
    /// characters are written as references.
    init(layout: Layout, unit: [UInt8] = [0x09], newline: [UInt8] = [0x0A], isASCII: Bool = false) {
        self.layout = layout
        self.unit = unit
        self.newline = newline
        self.isASCII = isASCII
    }

    /// Appends literal markup.
    mutating func append(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    mutating func append(raw text: some Collection<UInt8>) {
        bytes.append(contentsOf: text)
    }

    mutating func append(key: Key) {
        append("<key>")
        append(text: key.string)
        append("</key>")
    }

    mutating func append(_ value: Value) {
        switch value {
        case .string(let text):
            append("<string>")
            append(text: text)
            append("</string>")
        case .integer(let number): append("integer", content: number.description)
        case .unsignedInteger(let number): append("integer", content: number.description)
        case .real(let number): append("real", content: Self.text(number))
        case .boolean(let isTrue): append(isTrue ? "<true/>" : "<false/>")
        case .date(let timestamp):
            append("<date>")
            timestamp.appendRFC3339Seconds(to: &bytes)
            append("</date>")
        case .data(let data): append(data: data)
        case .array(let elements): append(elements: elements)
        case .dictionary(let entries): append(entries: entries)
        }
    }

    /// Starts a new line at the present level, where there are lines.
    mutating func breakLine() {
        guard case .lines(let indentation) = layout else { return }
        bytes += newline
        bytes += indentation
    }
}

extension XMLWriter {
    private mutating func append(_ element: String, content: String) {
        append("<")
        append(element)
        append(">")
        bytes.append(contentsOf: content.utf8)
        append("</")
        append(element)
        append(">")
    }

    private mutating func append(elements: [Value]) {
        guard !elements.isEmpty else { return append("<array/>") }
        append("<array>")
        nested { writer in
            for element in elements {
                writer.breakLine()
                writer.append(element)
            }
        }
        breakLine()
        append("</array>")
    }

    private mutating func append(entries: [Key: Value]) {
        guard !entries.isEmpty else { return append("<dict/>") }
        append("<dict>")
        nested { writer in
            for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                writer.breakLine()
                writer.append(key: key)
                writer.breakLine()
                writer.append(value)
            }
        }
        breakLine()
        append("</dict>")
    }

    /// Base64 in lines of 76 characters at the element's own indentation, as Apple's tools have it.
    private mutating func append(data: [UInt8]) {
        append("<data>")
        if layout == .inline || data.isEmpty {
            Base64.append(data[...], to: &bytes)
        } else {
            for start in stride(from: 0, to: data.count, by: 57) {
                breakLine()
                Base64.append(data[start..<min(start + 57, data.count)], to: &bytes)
            }
            breakLine()
        }
        append("</data>")
    }

    private mutating func nested(_ body: (inout XMLWriter) -> Void) {
        let outer = layout
        if case .lines(let indentation) = outer { layout = .lines(indentation: indentation + unit) }
        body(&self)
        layout = outer
    }

    /// `>` is always escaped, so that no text holds `]]>`; a carriage return is, because readers make a line feed of it.
    private mutating func append(text: String) {
        guard text.utf8.contains(where: { Self.isEscaped($0) || (isASCII && $0 >= 0x80) }) else { return append(text) }
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": append("&amp;")
            case "<": append("&lt;")
            case ">": append("&gt;")
            case "\r": append("&#13;")
            case _ where isASCII && !scalar.isASCII: append("&#\(scalar.value);")
            default: bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
            }
        }
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "&") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") || byte == 0x0D
    }

    /// The shortest text that reads back as the same bits, with the spellings of the rest that both CoreFoundation and
    /// Python read.
    private static func text(_ number: Double) -> String {
        if number.isNaN { return "nan" }
        if number.isInfinite { return number < 0 ? "-infinity" : "+infinity" }
        return number.description
    }
}
