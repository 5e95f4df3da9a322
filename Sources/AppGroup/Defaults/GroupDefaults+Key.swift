import PropertyList

/// The types of values that a group stores as they are: `Bool`, the integers, `Float`, `Double`, `String`, `Date`, `Data`,
/// `URL`, and arrays and dictionaries of them.
///
/// Other types are stored through `Codable` or by their raw values; there is no need to conform to this protocol, and no
/// use in it.
public protocol GroupDefaultsStorable: Codable, Sendable {
    /// The stored value read as this type: with the coercions of the getters, or only where it is of this type. Nil where
    /// it cannot be.
    static func reading(_ stored: StoredValue, isExact: Bool) -> Self?
    /// What is stored for this value; nil where no property list can carry it.
    var storedValue: StoredValue? { get }
}

/// A value as a group holds it: what `GroupDefaultsStorable` is made of.
public struct StoredValue: Sendable, Equatable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

extension GroupDefaults {
    /// A key with the type of its value and the default that stands for an absent one, said in one place.
    ///
    ///     extension GroupDefaults.Key<Bool> {
    ///         static var isDarkMode: Self { Self("isDarkMode", default: false) }
    ///     }
    ///     settings[.isDarkMode] = true
    ///
    /// The default is never written. A default that was registered with ``GroupDefaults/register(defaults:)`` goes before
    /// it. A value of another type that cannot be read as `Value` gives the default, and one report by
    /// ``GroupDefaults/errors``.
    public struct Key<Value: Sendable>: Sendable {
        /// The key as it stands in the group.
        public let name: String
        /// What an absent or unreadable value reads as.
        public let defaultValue: Value
        let codec: Codec<Value>
    }
}

extension GroupDefaults.Key: CustomStringConvertible {
    /// The key's name.
    public var description: String { name }
}

extension GroupDefaults.Key {
    /// A key for a type that is stored as it is.
    ///
    /// - Parameters:
    ///   - name: any text of at most 1024 bytes; dots, `@` and `/` are ordinary characters.
    ///   - defaultValue: what an absent value reads as.
    public init(_ name: String, default defaultValue: Value) where Value: GroupDefaultsStorable {
        (self.name, self.defaultValue, codec) = (name, defaultValue, .storable())
    }

    /// The same for a value that may be absent. Setting nil removes the key.
    public init<Wrapped: GroupDefaultsStorable>(_ name: String, default defaultValue: Value = nil)
    where Value == Wrapped? {
        (self.name, self.defaultValue, codec) = (name, defaultValue, .optional(.storable()))
    }

    /// A key for an enumeration (or anything else with a raw value). A raw value that has no case reads as the default.
    public init(_ name: String, default defaultValue: Value)
    where Value: RawRepresentable, Value.RawValue: GroupDefaultsStorable {
        (self.name, self.defaultValue, codec) = (name, defaultValue, .rawValue())
    }

    /// The same for a value that may be absent.
    public init<Wrapped: RawRepresentable & Sendable>(_ name: String, default defaultValue: Value = nil)
    where Value == Wrapped?, Wrapped.RawValue: GroupDefaultsStorable {
        (self.name, self.defaultValue, codec) = (name, defaultValue, .optional(.rawValue()))
    }

    /// A key for a `Codable` type, stored as property-list structure: its members are entries of a dictionary.
    ///
    /// Optionals are `Codable` as well, and are better read by the forms for them.
    @_disfavoredOverload
    public init(_ name: String, default defaultValue: Value) where Value: Codable {
        (self.name, self.defaultValue, codec) = (name, defaultValue, .codable())
    }

    /// The same for a value that may be absent.
    ///
    /// As disfavored as the form above, or else `default: Profile()` would make a key for `Profile?`.
    @_disfavoredOverload
    public init<Wrapped: Codable & Sendable>(_ name: String, default defaultValue: Value = nil)
    where Value == Wrapped? {
        (self.name, self.defaultValue, codec) = (name, defaultValue, .optional(.codable()))
    }

    /// A key for an enumeration that is `Codable` as well: by its raw value.
    public init(_ name: String, default defaultValue: Value)
    where Value: RawRepresentable & Codable, Value.RawValue: GroupDefaultsStorable {
        (self.name, self.defaultValue, codec) = (name, defaultValue, .rawValue())
    }

    /// The same for a value that may be absent.
    public init<Wrapped: RawRepresentable & Codable & Sendable>(_ name: String, default defaultValue: Value = nil)
    where Value == Wrapped?, Wrapped.RawValue: GroupDefaultsStorable {
        (self.name, self.defaultValue, codec) = (name, defaultValue, .optional(.rawValue()))
    }
}
