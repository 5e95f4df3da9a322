public import FoundationEssentials
import PropertyList

// What a change brings, read as the type that one expects: with the coercions of the getters, nil where it has another type.

extension StoredValue {
    /// The value as `String`, or a number's text.
    public var string: String? { Coercion.string(value) }
    /// The value as `Bool`; numbers but 0 are true, strings by their beginning.
    public var bool: Bool? { Coercion.bool(value) }
    /// The value as `Int`, cut towards zero and to its bounds.
    public var integer: Int? { Coercion.integer(value) }
    /// The value as `Double`.
    public var double: Double? { Coercion.double(value) }
    /// The value as `Date`.
    public var date: Date? { Date.reading(self, isExact: true) }
    /// The value as `Data`.
    public var data: Data? { Data.reading(self, isExact: true) }
    /// The value as `URL`: stored as its text.
    public var url: URL? { URL.reading(self, isExact: true) }

    /// What ``GroupDefaults/object(forKey:)`` gives for it.
    public var object: Any { value.propertyList }

    /// The value as any type that is stored as it is, such as `[String].self`.
    public func read<Result: GroupDefaultsStorable>(_ type: Result.Type = Result.self) -> Result? {
        Codec<Result>.storable().read(value)
    }

    /// The value as a `Codable` type.
    ///
    /// - Throws: ``AppGroupError`` of the code `wrongType`, which says what does not fit.
    @_disfavoredOverload
    public func read<Result: Decodable>(_ type: Result.Type = Result.self) throws(AppGroupError) -> Result {
        try PropertyListValueDecoder.decode(type, from: value)
    }
}

extension StoredValue: CustomStringConvertible {
    /// The value for people, as Swift writes it.
    public var description: String { "\(value.propertyList)" }
}
