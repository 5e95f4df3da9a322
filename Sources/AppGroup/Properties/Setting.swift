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
    func set(_ value: Value, changedFrom old: Value?) {
        store.set(value, changedFrom: old, for: key)
    }

    func reset() {
        store.removeObject(forKey: key.name)
    }
}
