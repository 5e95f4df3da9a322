import GroupModel
import PropertyList
import Synchronization

/// The domains that are the process's own: the arguments of its command line, which win over the group, and the registered
/// defaults, which stand for what is nowhere else. Volatile, and the same for every group (Apple's documentation of
/// `UserDefaults`; semantics of `NSArgumentDomain` and `NSRegistrationDomain`). Safe for any thread.
final class ProcessDomains: Sendable {
    static let shared = ProcessDomains(arguments: ArgumentDomain.parse(Array(CommandLine.arguments.dropFirst())))

    typealias Observer = @Sendable ([Change]) -> Void

    private struct Registrations {
        var values: [Key: Value] = [:]
        var observers: [(id: UInt64, call: Observer)] = []
        var nextID: UInt64 = 1
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

    /// Hears of changes of the registered defaults, outside all locks, on the thread that registers.
    func addObserver(_ call: @escaping Observer) -> UInt64 {
        registrations.withLock { registrations in
            registrations.nextID += 1
            registrations.observers.append((registrations.nextID, call))
            return registrations.nextID
        }
    }

    func removeObserver(_ id: UInt64) {
        let removed = registrations.withLock { registrations in
            registrations.observers.firstIndex { $0.id == id }.map { registrations.observers.remove(at: $0) }
        }
        _ = removed
    }

    /// Adds to the registered defaults; later ones win. Readers of keys that nothing above provides see them change.
    func register(_ defaults: [Key: Value]) {
        let (changes, observers) = registrations.withLock { registrations in
            var changes: [Change] = []
            for (key, new) in defaults {
                let old = registrations.values.updateValue(new, forKey: key)
                if old != new { changes.append(Change(key: key, old: old, new: new)) }
            }
            return (changes.sorted { $0.key < $1.key }, registrations.observers.map(\.call))
        }
        guard !changes.isEmpty else { return }
        Self.registrationCount.wrappingAdd(1, ordering: .releasing)
        for observer in observers { observer(changes) }
    }
}
