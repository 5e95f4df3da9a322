import PropertyList

/// How a type is stored and read: what typed keys have in common. A value; its functions are pure.
struct Codec<Value: Sendable>: Sendable {
    /// Nil where the stored value cannot be read as this type.
    var read: @Sendable (PropertyList.Value) -> Value?
    /// Nil stands for "no value": the key is removed.
    var write: @Sendable (Value) throws(AppGroupError) -> PropertyList.Value?
}

extension Codec {
    static func storable() -> Codec where Value: GroupDefaultsStorable {
        Codec(
            read: { Value.reading(StoredValue($0), isExact: false) },
            write: { value throws(AppGroupError) in
                guard let stored = value.storedValue else { throw .unstorable(Value.self) }
                return stored.value
            })
    }

    static func rawValue() -> Codec where Value: RawRepresentable, Value.RawValue: GroupDefaultsStorable {
        Codec(
            read: { Value.RawValue.reading(StoredValue($0), isExact: false).flatMap(Value.init(rawValue:)) },
            write: { value throws(AppGroupError) in
                guard let stored = value.rawValue.storedValue else { throw .unstorable(Value.self) }
                return stored.value
            })
    }

    /// Optionals are `Codable` as well, and come here where the compiler has the choice: nil removes the key.
    static func codable() -> Codec where Value: Codable {
        Codec(
            read: { stored in
                do throws(AppGroupError) {
                    return try PropertyListValueDecoder.decode(Value.self, from: stored)
                } catch {
                    return nil
                }
            },
            write: { value throws(AppGroupError) in
                PropertyList.Value.isNil(value) ? nil : try PropertyListValueEncoder.encode(value)
            })
    }

    /// Not for a stored nil: there is none.
    static func optional<Wrapped: Sendable>(_ wrapped: Codec<Wrapped>) -> Codec where Value == Wrapped? {
        Codec(
            read: { wrapped.read($0).map(Optional.some) },
            write: { value throws(AppGroupError) in
                guard let value else { return nil }
                return try wrapped.write(value)
            })
    }
}

extension AppGroupError {
    static func unstorable(_ type: Any.Type) -> AppGroupError {
        AppGroupError(.invalidValue, "a property list cannot carry this \(type)")
    }
}

extension Codec {
    /// Whether what is stored of this value are members or entries, each of which may be changed by itself.
    ///
    /// Of an enumeration with associated values the one entry stands for the case: never beside another.
    static func hasMembers(_ value: Any) -> Bool {
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .struct, .class, .dictionary: return true
        case .optional: return mirror.children.first.map { hasMembers($0.value) } ?? false
        default: return false
        }
    }
}
