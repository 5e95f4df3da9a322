import GroupModel
import PropertyList
import Synchronization

/// The domains that are the process's own: the arguments of its command line, which win over the group, and the registered
/// defaults, which stand for what is nowhere else. Volatile, and the same for every group (Apple's documentation of
/// `UserDefaults`; semantics of `NSArgumentDomain` and `NSRegistrationDomain`). Safe for any thread.
final class ProcessDomains: Sendable {
    static let shared = ProcessDomains(arguments: ArgumentDomain.parse(Array(CommandLine.arguments.dropFirst())))

    /// What one observer has not taken yet. Its lock is held with no other one taken.
    final class Inbox: Sendable {
        fileprivate let steps = Mutex<[ReplicaMachine.Step]>([])

        /// In order, numbered.
        func takeAll() -> [ReplicaMachine.Step] {
            steps.withLock { steps in
                defer { steps = [] }
                return steps
            }
        }
    }

    private struct Registrations {
        var values: [Key: Value] = [:]
        /// The number of the newest step; 0 before the first.
        var newest: UInt64 = 0
        var observers: [(id: UInt64, inbox: Inbox, tell: @Sendable () -> Void)] = []
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

    /// The registered default after a step, for an observer who has taken all up to that one, or a later one, from its inbox.
    func registered(_ key: Key, after number: UInt64, besides inbox: Inbox) -> Value? {
        guard Self.generation > 0 else { return nil }
        return registrations.withLock { registrations in
            // Both under this lock, under which both change.
            let change = inbox.steps.withLock { steps in
                steps.lazy.filter { $0.number > number }.flatMap(\.changes).first { $0.key == key }
            }
            return change.map(\.old) ?? registrations.values[key]
        }
    }

    /// All of them as they are after a step, and which one.
    func snapshot() -> (values: [Key: Value], step: UInt64) {
        registrations.withLock { ($0.values, $0.newest) }
    }

    /// Adds who gets all steps after the one whose number comes back, in order, and is called outside all locks when there
    /// is something in its inbox, on the thread that registers.
    func addObserver(_ tell: @escaping @Sendable () -> Void) -> (id: UInt64, inbox: Inbox, after: UInt64) {
        registrations.withLock { registrations in
            registrations.nextID += 1
            let inbox = Inbox()
            registrations.observers.append((registrations.nextID, inbox, tell))
            return (registrations.nextID, inbox, registrations.newest)
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
        let observers = registrations.withLock { registrations -> [@Sendable () -> Void] in
            var changes: [Change] = []
            for (key, new) in defaults {
                let old = registrations.values.updateValue(new, forKey: key)
                if old != new { changes.append(Change(key: key, old: old, new: new)) }
            }
            guard !changes.isEmpty else { return [] }
            Self.registrationCount.wrappingAdd(1, ordering: .releasing)
            registrations.newest += 1
            var step = ReplicaMachine.Step(changes: changes.sorted { $0.key < $1.key }, isOwn: true)
            step.number = registrations.newest
            for observer in registrations.observers { observer.inbox.steps.withLock { $0.append(step) } }
            return registrations.observers.map(\.tell)
        }
        for tell in observers { tell() }
    }
}
