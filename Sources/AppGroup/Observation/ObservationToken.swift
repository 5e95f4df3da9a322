import Synchronization

/// An observation by callback. It goes on as long as this object is there: keep it.
///
/// Safe for any thread. Ended by ``cancel()`` or with its last reference, also within the callback itself.
public final class ObservationToken: Sendable {
    private let removal: Mutex<(@Sendable () -> Void)?>
    private let isCancelled: Flag

    /// Shared with the observer, which must not keep the token.
    final class Flag: Sendable {
        private let isSet = Atomic(false)

        var value: Bool { isSet.load(ordering: .acquiring) }

        func set() {
            isSet.store(true, ordering: .releasing)
        }
    }

    init(_ isCancelled: Flag, _ remove: @escaping @Sendable () -> Void) {
        self.isCancelled = isCancelled
        removal = Mutex(remove)
    }

    deinit {
        cancel()
    }

    /// Ends the observation, finally: once this has returned no call begins. One that runs on another thread at that moment
    /// comes to its end.
    ///
    /// Legal within the callback, and again and again.
    public func cancel() {
        isCancelled.set()
        // Called outside the lock: it lets go of the callback, and with it of whatever that holds.
        let remove = removal.withLock { $0.take() }
        remove?()
    }
}
