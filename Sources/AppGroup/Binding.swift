/// A value that lives elsewhere, to read, set and observe: what `$property` of ``AppStorage`` is, or a part of it.
///
///     func toggle(_ isOn: Binding<Bool>) { isOn.wrappedValue.toggle() }
///     toggle(appearance.$isDarkMode)
///     let name: Binding<String> = model.$profile.name
///
/// Safe for any thread. Setting a part of a value reads the whole, and sets the whole: not a step that nobody comes between.
@propertyWrapper
@dynamicMemberLookup
public struct Binding<Value: Sendable>: Sendable {
    /// What is behind a binding that comes from a setting.
    private struct Source: Sendable {
        var changes: @Sendable () -> GroupDefaults.Updates<ValueChange<Value>>
        var observe: @Sendable (@escaping @Sendable (Value, Value) -> Void) -> ObservationToken
        var reset: @Sendable () -> Void
        var exists: @Sendable () -> Bool
        var defaultValue: Value
    }

    private let get: @Sendable () -> Value
    private let set: @Sendable (Value) -> Void
    private var source: Source?

    /// A binding made of functions. Nothing is known of its changes: ``changes`` and ``onChange(_:)`` bring none.
    public init(get: @escaping @Sendable () -> Value, set: @escaping @Sendable (Value) -> Void) {
        (self.get, self.set) = (get, set)
    }

    /// A value that never changes, and that setting leaves as it is: for previews and tests.
    public static func constant(_ value: Value) -> Binding {
        Binding(get: { value }, set: { _ in })
    }

    init(_ setting: Setting<Value>) {
        self.init(get: { setting.value }, set: { setting.set($0) })
        source = Source(
            changes: { setting.changes }, observe: { setting.observe($0) }, reset: { setting.reset() },
            exists: { setting.store.exists(setting.key.name) }, defaultValue: setting.key.defaultValue)
    }

    /// The value, wherever it lives.
    public var wrappedValue: Value {
        get { get() }
        nonmutating set { set(newValue) }
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
                var value = get()
                value[keyPath: path] = new
                set(value)
            })
        part.source = source.map { derived($0, path) }
        return part
    }

    private func derived<Part>(
        _ source: Source, _ path: any WritableKeyPath<Value, Part> & Sendable
    ) -> Binding<Part>.Source {
        let defaultPart = source.defaultValue[keyPath: path]
        return Binding<Part>.Source(
            changes: { source.changes().compactMap { $0.part(path) } },
            observe: { callback in
                source.observe { old, new in
                    guard let change = ValueChange(old: old, new: new).part(path) else { return }
                    callback(change.old, change.new)
                }
            },
            reset: { [get, set] in
                guard source.exists() else { return }
                var value = get()
                value[keyPath: path] = defaultPart
                set(value)
            },
            exists: source.exists, defaultValue: defaultPart)
    }
}

extension Binding {
    /// The changes of the value, by whichever process, with old and new: see ``GroupDefaults/changes(for:initial:)``.
    ///
    ///     for await change in appearance.$theme.changes { print(change.old, "→", change.new) }
    public var changes: GroupDefaults.Updates<ValueChange<Value>> {
        source?.changes() ?? GroupDefaults.Updates { NoDelivery() }
    }

    /// Calls back for every change of the value, by whichever process: see ``GroupDefaults/observe(_:initial:_:)``.
    ///
    ///     let token = appearance.$theme.onChange { old, new in print(old, "→", new) }
    ///
    /// - Returns: the observation, which ends with this object: keep it.
    public func onChange(_ callback: @escaping @Sendable (_ old: Value, _ new: Value) -> Void) -> ObservationToken {
        source?.observe(callback) ?? ObservationToken(ObservationToken.Flag()) {}
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

/// A change of a typed value.
public struct ValueChange<Value: Sendable>: Sendable {
    /// What it was.
    public let old: Value
    /// What it is.
    public let new: Value

    /// The change of a part; nil where it has not changed, as far as its type can tell.
    func part<Part>(_ path: KeyPath<Value, Part>) -> ValueChange<Part>? {
        let part = ValueChange<Part>(old: old[keyPath: path], new: new[keyPath: path])
        return part.isNone ? nil : part
    }

    /// Whether old and new are equal. Of types that are not `Equatable` nobody knows: then it is a change.
    var isNone: Bool {
        guard let old = old as? any Equatable else { return false }
        return old.isEqual(to: new)
    }
}

extension ValueChange: Equatable where Value: Equatable {}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool {
        (other as? Self).map { $0 == self } ?? false
    }
}
