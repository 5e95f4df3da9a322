import LinuxIO
import ServiceIO
import Synchronization

/// The listeners that were bound in a race, alive until the round is over.
final class Winners: Sendable {
    private let listeners = Mutex<[ListeningSocket]>([])

    func add(_ listener: ListeningSocket) { listeners.withLock { $0.append(listener) } }

    var count: Int { listeners.withLock { $0.count } }

    /// Opened once, by another thread.
    final class Gate: Sendable {
        private let pipe: (read: Int32, write: Int32)?

        init() { pipe = try? FileDescriptor.makePipe() }

        func open() {
            if let pipe { _ = FileDescriptor(owning: pipe.write) }
        }

        func wait() {
            guard let pipe else { return }
            _ = try? FileDescriptor(owning: pipe.read).readAll(limit: 1)
        }
    }
}
