// The initializers are those of `AppStorage` on Apple's platforms, and more types. `store` is honoured by all of them; nil
// stands for `GroupDefaults.defaultAppStorage`.

extension AppStorage {
    /// A property of a type that is stored as it is: `Bool`, an integer, `Double`, `Float`, `String`, `URL`, `Data`, `Date`, or
    /// an array or a dictionary of such.
    ///
    /// - Parameters:
    ///   - wrappedValue: the default, which is never written.
    ///   - key: any key; dots and `@` are nothing special.
    ///   - store: the group; nil for ``GroupDefaults/defaultAppStorage``.
    public init(wrappedValue: Value, _ key: String, store: GroupDefaults? = nil) where Value: GroupDefaultsStorable {
        self.init(key: .init(key, default: wrappedValue), in: store)
    }

    /// The same for a value that may be absent. Setting nil removes the key.
    public init<Wrapped: GroupDefaultsStorable>(
        wrappedValue: Value = nil, _ key: String, store: GroupDefaults? = nil
    ) where Value == Wrapped? {
        self.init(key: .init(key, default: wrappedValue), in: store)
    }

    /// A property of an enumeration, or of anything else with a raw value. A stored raw value that has no case reads as the
    /// default.
    public init(wrappedValue: Value, _ key: String, store: GroupDefaults? = nil)
    where Value: RawRepresentable, Value.RawValue: GroupDefaultsStorable {
        self.init(key: .init(key, default: wrappedValue), in: store)
    }

    /// The same for a value that may be absent.
    public init<Wrapped: RawRepresentable & Sendable>(
        wrappedValue: Value = nil, _ key: String, store: GroupDefaults? = nil
    ) where Value == Wrapped?, Wrapped.RawValue: GroupDefaultsStorable {
        self.init(key: .init(key, default: wrappedValue), in: store)
    }

    /// A property of a `Codable` type, stored as property-list structure.
    ///
    /// Optionals are `Codable` as well, and are better read by the forms for them.
    @_disfavoredOverload
    public init(wrappedValue: Value, _ key: String, store: GroupDefaults? = nil) where Value: Codable {
        self.init(key: .init(key, default: wrappedValue), in: store)
    }

    /// The same for a value that may be absent.
    ///
    /// As disfavored as the form above, or else `= Profile()` would be a `Profile?`.
    @_disfavoredOverload
    public init<Wrapped: Codable & Sendable>(
        wrappedValue: Value = nil, _ key: String, store: GroupDefaults? = nil
    ) where Value == Wrapped? {
        self.init(key: .init(key, default: wrappedValue), in: store)
    }

    /// A property of an enumeration that is `Codable` as well: stored by its raw value.
    public init(wrappedValue: Value, _ key: String, store: GroupDefaults? = nil)
    where Value: RawRepresentable & Codable, Value.RawValue: GroupDefaultsStorable {
        self.init(key: .init(key, default: wrappedValue), in: store)
    }

    /// The same for a value that may be absent.
    public init<Wrapped: RawRepresentable & Codable & Sendable>(
        wrappedValue: Value = nil, _ key: String, store: GroupDefaults? = nil
    ) where Value == Wrapped?, Wrapped.RawValue: GroupDefaultsStorable {
        self.init(key: .init(key, default: wrappedValue), in: store)
    }

    /// A property for a typed key, which knows its default.
    ///
    ///     @AppStorage(.isDarkMode, store: settings) var isDarkMode: Bool
    public init(_ key: GroupDefaults.Key<Value>, store: GroupDefaults? = nil) {
        self.init(key: key, in: store)
    }
}
