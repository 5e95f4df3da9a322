import Observation
import PropertyList
import Synchronization

/// One key of one group, for those who read it again and again: its present value, and the registrar by which
/// `withObservationTracking` and `Observations` learn of a change.
///
/// Safe for any thread. Made at the first read of a key, and there as long as its replica. The value is written by the
/// replica, under its lock; the registrar is told afterwards, outside all locks.
final class Cell: Observable, Sendable {
    private let stored: Mutex<Value?>
    private let registrar = ObservationRegistrar()

    init(_ value: Value?) {
        stored = Mutex(value)
    }

    /// The value, noted by whoever is tracking what it reads.
    var value: Value? {
        registrar.access(self, keyPath: \.value)
        return stored.withLock { $0 }
    }

    /// Under the replica's lock.
    func store(_ value: Value?) {
        stored.withLock { $0 = value }
    }

    /// What a reader sees has changed. Runs the trackers' code: no lock may be held.
    func announce() {
        registrar.willSet(self, keyPath: \.value)
        registrar.didSet(self, keyPath: \.value)
    }
}
