import Synchronization

/// The one order of all changes that readers in this process see: of groups and of registered defaults.
///
/// A search list shows several layers at once. Whoever changes one of them holds this lock while it does, and while the
/// lists note what their readers see change by it, so that what a list notes last is how its layers are. Nothing is told
/// under it. It may be asked for by who holds the lock of a link or of a group without a daemon; the locks of lists, groups
/// and registered defaults come after it.
enum ChangeOrder {
    private static let lock = Mutex(())

    static func withLock<Result>(_ body: () -> sending Result) -> sending Result {
        lock.withLock { _ in body() }
    }
}

/// What is told of changes in one layer of a search list.
protocol LayerListener: AnyObject, Sendable {
    /// Notes a step that readers see from now on. Called within the change order, the layer's own lock being free.
    func hear(_ step: ReplicaMachine.Step, of layer: Layer)

    /// Tells of what was noted. Called when all locks are free.
    func tell()
}

/// Where a search list looks, besides the command line's arguments, which do not change.
enum Layer {
    case group(Replica)
    case registered
}

/// Those who listen to one layer, in the order of their coming.
struct LayerListeners {
    private(set) var all: [any LayerListener] = []

    mutating func add(_ listener: any LayerListener) {
        all.append(listener)
    }

    /// Gives what was removed: it may be the last reference, and goes when the lock is free again.
    mutating func remove(_ listener: any LayerListener) -> (any LayerListener)? {
        all.firstIndex { $0 === listener }.map { all.remove(at: $0) }
    }
}
