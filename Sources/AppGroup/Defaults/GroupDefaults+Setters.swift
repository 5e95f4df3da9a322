import GroupModel
import PropertyList

// The setters do not throw and do not wait. What they set is seen at once in this process, and goes to the daemon and to
// everybody else on its own, in the order of the calls. What cannot be stored leaves the key as it is and is reported by
// `errors`. To be told whether the daemon has taken it, `await` a `write`, or `commit()` after any number of sets.

extension GroupDefaults {
    /// Stores a property-list value: a string, number, boolean, date, data, or an array or dictionary of them.
    ///
    ///     settings.set(["size": 12, "name": "Inter"] as [String: Any], forKey: "font")
    ///
    /// Nil removes the key. Anything that no property list has (a nil inside, a URL inside, an object) is refused as a
    /// whole, and reported by ``errors``; ``setValue(_:forKey:)`` is the form that throws.
    public func set(_ value: Any?, forKey key: String) {
        reporting { () throws(AppGroupError) in try setValue(value, forKey: key) }
    }

    /// The same for the elements of an array.
    public func set(_ value: [Any], forKey key: String) {
        set(value as Any?, forKey: key)
    }

    /// The same for the entries of a dictionary.
    public func set(_ value: [String: Any], forKey key: String) {
        set(value as Any?, forKey: key)
    }

    /// Stores a value of a type that is stored as it is.
    ///
    /// A `Float` becomes the `Double` of the same value, a `URL` its text, a `Date` keeps its microseconds.
    public func set<Stored: GroupDefaultsStorable>(_ value: Stored, forKey key: String) {
        guard let stored = value.storedValue else { return searchList.report(unstorable(Stored.self, key)) }
        submitOrReport([.set(PropertyList.Key(key), stored.value)])
    }

    /// The same for a value that may be absent: nil removes the key.
    public func set<Stored: GroupDefaultsStorable>(_ value: Stored?, forKey key: String) {
        guard let value else { return removeObject(forKey: key) }
        set(value, forKey: key)
    }

    /// Stores a `Codable` value as property-list structure: its members become entries of a dictionary, which every program
    /// and every person can read.
    ///
    ///     try settings.set(Profile(name: "Ada"), forKey: "profile")
    ///
    /// Members that are nil are left out.
    ///
    /// - Throws: ``AppGroupError`` of the code `invalidValue` when the value does not encode, or holds what no property list
    ///   carries; it says where. Then nothing is stored.
    public func set<Encoded: Encodable>(_ value: Encoded, forKey key: String) throws(AppGroupError) {
        try submit([.set(PropertyList.Key(key), try encoded(value, key))])
    }

    /// The same for a value that may be absent: nil removes the key.
    public func set<Encoded: Encodable>(_ value: Encoded?, forKey key: String) throws(AppGroupError) {
        guard let value else { return removeObject(forKey: key) }
        try set(value, forKey: key)
    }

    /// Stores a property-list value, as ``set(_:forKey:)-(Any?,_)`` does, or throws.
    ///
    /// - Throws: ``AppGroupError`` of the code `invalidValue` where no property list carries the value, `invalidKey` where
    ///   none carries the key. Then nothing is stored.
    public func setValue(_ value: Any?, forKey key: String) throws(AppGroupError) {
        try submit([try edit(setting: value, forKey: key)])
    }

    /// Removes the key from the group. Readers see what a lower place of the search list has, such as a registered default.
    public func removeObject(forKey key: String) {
        submitOrReport([.remove(PropertyList.Key(key))])
    }

    /// Removes every key of the group, as one commit, also keys that other programs have just set and this process has not
    /// heard of. Seen at once in this process; readers see what lower places of the search list have.
    ///
    /// The group itself stays, and its documents do. What the daemon refuses is taken back and reported by ``errors``.
    public func removeAll() {
        reporting { () throws(AppGroupError) in try submit(.reset) }
    }

    /// The value as ``object(forKey:)`` gives it; setting it is ``set(_:forKey:)-(Any?,_)``.
    public subscript(key: String) -> Any? {
        get { object(forKey: key) }
        set { set(newValue, forKey: key) }
    }
}

// MARK: - What they have in common

extension GroupDefaults {
    func reporting(_ body: () throws(AppGroupError) -> Void) {
        do throws(AppGroupError) {
            try body()
        } catch {
            searchList.report(error)
        }
    }

    func edit(setting value: Any?, forKey key: String) throws(AppGroupError) -> Edit {
        guard let value, !Value.isNil(value) else { return .remove(PropertyList.Key(key)) }
        return .set(PropertyList.Key(key), try propertyListValue(value, key))
    }

    func edit<Value>(setting value: Value, for key: Key<Value>) throws(AppGroupError) -> Edit {
        let name = PropertyList.Key(key.name)
        return try encoded(value, for: key).map { .set(name, $0) } ?? .remove(name)
    }

    /// Nil stands for "no value".
    func encoded<Value>(_ value: Value, for key: Key<Value>) throws(AppGroupError) -> PropertyList.Value? {
        do throws(AppGroupError) {
            return try key.codec.write(value)
        } catch {
            throw AppGroupError(error.code, "\(key.name): \(error.description)", keys: [key.name])
        }
    }

    func propertyListValue(_ value: Any, _ key: String) throws(AppGroupError) -> Value {
        do throws(Value.NotPropertyList) {
            return try Value(propertyList: value)
        } catch {
            let place = error.path.isEmpty ? "" : " at \(error.path)"
            throw AppGroupError(.invalidValue, "the value of \(key) is refused: \(error.reason)\(place)", keys: [key])
        }
    }

    func encoded(_ value: some Encodable, _ key: String) throws(AppGroupError) -> Value {
        do throws(AppGroupError) {
            return try PropertyListValueEncoder.encode(value)
        } catch {
            throw AppGroupError(error.code, "the value of \(key) is refused: \(error.description)", keys: [key])
        }
    }

    private func unstorable(_ type: Any.Type, _ key: String) -> AppGroupError {
        AppGroupError(
            .invalidValue, "the value of \(key) is refused: a property list cannot carry this \(type)", keys: [key])
    }
}

extension AppGroupError {
    /// What a wrong-typed value is reported with. The value itself is not told.
    static func mistyped(_ key: String, _ stored: Value, _ type: Any.Type) -> AppGroupError {
        AppGroupError(
            .wrongType, "\(key) holds a value of type \(stored.kind.rawValue) that is no \(type): the default is used",
            keys: [key])
    }
}
