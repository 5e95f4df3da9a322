/// The packed form of values: what a value takes in memory where many are kept, without an object for each text.
///
/// A tag, then the payload, which ends where the form ends: the text's UTF-8, the eight bytes of a number (the lowest
/// first), the data. Elements of an array, and keys and values of a dictionary, each follow their length in four bytes.
/// It is of one process only and never stored or sent, so that it may change at any time.
extension Value {
    private enum Tag {
        static let string: UInt8 = 0
        static let integer: UInt8 = 1
        static let unsignedInteger: UInt8 = 2
        static let real: UInt8 = 3
        static let no: UInt8 = 4
        static let yes: UInt8 = 5
        static let date: UInt8 = 6
        static let data: UInt8 = 7
        static let array: UInt8 = 8
        static let dictionary: UInt8 = 9
    }

    /// The size of the packed form, in bytes.
    package var packedSize: Int {
        switch self {
        case .string(let text): 1 + text.utf8.count
        case .integer, .unsignedInteger, .real, .date: 9
        case .boolean: 1
        case .data(let bytes): 1 + bytes.count
        case .array(let elements): elements.reduce(1) { $0 + 4 + $1.packedSize }
        case .dictionary(let entries): entries.reduce(1) { $0 + 8 + $1.key.string.utf8.count + $1.value.packedSize }
        }
    }

    /// Appends the packed form.
    package func pack(to bytes: inout [UInt8]) {
        switch self {
        case .string(let text):
            bytes.append(Tag.string)
            bytes.append(contentsOf: text.utf8)
        case .integer(let number): Self.pack(Tag.integer, UInt64(bitPattern: number), to: &bytes)
        case .unsignedInteger(let number): Self.pack(Tag.unsignedInteger, number, to: &bytes)
        case .real(let number): Self.pack(Tag.real, number.bitPattern, to: &bytes)
        case .boolean(let flag): bytes.append(flag ? Tag.yes : Tag.no)
        case .date(let date): Self.pack(Tag.date, UInt64(bitPattern: date.microseconds), to: &bytes)
        case .data(let data):
            bytes.append(Tag.data)
            bytes.append(contentsOf: data)
        case .array(let elements):
            bytes.append(Tag.array)
            for element in elements {
                bytes.append(size: element.packedSize)
                element.pack(to: &bytes)
            }
        case .dictionary(let entries):
            bytes.append(Tag.dictionary)
            for (key, value) in entries {
                bytes.append(size: key.string.utf8.count)
                bytes.append(contentsOf: key.string.utf8)
                bytes.append(size: value.packedSize)
                value.pack(to: &bytes)
            }
        }
    }

    /// The value of which `bytes` are the packed form, no more and no less; traps where they are not.
    package init(packed bytes: Span<UInt8>) {
        let payload = bytes.extracting(droppingFirst: 1)
        switch bytes[0] {
        case Tag.string: self = .string(String(copying: payload))
        case Tag.integer: self = .integer(Int64(bitPattern: payload.word(at: 0)))
        case Tag.unsignedInteger: self = .unsignedInteger(payload.word(at: 0))
        case Tag.real: self = .real(Double(bitPattern: payload.word(at: 0)))
        case Tag.no: self = .boolean(false)
        case Tag.yes: self = .boolean(true)
        case Tag.date: self = .date(Timestamp(microseconds: Int64(bitPattern: payload.word(at: 0))))
        case Tag.data: self = .data([UInt8](copying: payload))
        case Tag.array: self = .array(Self.elements(packed: payload))
        case Tag.dictionary: self = .dictionary(Self.entries(packed: payload))
        default: preconditionFailure("no packed value begins with \(bytes[0])")
        }
    }

    /// Whether this is the packed form of a string: its UTF-8 is all but the first byte.
    static func isString(packed bytes: Span<UInt8>) -> Bool { bytes[0] == Tag.string }

    /// Appends the packed form of a string value, given its UTF-8.
    package static func pack(string text: ArraySlice<UInt8>, to bytes: inout [UInt8]) {
        bytes.append(Tag.string)
        bytes.append(contentsOf: text)
    }

    private static func pack(_ tag: UInt8, _ word: UInt64, to bytes: inout [UInt8]) {
        bytes.append(tag)
        for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }

    private static func elements(packed bytes: Span<UInt8>) -> [Value] {
        var elements: [Value] = []
        var index = 0
        while index < bytes.count {
            elements.append(Value(packed: bytes.extracting(bytes.part(at: &index))))
        }
        return elements
    }

    private static func entries(packed bytes: Span<UInt8>) -> [Key: Value] {
        var entries: [Key: Value] = [:]
        var index = 0
        while index < bytes.count {
            let key = Key(String(copying: bytes.extracting(bytes.part(at: &index))))
            entries[key] = Value(packed: bytes.extracting(bytes.part(at: &index)))
        }
        return entries
    }
}

extension String {
    /// The text of these bytes, which are UTF-8; what is not becomes U+FFFD.
    package init(copying bytes: Span<UInt8>) {
        if let text = try? UTF8Span(validating: bytes) {
            self.init(copying: text)
        } else {
            self.init(decoding: [UInt8](copying: bytes), as: UTF8.self)
        }
    }
}

extension [UInt8] {
    fileprivate mutating func append(size: Int) {
        let size = UInt32(size)
        for shift in stride(from: UInt32(0), to: 32, by: 8) { append(UInt8(truncatingIfNeeded: size >> shift)) }
    }
}

extension Span<UInt8> {
    /// Where the part is whose length stands at `index`, which goes behind it.
    fileprivate func part(at index: inout Int) -> Range<Int> {
        var size = 0
        for step in 0..<4 { size |= Int(self[index + step]) << (step * 8) }
        let start = index + 4
        index = start + size
        return start..<index
    }
}
