import GroupModel
import PropertyList

// Wherever a key is named by its text it can be named by a typed key: then the compiler knows the type of the value, and
// what is read is the key's default where nothing is stored.
//
// The steps that are made in the daemon (`increment`, `toggle`, `append`, `merge`) begin, where the group has no value, at
// what the key reads as: its default. The forms with texts know no default, and begin at 0, false or empty.

extension GroupDefaults {
    /// The value of a typed key, or its default.
    ///
    ///     settings[.isDarkMode].toggle()
    ///
    /// What cannot be stored leaves the key as it is and is reported by ``errors``.
    ///
    /// A structure or a dictionary is stored by what changes of it: setting a member in place, as in
    /// `settings[.profile].name = "Ada"`, sends that member and lets the others be what they are by then, so that two
    /// programs that set different members at the same time do not undo each other. See <doc:MembersOfCodableValues>.
    public subscript<Value>(key: Key<Value>) -> Value {
        get {
            guard let stored = stored(key.name) else { return key.defaultValue }
            return key.read(stored, reportingTo: searchList)
        }
        set { set(newValue, for: key) }
        _modify {
            let old = self[key]
            var new = old
            defer { set(new, changedFrom: old, for: key) }
            yield &new
        }
    }

    /// Stores `new`, which was made by changing `old`; nil where it was made of nothing.
    func set<Value>(_ new: Value, changedFrom old: Value? = nil, for key: Key<Value>) {
        reporting { () throws(AppGroupError) in
            let name = PropertyList.Key(key.name)
            let edit = try edit(to: new, from: old, for: key, over: backend.replica.value(name))
            if let edit { try submit([edit]) }
        }
    }

    /// Removes the key from the group, so that it reads as its default again.
    public func reset<Value>(_ key: Key<Value>) {
        removeObject(forKey: key.name)
    }

    /// Removes the key from the group, as ``reset(_:)`` does.
    public func removeObject<Value>(forKey key: Key<Value>) {
        removeObject(forKey: key.name)
    }

    /// Stores a typed key's default where the group has no value, for programs that read the key without knowing it (R67).
    public func ensure<Value>(_ key: Key<Value>) {
        guard !exists(key.name) else { return }
        self[key] = key.defaultValue
    }

    /// Whether the group itself holds this key, as in ``exists(_:)-(String)``.
    public func exists<Value>(_ key: Key<Value>) -> Bool {
        exists(key.name)
    }

    /// Whether a reader finds a value for this key, as in ``contains(_:)-(String)``.
    public func contains<Value>(_ key: Key<Value>) -> Bool {
        contains(key.name)
    }

    /// Whether an administrator has set this key, as in ``objectIsForced(forKey:)-(String)``.
    public func objectIsForced<Value>(forKey key: Key<Value>) -> Bool {
        objectIsForced(forKey: key.name)
    }

    /// Registers a typed key's default, for code that reads the key by its name: see ``register(defaults:)``.
    public func register<Value>(defaultOf key: Key<Value>) {
        register(key.defaultValue, forKey: key)
    }

    /// Registers a default for a typed key, which goes before the key's own: see ``register(defaults:)``. A value for which
    /// nothing is stored, such as nil, registers nothing.
    public func register<Value>(_ value: Value, forKey key: Key<Value>) {
        reporting { () throws(AppGroupError) in
            if ForkGuard.isChild { throw ForkGuard.error }
            guard let value = try encoded(value, for: key) else { return }
            ProcessDomains.shared.register([PropertyList.Key(key.name): value])
        }
    }
}

// MARK: - Steps made in the daemon

extension GroupDefaults {
    /// Adds to an integer, exactly. An absent key counts as the key's default.
    public func increment<Value: FixedWidthInteger & GroupDefaultsStorable>(_ key: Key<Value>, by addend: Int = 1) {
        edit { $0.increment(key, by: addend) }
    }

