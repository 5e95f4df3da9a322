public import FoundationEssentials
import PropertyList

// All getters read what is effective: the arguments of the command line, then the group, the suites added to it, and the
// registered defaults. They touch no socket, may be called on any thread, and are noted by `withObservationTracking`.

extension GroupDefaults {
    /// The value as it is stored: a `String`, `Int`, `UInt64` (above `Int.max`), `Double`, `Bool`, `Date`, `Data`, `[Any]` or
    /// `[String: Any]`.
    ///
    /// Each casts to its own type only: a stored 1 is no `Bool`, and true no `Int`. A URL comes as its text.
    ///
    /// - Returns: nil when the key is nowhere.
    public func object(forKey key: String) -> Any? {
        stored(key)?.propertyList
    }

    /// The text; of a number its decimal form, of a boolean "1" or "0". Nil for an absent key and for other types.
    public func string(forKey key: String) -> String? {
        let value = stored(key)
        // What most are is handed on as it is.
        if case .string(let text)? = value { return text }
        return Coercion.string(value)
    }

    /// The elements, if the value is an array.
    public func array(forKey key: String) -> [Any]? {
        guard case .array(let elements)? = stored(key) else { return nil }
        return elements.map(\.propertyList)
    }

    /// The entries, if the value is a dictionary.
    ///
    /// Swift takes keys that differ in Unicode composition only for one, while a group keeps both: then one of the entries
    /// is seen here.
    public func dictionary(forKey key: String) -> [String: Any]? {
        guard case .dictionary(let entries)? = stored(key) else { return nil }
        return Value.propertyList(entries)
    }

    /// The elements, if the value is an array of strings and of nothing else: numbers in it are not converted.
    public func stringArray(forKey key: String) -> [String]? {
        Coercion.strings(stored(key))
    }

    /// The bytes, if the value is data.
    public func data(forKey key: String) -> Data? {
        stored(key).flatMap { Data.reading(StoredValue($0), isExact: true) }
    }

    /// The date, if the value is one: to the microsecond, or to the second where it was read from a file.
    public func date(forKey key: String) -> Date? {
        stored(key).flatMap { Date.reading(StoredValue($0), isExact: true) }
    }

    /// The URL, if the value is the text of one, an absolute or `~` path, or a URL archived by Apple's `UserDefaults`.
    public func url(forKey key: String) -> URL? {
        URLForm.url(stored(key))
    }

    /// Whether the value is true: any number but 0, or text that begins like "YES", "true" or a number that is not 0.
    /// False for an absent key and for other types.
    public func bool(forKey key: String) -> Bool {
        Coercion.bool(stored(key)) ?? false
    }

    /// The number, cut to an integer and to the bounds of `Int`; of text, the integer that it begins with; 1 for true. 0 for
    /// an absent key and for other types.
    public func integer(forKey key: String) -> Int {
        Coercion.integer(stored(key)) ?? 0
    }

    /// The integer, if the value is one that fits: nothing is converted, and nil is not 0.
    public func int64(forKey key: String) -> Int64? {
        Coercion.exactInteger(stored(key))
    }

    /// The integer, if the value is one that fits: nothing is converted, and nil is not 0.
    public func uint64(forKey key: String) -> UInt64? {
        Coercion.exactInteger(stored(key))
    }

    /// The number; of text, the number that it begins with; 1 for true. 0 for an absent key and for other types.
    public func float(forKey key: String) -> Float {
        Float(double(forKey: key))
    }

    /// The number; of text, the number that it begins with; 1 for true. 0 for an absent key and for other types.
    public func double(forKey key: String) -> Double {
        Coercion.double(stored(key)) ?? 0
    }

    /// A `Codable` value, from the structure that `set(_:forKey:)` stores.
    ///
    ///     let profile = try settings.value(Profile.self, forKey: "profile")
    ///
    /// - Returns: nil when the key is nowhere.
    /// - Throws: ``AppGroupError`` of the code `wrongType` when the value is there and is no `Result`; it says what does not
    ///   fit, and where in the value.
    public func value<Result: Decodable>(
        _ type: Result.Type = Result.self, forKey key: String
    ) throws(AppGroupError) -> Result? {
        guard let stored = stored(key) else { return nil }
        do throws(AppGroupError) {
            return try PropertyListValueDecoder.decode(type, from: stored)
        } catch {
            throw AppGroupError(error.code, "\(key): \(error.description)", keys: [key])
        }
    }

    /// Whether a reader finds a value for this key, wherever it comes from.
    public func contains(_ key: String) -> Bool {
        stored(key) != nil
    }

    /// Whether the group itself holds this key: false where what readers see is a registered default or an argument.
    public func exists(_ key: String) -> Bool {
        isOwn(PropertyList.Key(key))
    }

    /// Whether an administrator has set this key: a control for it should be disabled, since a set of it is refused with
    /// the code `forced`. Noted by `withObservationTracking`, which tells when it changes.
    public func objectIsForced(forKey key: String) -> Bool {
        if ForkGuard.isChild { return false }
        waitForFirstState()
        return searchList.isForced(PropertyList.Key(key))
    }
}

extension GroupDefaults {
    /// Whether the group itself holds the key, noted by whoever tracks what it reads.
    func isOwn(_ key: PropertyList.Key) -> Bool {
        if ForkGuard.isChild { return false }
        waitForFirstState()
        return searchList.isOwn(key)
    }
}
