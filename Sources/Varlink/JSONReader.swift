/// Reads one JSON text, strictly as RFC 8259 has it, and stricter where Varlink is: UTF-8 only, no member twice, no half
/// surrogate pairs, integers exact, nothing after the value.
///
/// A value used for one text. The bytes are handed to each step instead of being held: a span must not be stored.
/// The depth is bounded, because each level is a call on the stack.
struct JSONReader {
    /// More would be a risk for the stack, whatever a caller asks for.
    private static let greatestDepth = 512

    var position = 0
    private let depthLimit: Int

    init(depthLimit: Int) {
        self.depthLimit = min(depthLimit, Self.greatestDepth)
    }

    /// The whole text as one value.
    mutating func document(in bytes: Span<UInt8>) throws(JSONError) -> JSON {
        let json = try value(in: bytes, depth: 0)
        skipWhiteSpace(in: bytes)
        guard position == bytes.count else { throw JSONError(.trailingBytes, at: position) }
        return json
    }

    mutating func value(in bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSON {
        skipWhiteSpace(in: bytes)
        switch try peek(in: bytes) {
        case UInt8(ascii: "\""):
            position += 1
            return .string(try string(in: bytes))
        case UInt8(ascii: "{"):
            return .object(try object(in: bytes, depth: depth + 1))
        case UInt8(ascii: "["):
            return .array(try array(in: bytes, depth: depth + 1))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return try number(in: bytes)
        case UInt8(ascii: "t"):
            return try literal("true", .boolean(true), in: bytes)
        case UInt8(ascii: "f"):
            return try literal("false", .boolean(false), in: bytes)
        case UInt8(ascii: "n"):
            return try literal("null", .null, in: bytes)
        default:
            throw JSONError(.unexpectedByte, at: position)
        }
    }

    private mutating func object(in bytes: Span<UInt8>, depth: Int) throws(JSONError) -> JSONObject {
        try enter(depth)
        var object = JSONObject()
        if skip(UInt8(ascii: "}"), in: bytes) { return object }
        // Most objects have a few members: growing by one, two, four would cost more than the room.
        object.reserveCapacity(4)
        repeat {
            skipWhiteSpace(in: bytes)
            let start = position
            try expect(UInt8(ascii: "\""), in: bytes)
            let name = try string(in: bytes)
            skipWhiteSpace(in: bytes)
            try expect(UInt8(ascii: ":"), in: bytes)
            let value = try value(in: bytes, depth: depth)
            guard object.insertNew(name, value) else { throw JSONError(.duplicateMember, at: start) }
        } while skip(UInt8(ascii: ","), in: bytes)
        try expect(UInt8(ascii: "}"), in: bytes)
        return object
    }

    private mutating func array(in bytes: Span<UInt8>, depth: Int) throws(JSONError) -> [JSON] {
        try enter(depth)
        var elements: [JSON] = []
        if skip(UInt8(ascii: "]"), in: bytes) { return elements }
        repeat {
            elements.append(try value(in: bytes, depth: depth))
        } while skip(UInt8(ascii: ","), in: bytes)
        try expect(UInt8(ascii: "]"), in: bytes)
        return elements
    }

    private mutating func literal(
        _ text: String, _ value: JSON, in bytes: Span<UInt8>
    ) throws(JSONError) -> JSON {
        for expected in text.utf8 {
            try expect(expected, in: bytes)
        }
        return value
    }

    /// Steps over the opening bracket of a container.
    private mutating func enter(_ depth: Int) throws(JSONError) {
        guard depth <= depthLimit else { throw JSONError(.tooDeep, at: position) }
        position += 1
    }
}

// MARK: - Bytes

extension JSONReader {
    func peek(in bytes: Span<UInt8>) throws(JSONError) -> UInt8 {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
        return bytes[position]
    }

    mutating func expect(_ expected: UInt8, in bytes: Span<UInt8>) throws(JSONError) {
        guard try peek(in: bytes) == expected else { throw JSONError(.unexpectedByte, at: position) }
        position += 1
    }

    /// Steps over white space and, if it follows, over the byte given.
    private mutating func skip(_ byte: UInt8, in bytes: Span<UInt8>) -> Bool {
        skipWhiteSpace(in: bytes)
        guard position < bytes.count, bytes[position] == byte else { return false }
        position += 1
        return true
    }

    /// Most texts have none: to see that is one step.
    @inline(__always)
    mutating func skipWhiteSpace(in bytes: Span<UInt8>) {
        if position < bytes.count, bytes[position] > UInt8(ascii: " ") { return }
        skipSomeWhiteSpace(in: bytes)
    }

    private mutating func skipSomeWhiteSpace(in bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
            default: return
            }
        }
    }

    /// A part of the text as a string, its UTF-8 checked.
    static func text(_ range: Range<Int>, of bytes: Span<UInt8>) throws(JSONError) -> String {
        do throws(UTF8.ValidationError) {
            return String(copying: try UTF8Span(validating: bytes.extracting(range)))
        } catch {
            throw JSONError(.invalidUTF8, at: range.lowerBound + error.byteOffsets.lowerBound)
        }
    }
}

extension JSON {
    /// How deep a text may nest: 64 levels of settings values, each two levels of JSON, and the envelope around them.
    package static let depthLimit = 192

    package init(parsing bytes: Span<UInt8>, depthLimit: Int = JSON.depthLimit) throws(JSONError) {
        var reader = JSONReader(depthLimit: depthLimit)
        self = try reader.document(in: bytes)
    }

    package init(parsing bytes: [UInt8], depthLimit: Int = JSON.depthLimit) throws(JSONError) {
        try self.init(parsing: bytes.span, depthLimit: depthLimit)
    }

    package init(parsing bytes: ArraySlice<UInt8>, depthLimit: Int = JSON.depthLimit) throws(JSONError) {
        try self.init(parsing: bytes.span, depthLimit: depthLimit)
    }

    package init(parsing text: String, depthLimit: Int = JSON.depthLimit) throws(JSONError) {
        try self.init(parsing: text.utf8.span, depthLimit: depthLimit)
    }
}