    /// Adds to a number. An absent key counts as the key's default.
    public func increment<Value: BinaryFloatingPoint & GroupDefaultsStorable>(_ key: Key<Value>, by addend: Double) {
        edit { $0.increment(key, by: addend) }
    }

    /// Flips a boolean. An absent key counts as the key's default.
    public func toggle(_ key: Key<Bool>) {
        edit { $0.toggle(key) }
    }

    /// Adds one element to an array. An absent key counts as the key's default.
    public func append<Element>(_ element: Element, forKey key: Key<[Element]>) {
        edit { $0.append(element, forKey: key) }
    }

    /// Puts entries into a dictionary, and lets the others stand. An absent key counts as the key's default.
    public func merge<Entry>(_ entries: [String: Entry], forKey key: Key<[String: Entry]>) {
        edit { $0.merge(entries, forKey: key) }
    }

    private func edit(_ body: (inout Edits) -> Void) {
        reporting { () throws(AppGroupError) in try submit(try edits(body)) }
    }
}

extension GroupDefaults.Edits {
    /// The value of a typed key, or its default. Of a structure or a dictionary only what changes is edited, as in
    /// the subscript of ``GroupDefaults``.
    public subscript<Value>(key: GroupDefaults.Key<Value>) -> Value {
        get { value(PropertyList.Key(key.name)).flatMap(key.codec.read) ?? key.defaultValue }
        set { set(newValue, from: nil, for: key) }
        _modify {
            let old = self[key]
            var new = old
            defer { set(new, from: old, for: key) }
            yield &new
        }
    }

    private mutating func set<Value>(_ new: Value, from old: Value?, for key: GroupDefaults.Key<Value>) {
        add { edits throws(AppGroupError) in
            let present = edits.ownValue(PropertyList.Key(key.name))
            return try edits.settings.edit(to: new, from: old, for: key, over: present)
        }
    }

    /// Removes a key, so that it reads as its default again.
    public mutating func reset<Value>(_ key: GroupDefaults.Key<Value>) {
        removeObject(forKey: key.name)
    }

    /// Removes a key.
    public mutating func removeObject<Value>(forKey key: GroupDefaults.Key<Value>) {
        removeObject(forKey: key.name)
    }

    /// Adds to an integer, in the daemon: no increment is lost. An absent key counts as the key's default.
    public mutating func increment<Value: FixedWidthInteger & GroupDefaultsStorable>(
        _ key: GroupDefaults.Key<Value>, by addend: Int = 1
    ) {
        begin(key, isEmpty: { $0 == 0 })
        increment(key.name, by: addend)
    }

    /// Adds to a number, in the daemon. An absent key counts as the key's default.
    public mutating func increment<Value: BinaryFloatingPoint & GroupDefaultsStorable>(
        _ key: GroupDefaults.Key<Value>, by addend: Double
    ) {
        begin(key, isEmpty: { $0 == 0 })
        increment(key.name, by: addend)
    }

    /// Flips a boolean, in the daemon. An absent key counts as the key's default.
    public mutating func toggle(_ key: GroupDefaults.Key<Bool>) {
        begin(key, isEmpty: { !$0 })
        toggle(key.name)
    }

    /// Adds one element to an array, in the daemon. An absent key counts as the key's default.
    public mutating func append<Element>(_ element: Element, forKey key: GroupDefaults.Key<[Element]>) {
        begin(key, isEmpty: \.isEmpty)
        add { edits throws(AppGroupError) in
            guard case .array(let elements)? = try edits.settings.encoded([element], for: key),
                let element = elements.first
            else { throw AppGroupError.unstorable([Element].self) }
            return Edit(key: PropertyList.Key(key.name), operation: .append, value: element)
        }
    }

    /// Puts entries into a dictionary, in the daemon; the other entries stay. An absent key counts as the key's default.
    public mutating func merge<Entry>(_ entries: [String: Entry], forKey key: GroupDefaults.Key<[String: Entry]>) {
        begin(key, isEmpty: \.isEmpty)
        add { edits throws(AppGroupError) in
            let value = try edits.settings.encoded(entries, for: key)
            return Edit(key: PropertyList.Key(key.name), operation: .merge, value: value)
        }
    }

