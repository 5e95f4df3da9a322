/// A value that lives elsewhere, to read, set and observe: what `$property` of ``AppStorage`` is, or a part of it.
///
///     func toggle(_ isOn: Binding<Bool>) { isOn.wrappedValue.toggle() }
///     toggle(appearance.$isDarkMode)
///     let name: Binding<String> = model.$profile.name
///
/// Safe for any thread. Setting a part of a value reads the whole and stores the member that has changed; see
/// <doc:MembersOfCodableValues>.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value: Sendable>: Sendable {
    /// What is behind a binding that comes from a setting.
    private struct Source: Sendable {
        var changes: @Sendable (_ initial: Bool) -> GroupDefaults.Updates<ValueChange<Value>>
        var observe: @Sendable (_ initial: Bool, @escaping @Sendable (ValueChange<Value>) -> Void) -> ObservationToken
        var reset: @Sendable () -> Void
        var exists: @Sendable () -> Bool
        var defaultValue: Value
    }

    private let get: @Sendable () -> Value
    /// With what the new value was made from, if it was made from one.
    private let set: @Sendable (Value, _ changedFrom: Value?) -> Void
    private var source: Source?

    /// A binding made of functions. Nothing is known of its changes: ``changes`` and `onChange` bring none.
    public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
        self.init(get: get) { new, _ in set(new) }
    }

    private init(get: @escaping @Sendable () -> Value, change: @escaping @Sendable (Value, Value?) -> Void) {
        (self.get, set) = (get, change)
    }

    /// A value that never changes, and that setting leaves as it is: for previews and tests.
    public static func constant(_ value: Value) -> Binding {
        Binding(get: { value }, set: { _ in })
    }

    init(_ setting: Setting<Value>) {
        self.init(get: { setting.value }, change: { setting.set($0, changedFrom: $1) })
        source = Source(
            changes: { setting.store.changes(for: setting.key, initial: $0) },
            observe: { setting.store.observe(setting.key, initial: $0, $1) }, reset: { setting.reset() },
            exists: { setting.store.exists(setting.key.name) }, defaultValue: setting.key.defaultValue)
    }

    /// The value, wherever it lives.
    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue, nil) }
        nonmutating _modify {
            let old = get()
            var new = old
            defer { set(new, old) }
            yield &new
        }
    }

    /// The binding itself, so that `$` of a binding is one.
    public var projectedValue: Binding { self }

    /// A binding to a part of the value.
    public subscript<Part: Sendable>(
        dynamicMember path: any WritableKeyPath<Value, Part> & Sendable
    ) -> Binding<Part> {
        var part = Binding<Part>(
            get: { [get] in get()[keyPath: path] },
            set: { [get, set] new in
                let old = get()
                var value = old
                value[keyPath: path] = new
                set(value, old)
            })
        part.source = source.map { derived($0, path) }
        return part
    }

    private func derived<Part>(
        _ source: Source, _ path: any WritableKeyPath<Value, Part> & Sendable
    ) -> Binding<Part>.Source {
        let defaultPart = source.defaultValue[keyPath: path]
        return Binding<Part>.Source(
            changes: { source.changes($0).compactMap { $0.part(path) } },
            observe: { initial, callback in
                source.observe(initial) { change in
                    if let part = change.part(path) { callback(part) }
                }
            },
            reset: { [get, set] in
                guard source.exists() else { return }
                let old = get()
                var value = old
                value[keyPath: path] = defaultPart
                set(value, old)
            },
            exists: source.exists, defaultValue: defaultPart)
    }
}

extension Binding {
    /// The changes of the value, by whichever process, with old and new: see ``GroupDefaults/changes(for:initial:)-(String,_)``.
    ///
    ///     for await change in appearance.$theme.changes { print(change.old, "→", change.new) }
    public var changes: GroupDefaults.Updates<ValueChange<Value>> { changes(initial: false) }

    /// The same, beginning with the present value where `initial` is true: ``ValueChange/isInitial`` marks it.
    public func changes(initial: Bool) -> GroupDefaults.Updates<ValueChange<Value>> {
        source?.changes(initial) ?? GroupDefaults.Updates { NoDelivery() }
    }

    /// Calls back for every change of the value, by whichever process: see ``GroupDefaults/observe(_:initial:_:)-(String,_,_)``.
    ///
    ///     let token = appearance.$theme.onChange { old, new in print(old, "→", new) }
    ///
    /// - Parameters:
    ///   - initial: whether the callback is first called with the present value as both, before this function returns.
    ///   - callback: what is called, with one change at a time.
    /// - Returns: the observation, which ends with this object: keep it.
    public func onChange(
        initial: Bool = false, _ callback: @escaping @Sendable (_ old: Value, _ new: Value) -> Void
    ) -> ObservationToken {
        onChange(initial: initial) { change in callback(change.old, change.new) }
    }

    /// The same with all that is known of the change: who made it, and the revision.
    ///
    ///     let token = appearance.$theme.onChange { change in
    ///         if change.origin?.isOwn == false { print("from elsewhere:", change.new) }
    ///     }
    ///
    /// - Returns: the observation, which ends with this object: keep it.
    public func onChange(
        initial: Bool = false, _ callback: @escaping @Sendable (ValueChange<Value>) -> Void
    ) -> ObservationToken {
        source?.observe(initial, callback) ?? ObservationToken(ObservationToken.Flag()) {}
    }

    /// Removes the key from the group, so that the value is its default again. For a part of a value: sets it to what it is
    /// in the default.
    public func reset() {
        source?.reset()
    }

    /// Whether the group itself holds the key; false while the value is a default. Always true for a binding made of
    /// functions.
    public var exists: Bool {
        source?.exists() ?? true
    }
}
