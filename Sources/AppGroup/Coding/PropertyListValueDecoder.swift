import FoundationEssentials
import PropertyList

/// Reads a `Codable` value from property-list structure: the counterpart of `PropertyListValueEncoder`.
///
/// Strict: a boolean is no number, text is no number, a number that does not fit is an error. One thing is lenient, since
/// people write 1 where they mean 1.0: an integer is read as a real where that loses nothing.
enum PropertyListValueDecoder {
    static func decode<Result: Decodable>(_ type: Result.Type, from value: Value) throws(AppGroupError) -> Result {
        do {
            return try ValueDecoder(value, []).decode(type)
        } catch let DecodingError.typeMismatch(_, context), let DecodingError.valueNotFound(_, context),
            let DecodingError.keyNotFound(_, context), let DecodingError.dataCorrupted(context)
        {
            let place = PropertyListValueEncoder.place(context.codingPath)
            throw AppGroupError(.wrongType, "the value is no \(type): \(context.debugDescription)\(place)")
        } catch {
            throw AppGroupError(.wrongType, "the value is no \(type): \(error)")
        }
    }
}

/// The decoder of one place.
private struct ValueDecoder: Decoder {
    let value: Value
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    init(_ value: Value, _ path: [any CodingKey]) {
        self.value = value
        codingPath = path
    }

    func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
        // Before their own decoding, as they are encoded.
        if let storable = type as? any GroupDefaultsStorable.Type, Self.isNative(type) {
            guard let result = try read(storable) as? Result else { throw mismatch(type) }
            return result
        }
        return try type.init(from: self)
    }

    private static func isNative(_ type: Any.Type) -> Bool {
        type == Date.self || type == Data.self || type == URL.self
    }

    func read<Result: GroupDefaultsStorable>(_ type: Result.Type) throws -> Result {
        guard let result = Result.reading(StoredValue(value), isExact: true) else { throw mismatch(type) }
        return result
    }

    func mismatch(_ type: Any.Type) -> DecodingError {
        let text = "it holds a value of type \(value.kind.rawValue), which is no \(type)"
        return .typeMismatch(type, DecodingError.Context(codingPath: codingPath, debugDescription: text))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .dictionary(let entries) = value else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(KeyedValues(entries: entries, codingPath: codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw mismatch([Any].self) }
        return UnkeyedValues(elements: elements, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { SingleValue(decoder: self) }
}

private struct SingleValue: SingleValueDecodingContainer {
    let decoder: ValueDecoder
    var codingPath: [any CodingKey] { decoder.codingPath }

    /// Never: what is nil is not stored.
    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { try decoder.read(type) }
    func decode(_ type: String.Type) throws -> String { try decoder.read(type) }
    func decode(_ type: Double.Type) throws -> Double { try decoder.read(type) }
    func decode(_ type: Float.Type) throws -> Float { try decoder.read(type) }
    func decode(_ type: Int.Type) throws -> Int { try decoder.read(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try decoder.read(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try decoder.read(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try decoder.read(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try decoder.read(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try decoder.read(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try decoder.read(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try decoder.read(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try decoder.read(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try decoder.read(type) }
    func decode<Result: Decodable>(_ type: Result.Type) throws -> Result { try decoder.decode(type) }
}

private struct UnkeyedValues: UnkeyedDecodingContainer {
    let elements: [Value]
    let codingPath: [any CodingKey]
    private(set) var currentIndex = 0

    init(elements: [Value], codingPath: [any CodingKey]) {
        self.elements = elements
        self.codingPath = codingPath
    }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    /// The element counts as read when reading it did not throw.
    private mutating func next<Result>(_ type: Any.Type, _ read: (ValueDecoder) throws -> Result) throws -> Result {
        let path = codingPath + [PathIndex(currentIndex)]
        guard !isAtEnd else {
            let context = DecodingError.Context(codingPath: path, debugDescription: "there are no more elements")
            throw DecodingError.valueNotFound(type, context)
        }
        let result = try read(ValueDecoder(elements[currentIndex], path))
        currentIndex += 1
        return result
    }

    mutating func decodeNil() -> Bool { false }
    mutating func decode(_ type: Bool.Type) throws -> Bool { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: String.Type) throws -> String { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: Double.Type) throws -> Double { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: Float.Type) throws -> Float { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: Int.Type) throws -> Int { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: Int8.Type) throws -> Int8 { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: Int16.Type) throws -> Int16 { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: Int32.Type) throws -> Int32 { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: Int64.Type) throws -> Int64 { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: UInt.Type) throws -> UInt { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try next(type) { try $0.read(type) } }
    mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try next(type) { try $0.read(type) } }

    mutating func decode<Result: Decodable>(_ type: Result.Type) throws -> Result {
        try next(type) { try $0.decode(type) }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try next([String: Any].self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next([Any].self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next((any Decoder).self) { $0 } }
}

private struct KeyedValues<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let entries: [PropertyList.Key: Value]
    let codingPath: [any CodingKey]

    var allKeys: [Key] { entries.keys.sorted().compactMap { Key(stringValue: $0.string) } }

    func contains(_ key: Key) -> Bool { entries[PropertyList.Key(key.stringValue)] != nil }

    private func at(_ key: some CodingKey) throws -> ValueDecoder {
        let path = codingPath + [key]
        guard let value = entries[PropertyList.Key(key.stringValue)] else {
            let text = "there is no entry \"\(key.stringValue)\""
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: text))
        }
        return ValueDecoder(value, path)
    }

    func decodeNil(forKey key: Key) throws -> Bool { !contains(key) }
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try at(key).read(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try at(key).read(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try at(key).read(type) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try at(key).read(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try at(key).read(type) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try at(key).read(type) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try at(key).read(type) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try at(key).read(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try at(key).read(type) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try at(key).read(type) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try at(key).read(type) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try at(key).read(type) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try at(key).read(type) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try at(key).read(type) }
    func decode<Result: Decodable>(_ type: Result.Type, forKey key: Key) throws -> Result { try at(key).decode(type) }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try at(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try at(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try at(SuperKey()) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try at(key) }
}
