import PropertyList
public import Synchronization

/// What copies of one `@AppStorage` property share: which key it is, of which store, and the last value, ready to be read.
///
/// Safe for any thread. What is inlined into the program that reads is what makes a read cheap: there the type is known.
@usableFromInline
final class Setting<Value: Sendable>: Sendable {
    @usableFromInline
    struct State: Sendable {
        /// The value as it was read last, and the cell's stamp of that time.
        @usableFromInline var stamp = Cell.Stamp(version: 0, registrations: 0)
        @usableFromInline var value: Value?
    }

    let key: GroupDefaults.Key<Value>
    let store: GroupDefaults
    @usableFromInline let cell: Cell
    @usableFromInline let state: Mutex<State>

    init(_ key: GroupDefaults.Key<Value>, in store: GroupDefaults?) {
        self.key = key
        self.store = store ?? .defaultAppStorage
        cell = self.store.searchList.cell(PropertyList.Key(key.name))
        state = Mutex(State())
    }

    @inlinable
    var value: Value {
        guard let stamp = cell.noteAccess() else { return read() }
        return state.withLock { $0.stamp == stamp ? $0.value : nil } ?? read()
    }

    /// Reads and keeps what is read.
    @usableFromInline
    func read() -> Value {
        if ForkGuard.isChild { return key.defaultValue }
        store.waitForFirstState()
        let stamp = cell.noteAccess()
        let value = key.read(cell.untracked, reportingTo: store.searchList)
        guard let stamp else { return value }
        let old = state.withLock { state in
            defer { (state.stamp, state.value) = (stamp, value) }
            return state.value
        }
        // It goes when the lock is free again.
        _ = old
        return value
    }

    @usableFromInline
    func set(_ value: Value) {
        store[key] = value
    }

    func reset() {
        store.removeObject(forKey: key.name)
    }
}

// MARK: - Changes of the value as this type

extension Setting {
    /// Two stored values that read alike are no change.
    var changes: GroupDefaults.Updates<ValueChange<Value>> {
        store.changes(for: key.name).compactMap { [self] change in valueChange(change) }
    }

    func observe(_ callback: @escaping @Sendable (Value, Value) -> Void) -> ObservationToken {
        store.observe(key.name) { [self] change in
            if let change = valueChange(change) { callback(change.old, change.new) }
        }
    }

    private func valueChange(_ change: GroupDefaults.Change) -> ValueChange<Value>? {
        let list = store.searchList
        let change = ValueChange(
            old: key.read(change.old?.value, reportingTo: list), new: key.read(change.new?.value, reportingTo: list))
        return change.isNone ? nil : change
    }
}
