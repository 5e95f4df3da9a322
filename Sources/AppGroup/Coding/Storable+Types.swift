public import FoundationEssentials
import PropertyList

// The types that are stored as they are. What they are read from is the table of `Coercion`.

extension Bool: GroupDefaultsStorable {
    /// What of a stored value reads as this type.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> Bool? {
        guard isExact else { return Coercion.bool(stored.value) }
        guard case .boolean(let flag) = stored.value else { return nil }
        return flag
    }

    /// What is stored for this value.
    public var storedValue: StoredValue? { StoredValue(.boolean(self)) }
}

extension String: GroupDefaultsStorable {
    /// What of a stored value reads as this type.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> String? {
        guard isExact else { return Coercion.string(stored.value) }
        guard case .string(let text) = stored.value else { return nil }
        return text
    }

    /// What is stored for this value.
    public var storedValue: StoredValue? { StoredValue(.string(self)) }
}

// MARK: - Numbers

/// What all integer types have in common.
extension GroupDefaultsStorable where Self: FixedWidthInteger {
    /// What of a stored value reads as this type.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> Self? {
        isExact ? Coercion.exactInteger(stored.value) : Coercion.integer(stored.value)
    }

    /// What is stored for this value.
    public var storedValue: StoredValue? {
        if let number = Int64(exactly: self) { return StoredValue(.integer(number)) }
        return UInt64(exactly: self).map { StoredValue(.unsigned($0)) }
    }
}

extension Int: GroupDefaultsStorable {}
extension Int8: GroupDefaultsStorable {}
extension Int16: GroupDefaultsStorable {}
extension Int32: GroupDefaultsStorable {}
extension Int64: GroupDefaultsStorable {}
extension UInt: GroupDefaultsStorable {}
extension UInt8: GroupDefaultsStorable {}
extension UInt16: GroupDefaultsStorable {}
extension UInt32: GroupDefaultsStorable {}
extension UInt64: GroupDefaultsStorable {}

extension Double: GroupDefaultsStorable {
    /// An integer that a `Double` holds exactly counts as exact: people write 1 where they mean 1.0.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> Double? {
        guard isExact else { return Coercion.double(stored.value) }
        switch stored.value {
        case .real(let number): return number
        case .integer(let number): return Double(exactly: number)
        case .unsignedInteger(let number): return Double(exactly: number)
        default: return nil
        }
    }

    /// What is stored for this value.
    public var storedValue: StoredValue? { StoredValue(.real(self)) }
}

extension Float: GroupDefaultsStorable {
    /// What of a stored value reads as this type.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> Float? {
        Double.reading(stored, isExact: isExact).map { Float($0) }
    }

    /// There is no Float in a property list: it becomes the Double of the same value (U05).
    public var storedValue: StoredValue? { StoredValue(.real(Double(self))) }
}

// MARK: - Foundation's types

extension Date: GroupDefaultsStorable {
    /// What of a stored value reads as this type.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> Date? {
        guard case .date(let timestamp) = stored.value else { return nil }
        return Date(timestamp)
    }

    /// What is stored for this value.
    public var storedValue: StoredValue? { Timestamp(self).map { StoredValue(.date($0)) } }
}

extension Data: GroupDefaultsStorable {
    /// What of a stored value reads as this type.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> Data? {
        guard case .data(let bytes) = stored.value else { return nil }
        return Data(bytes)
    }

    /// What is stored for this value.
    public var storedValue: StoredValue? { StoredValue(.data([UInt8](self))) }
}

extension URL: GroupDefaultsStorable {
    /// What of a stored value reads as this type.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> URL? { URLForm.url(stored.value) }

    /// What is stored for this value.
    public var storedValue: StoredValue? { StoredValue(URLForm.value(self)) }
}

// MARK: - Collections

/// Elements are not coerced: an array with one element of another type is no array of this type (U13).
extension Array: GroupDefaultsStorable where Element: GroupDefaultsStorable {
    /// What of a stored value reads as this type.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> [Element]? {
        guard case .array(let elements) = stored.value else { return nil }
        var result: [Element] = []
        result.reserveCapacity(elements.count)
        for element in elements {
            guard let element = Element.reading(StoredValue(element), isExact: true) else { return nil }
            result.append(element)
        }
        return result
    }

    /// What is stored for this value.
    public var storedValue: StoredValue? {
        var values: [Value] = []
        values.reserveCapacity(count)
        for element in self {
            guard let stored = element.storedValue else { return nil }
            values.append(stored.value)
        }
        return StoredValue(.array(values))
    }
}

extension Dictionary: GroupDefaultsStorable where Key == String, Value: GroupDefaultsStorable {
    /// What of a stored value reads as this type.
    public static func reading(_ stored: StoredValue, isExact: Bool) -> [String: Value]? {
        guard case .dictionary(let entries) = stored.value else { return nil }
        var result: [String: Value] = [:]
        result.reserveCapacity(entries.count)
        for (key, entry) in entries {
            guard let entry = Value.reading(StoredValue(entry), isExact: true) else { return nil }
            result[key.string] = entry
        }
        return result
    }

    /// What is stored for this value.
    public var storedValue: StoredValue? {
        var entries: [PropertyList.Key: PropertyList.Value] = [:]
        entries.reserveCapacity(count)
        for (key, value) in self {
            guard let stored = value.storedValue else { return nil }
            entries[PropertyList.Key(key)] = stored.value
        }
        return StoredValue(.dictionary(entries))
    }
}
