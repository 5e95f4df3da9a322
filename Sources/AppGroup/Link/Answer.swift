import Synchronization

/// The result that somebody waits for, as a thread or as a task; the first one counts. Safe for any thread.
final class Answer<Success: Sendable>: Sendable {
    typealias Outcome = Result<Success, AppGroupError>

    private struct State {
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    private let state = Mutex(State())

    var result: Outcome? { state.withLock { $0.outcome } }
    var isThere: Bool { result != nil }

    func store(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            return state.continuation.take()
        }
        continuation?.resume(returning: outcome)
    }

    private func await(_ continuation: CheckedContinuation<Outcome, Never>) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(returning: outcome) }
    }

    /// Waits for what `start` sees to; for no longer than until the task is cancelled, which calls `onCancel`, on whichever
    /// thread, and throws `cancelled`.
    static func awaited(
        _ start: (Answer) -> Void, onCancel: @escaping @Sendable () -> Void = {}
    ) async throws(AppGroupError) -> Success {
        let answer = Answer()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                answer.await(continuation)
                start(answer)
            }
        } onCancel: {
            answer.store(.failure(.cancelled))
            onCancel()
        }
        return try result.get()
    }
}

extension AppGroupError {
    static let cancelled = AppGroupError(.cancelled, "the waiting for appgroupd was cancelled")
}
