import PropertyList
import Synchronization

/// The domains that are the process's own: the arguments of its command line, which win over the group, and the registered
/// defaults, which stand for what is nowhere else. Volatile, and the same for every group (Apple's documentation of
/// `UserDefaults`; semantics of `NSArgumentDomain` and `NSRegistrationDomain`). Safe for any thread.
final class ProcessDomains: Sendable {
    static let shared = ProcessDomains(arguments: ArgumentDomain.parse(Array(CommandLine.arguments.dropFirst())))

    /// Fixed for the life of the process.
    private let arguments: [Key: Value]
    private let registrations = Mutex<[Key: Value]>([:])

    init(arguments: [Key: Value]) {
        self.arguments = arguments
    }

    func argument(_ key: Key) -> Value? {
        arguments.isEmpty ? nil : arguments[key]
    }

    var allArguments: [Key: Value] { arguments }

    func registered(_ key: Key) -> Value? {
        registrations.withLock { $0[key] }
    }

    var allRegistered: [Key: Value] { registrations.withLock { $0 } }

    /// Adds to the registered defaults; later ones win.
    func register(_ defaults: [Key: Value]) {
        registrations.withLock { $0.merge(defaults) { $1 } }
    }
}