    /// Stores what the key reads as where the group has no value, unless that is what an absent key counts as anyway.
    ///
    /// Two programs that do so at the same moment both begin at the default, and the step of one of them is lost; it takes
    /// an absent key and a default other than 0, false or empty.
    private mutating func begin<Value>(_ key: GroupDefaults.Key<Value>, isEmpty: (Value) -> Bool) {
        let name = PropertyList.Key(key.name)
        guard ownValue(name) == nil else { return }
        let start = settings.searchList.below(name).flatMap(key.codec.read) ?? key.defaultValue
        if !isEmpty(start) { self[key] = start }
    }
}

extension GroupDefaults {
    /// Stores a value if the group's present one is the one expected, as one step that nobody comes between.
    ///
    ///     let isMine = try await settings.compareAndSet(.owner, expected: nil, to: "me")
    ///
    /// An absent key is what is expected where `expected` is the key's default. Otherwise as
    /// ``compareAndSet(_:expected:to:)-(String,_,_)``.
    ///
    /// - Returns: whether it was stored.
    /// - Throws: ``AppGroupError``: `invalidValue` where no property list carries the value, `cancelled`, or the daemon's
    ///   refusal.
    public func compareAndSet<Value>(
        _ key: Key<Value>, expected: Value, to new: Value
    ) async throws(AppGroupError) -> Bool {
        let wanted = try encoded(expected, for: key)
        let standsForAbsence = try wanted == encoded(key.defaultValue, for: key)
        return try await compareAndSet(try edit(setting: new, for: key)) { current in
            current == wanted || current == nil && standsForAbsence
        }
    }
}

// MARK: - Observation

extension GroupDefaults {
    /// The changes of a typed key, with old and new value.
    ///
    ///     for await change in settings.changes(for: .theme) { print(change.old, "→", change.new) }
    ///
    /// Two stored values that read alike are no change. Otherwise as ``changes(for:initial:)-(String,_)``.
    ///
    /// - Parameters:
    ///   - key: the typed key.
    ///   - initial: whether the present value comes first, marked by ``ValueChange/isInitial``.
    /// - Returns: the sequence, which listens from now on.
    public func changes<Value>(for key: Key<Value>, initial: Bool = false) -> Updates<ValueChange<Value>> {
        changes(for: key.name, initial: initial).compactMap { [self] change in
            key.change(change, reportingTo: searchList)
        }
    }

    /// Calls back for every change of a typed key: see ``observe(_:initial:_:)-(String,_,_)`` for the threads.
    ///
    ///     let token = settings.observe(.theme) { change in print(change.old, "→", change.new) }
    ///
    /// - Returns: the observation, which ends with this object: keep it.
    public func observe<Value>(
        _ key: Key<Value>, initial: Bool = false, _ callback: @escaping @Sendable (ValueChange<Value>) -> Void
    ) -> ObservationToken {
        observe(key.name, initial: initial) { [self] change in
            if let change = key.change(change, reportingTo: searchList) { callback(change) }
        }
    }

    /// Calls back on the main actor for the changes of a typed key.
    ///
    /// - Returns: the observation, which ends with this object: keep it.
    public func observe<Value>(
        _ key: Key<Value>, initial: Bool = false,
        onMain callback: @escaping @MainActor @Sendable (ValueChange<Value>) -> Void
    ) -> ObservationToken {
        follow(changes(for: key, initial: initial), onMain: callback)
    }

    /// Calls back on an executor of your own for the changes of a typed key.
    ///
    /// - Returns: the observation, which ends with this object: keep it.
    public func observe<Value>(
        _ key: Key<Value>, initial: Bool = false, on executor: any TaskExecutor,
        _ callback: @escaping @Sendable (ValueChange<Value>) -> Void
    ) -> ObservationToken {
        follow(changes(for: key, initial: initial), on: executor, callback)
    }
}
