import GroupModel
import PropertyList

// Observation by asynchronous sequences. What counts is the effective value: what is set to what it was, or hidden by a
// higher place of the search list, is no change. Changes of other processes, of the command-line tool and of edited files
// come like those of this process.

extension GroupDefaults {
    /// The changes of one key.
    ///
    ///     for await change in settings.changes(for: "theme") {
    ///         guard !(change.origin?.isOwn ?? false) else { continue }
    ///         show(theme: change.new?.string ?? "light")
    ///     }
    ///
    /// For a consumer slower than the changes one pending change stands for all: with the oldest `old` and the newest
    /// `new`, or nothing at all where the value has come back.
    ///
    /// - Parameters:
    ///   - key: any key; dots, `@` and blanks are nothing special.
    ///   - initial: whether the present value comes first, marked by ``Change/isInitial``. No change is missed or told twice
    ///     between it and the first change.
    /// - Returns: the sequence, which listens from now on.
    public func changes(for key: String, initial: Bool = false) -> Updates<Change> {
        changes(.key(PropertyList.Key(key)), initial: initial)
    }

    /// The changes of all keys that a pattern matches: `*` is any run of characters, `?` any one, `\` makes the next
    /// ordinary.
    ///
    ///     for await change in settings.changes(matching: "ui.*") { … }
    ///
    /// - Parameters:
    ///   - pattern: the pattern; every text is one.
    ///   - initial: whether the present values come first, one element for each key.
    /// - Returns: the sequence, which listens from now on.
    public func changes(matching pattern: String, initial: Bool = false) -> Updates<Change> {
        changes(.pattern(Glob(pattern)), initial: initial)
    }

    /// The changes of all keys.
    ///
    /// - Parameter initial: whether the present values come first, one element for each key.
    /// - Returns: the sequence, which listens from now on.
    public func changes(initial: Bool = false) -> Updates<Change> {
        changes(.all, initial: initial)
    }

    /// The changes of all keys, those that were made together as one element.
    ///
    /// For a consumer slower than the commits up to 64 of them wait; then the newest takes in what comes, and says so by
    /// ``Commit/coalesced``.
    public func commits() -> Updates<Commit> {
        Updates { [self] in
            Delivery<PendingCommits> { inbox in
                let (_, remove) = observe(.all, values: .none) { inbox.receive($0) }
                return (PendingCommits(), remove)
            }
        }
    }

    private func changes(_ selection: KeySelection, initial: Bool) -> Updates<Change> {
        Updates { [self] in
            Delivery<PendingChanges> { inbox in
                let (values, remove) = observe(selection, values: initial ? selection : .none) { inbox.receive($0) }
                return (PendingChanges(initial: initial ? selection.initialChanges(values) : []), remove)
            }
        }
    }

    /// Adds an observer; the removal that comes back keeps what is observed.
    func observe(
        _ selection: KeySelection, values: KeySelection, _ receive: @escaping @Sendable (NewsOfChanges) -> Void
    ) -> (values: [PropertyList.Key: Value], remove: @Sendable () -> Void) {
        waitForFirstState()
        let (id, values) = searchList.addObserver(valuesOf: values) { step, changes in
            let origin = Origin(step)
            let selected = changes.filter { selection.includes($0.key) }
            guard !selected.isEmpty else { return }
            receive(
                NewsOfChanges(
                    changes: selected.map { Change($0, in: step, by: origin) }, origin: origin,
                    revision: step.revision.map(Int.init), coalesced: step.coalesced.map { Int($0) } ?? 1))
        }
        return (values, { [self] in searchList.removeObserver(id) })
    }
}

// MARK: - Typed values

extension GroupDefaults {
    /// The values of a typed key: its default where there is none.
    ///
    ///     for await isDark in settings.values(for: .isDarkMode) { … }
    ///
    /// For a consumer slower than the changes the newest value is all that waits. Equal values do not follow one another.
    ///
    /// - Parameters:
    ///   - key: the typed key.
    ///   - initial: whether the present value comes first.
    /// - Returns: the sequence, which listens from now on.
    public func values<Value>(for key: Key<Value>, initial: Bool = true) -> Updates<Value> {
        changes(for: key.name, initial: initial).compactMap { [self] change in
            key.change(change, reportingTo: searchList)?.new
        }
    }

    /// The values of a key as a type that is stored as it is, or as an optional for `nil` where there is none or another.
    ///
    ///     for await name in settings.values(for: "name", as: String.self) { print(name ?? "nobody") }
    public func values<Value: GroupDefaultsStorable>(
        for key: String, as type: Value.Type, initial: Bool = true
    ) -> Updates<Value?> {
        values(for: Key<Value?>(key), initial: initial)
    }

    /// The same for an enumeration, or anything else with a raw value.
    public func values<Value: RawRepresentable & Sendable>(
        for key: String, as type: Value.Type, initial: Bool = true
    ) -> Updates<Value?> where Value.RawValue: GroupDefaultsStorable {
        values(for: Key<Value?>(key), initial: initial)
    }

    /// The same for an enumeration that is `Codable` as well: by its raw value.
    public func values<Value: RawRepresentable & Codable & Sendable>(
        for key: String, as type: Value.Type, initial: Bool = true
    ) -> Updates<Value?> where Value.RawValue: GroupDefaultsStorable {
        values(for: Key<Value?>(key), initial: initial)
    }

    /// The same for a `Codable` type.
    public func values<Value: Codable & Sendable>(
        for key: String, as type: Value.Type, initial: Bool = true
    ) -> Updates<Value?> {
        values(for: Key<Value?>(key), initial: initial)
    }
}

extension GroupDefaults.Key {
    /// The stored value as this key reads it; what cannot be read is the default, and reported once.
    func read(_ stored: PropertyList.Value?, reportingTo list: SearchList) -> Value {
        guard let stored else { return defaultValue }
        if let value = codec.read(stored) { return value }
        list.reportOnce(.mistyped(name, stored, Value.self))
        return defaultValue
    }
}
