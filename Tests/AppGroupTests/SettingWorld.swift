import GroupClient
import GroupModel
import PropertyList
import Synchronization
import TestSupport

@testable import AppGroup

/// Where the semantics are tried: the same rules have to hold in all of them.
enum WorldKind: String, CaseIterable, Sendable {
    /// No daemon.
    case memory
    /// One process with the daemon.
    case daemon
    /// Two links to the daemon, as two processes have them: what one sets the other reads.
    case twoLinks
}

/// A group to write and the same group to read, perhaps by way of the daemon. Used by one test.
struct SettingWorld {
    let writer: GroupDefaults
    let reader: GroupDefaults
    let daemon: RunningDaemon?

    init(_ kind: WorldKind, configuration: [String] = []) throws {
        switch kind {
        case .memory:
            (writer, daemon) = (.inMemory(), nil)
            reader = writer
        case .daemon, .twoLinks:
            let daemon = try RunningDaemon(configuration: configuration)
            self.daemon = daemon
            writer = Self.open(daemon)
            reader = kind == .daemon ? writer : Self.open(daemon)
        }
    }

    static func open(_ daemon: RunningDaemon, _ name: String = "group.com.example.app") -> GroupDefaults {
        let link = DaemonLink(DaemonAddress(path: daemon.socket), tagPrefix: DaemonLink.newTagPrefix())
        return GroupDefaults(suiteName: name, link: link)
    }

    /// Waits until the reader has seen all that the writer has written.
    func settle() async throws {
        guard daemon != nil else { return }
        let marker = Int64.random(in: .min ... .max)
        await Self.see("\u{2021}marker", .integer(marker), in: reader) {
            writer.submitOrReport([.set("\u{2021}marker", .integer(marker))])
        }
        if reader !== writer { await Self.see("\u{2021}marker", .integer(marker), in: writer) {} }
        try await writer.write { $0.removeObject(forKey: "\u{2021}marker") }
        if reader !== writer { await Self.see("\u{2021}marker", nil, in: reader) {} }
    }

    /// Waits until each has seen all that the other has written.
    func settleBothWays() async throws {
        try await settle()
        guard reader !== writer else { return }
        let marker = Value.integer(.random(in: .min ... .max))
        await Self.see("\u{2021}back", marker, in: writer) { reader.submitOrReport([.set("\u{2021}back", marker)]) }
    }

    /// Waits until a reader sees the value: by the observer, not by looking again and again.
    static func see(_ key: Key, _ value: Value?, in defaults: GroupDefaults, after body: () -> Void) async {
        let once = Once()
        let observer = defaults.searchList.addObserver { _, changes in
            if changes.contains(where: { $0.key == key && $0.new == value }) { once.finish() }
        }
        body()
        if defaults.stored(key.string) == value { once.finish() }
        await once.wait()
        defaults.searchList.removeObserver(observer)
    }
}

/// Something that happens once, at whatever time, and is awaited by one task.
final class Once: Sendable {
    private let state = Mutex<(isDone: Bool, waiter: CheckedContinuation<Void, Never>?)>((false, nil))

    func finish() {
        let waiter = state.withLock { state in
            state.isDone = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if !state.isDone { state.waiter = continuation }
                return state.isDone
            }
            if isDone { continuation.resume() }
        }
    }
}

/// What was reported by a group while a body ran.
func reports(of settings: GroupDefaults, _ body: () throws -> Void) rethrows -> [AppGroupError] {
    let log = ErrorLog()
    let id = settings.searchList.addErrorObserver { log.add($0) }
    defer { settings.searchList.removeErrorObserver(id) }
    try body()
    return log.all
}

final class ErrorLog: Sendable {
    private let errors = Mutex<[AppGroupError]>([])
    func add(_ error: AppGroupError) { errors.withLock { $0.append(error) } }
    var all: [AppGroupError] { errors.withLock { $0 } }
}
