import Foundation
import Synchronization

/// Work on a thread of its own, whose result somebody waits for. Begins at once; what it captures is Sendable.
final class Background<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, any Error>?>(nil)
    private let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping @Sendable () throws -> Value) {
        let thread = Thread { [self] in
            let result = Result { try body() }
            outcome.withLock { $0 = result }
            done.signal()
        }
        thread.start()
    }

    struct NotDone: Error {}

    /// Waits for the end, and gives the result; once.
    func value(seconds: Double = 60) throws -> Value {
        guard done.wait(timeout: .now() + seconds) == .success, let outcome = outcome.withLock({ $0 }) else {
            throw NotDone()
        }
        return try outcome.get()
    }
}

/// What one thread tells others to do: a flag that is raised once.
final class Flag: Sendable {
    private let raised = Atomic(false)

    var isRaised: Bool { raised.load(ordering: .acquiring) }
    func raise() { raised.store(true, ordering: .releasing) }
}
