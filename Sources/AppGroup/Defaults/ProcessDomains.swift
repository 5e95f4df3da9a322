import GroupModel
import PropertyList
import Synchronization

/// The domains that are the process's own: the arguments of its command line, which win over the group, and the registered
/// defaults, which stand for what is nowhere else. Volatile, and the same for every group (Apple's documentation of
/// `UserDefaults`; semantics of `NSArgumentDomain` and `NSRegistrationDomain`). Safe for any thread.
final class ProcessDomains: Sendable {
    static let shared = ProcessDomains(arguments: ArgumentDomain.parse(Array(CommandLine.arguments.dropFirst())))

    private struct Registrations {
        var values: [Key: Value] = [:]
        var listeners = LayerListeners()

        mutating func take(_ defaults: [Key: Value]) -> [Change] {
            var changes: [Change] = []
            for (key, new) in defaults {
                let old = values.updateValue(new, forKey: key)
                if old != new { changes.append(Change(key: key, old: old, new: new)) }
            }
            return changes.sorted { $0.key < $1.key }
        }
    }

    /// Fixed for the life of the process.
    private let arguments: [Key: Value]
    private let registrations = Mutex(Registrations())
    private static let registrationCount = Atomic<UInt64>(0)

    init(arguments: [Key: Value]) {
        self.arguments = arguments
    }

    func argument(_ key: Key) -> Value? {
        arguments.isEmpty ? nil : arguments[key]
    }

    var allArguments: [Key: Value] { arguments }

    func registered(_ key: Key) -> Value? {
        guard Self.generation > 0 else { return nil }
        return registrations.withLock { $0.values[key] }
    }

    /// Grows after every change of registered defaults.
    static var generation: UInt64 { registrationCount.load(ordering: .acquiring) }

    var allRegistered: [Key: Value] { registrations.withLock { $0.values } }

    /// Adds who hears of changes of the registered defaults.
    func addListener(_ listener: any LayerListener) {
        registrations.withLock { $0.listeners.add(listener) }
    }

    func removeListener(_ listener: any LayerListener) {
        let removed = registrations.withLock { $0.listeners.remove(listener) }
        _ = removed
    }

    /// Adds to the registered defaults; later ones win. Readers of keys that nothing above provides see them change.
    func register(_ defaults: [Key: Value]) {
        let listeners = ChangeOrder.withLock {
            let (changes, listeners) = registrations.withLock { ($0.take(defaults), $0.listeners.all) }
            guard !changes.isEmpty else { return [any LayerListener]() }
            Self.registrationCount.wrappingAdd(1, ordering: .releasing)
            let step = ReplicaMachine.Step(changes: changes, isOwn: true)
            for listener in listeners { listener.hear(step, of: .registered) }
            return listeners
        }
        for listener in listeners { listener.tell() }
    }
}
