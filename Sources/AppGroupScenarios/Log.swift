package import AppGroup
import Synchronization

/// What callbacks have told, and somebody who waits for so many of them.
package final class Log: Sendable {
    private struct State {
        var entries: [String] = []
        var wanted = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    package func add(_ entry: String) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.entries.append(entry)
            return state.entries.count >= state.wanted ? state.waiter.take() : nil
        }
        waiter?.resume()
    }

    package func add(_ change: GroupDefaults.Change) {
        let values = "\(change.old?.string ?? "-") \(change.new?.string ?? "-")"
        add("\(change.key): \(values)\(change.isInitial ? " initial" : "")")
    }

    package var entries: [String] { state.withLock { $0.entries } }

    package func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                (state.wanted, state.waiter) = (count, state.entries.count < count ? continuation : nil)
                return state.waiter == nil
            }
            if isThere { continuation.resume() }
        }
    }
}
