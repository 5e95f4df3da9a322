import Glibc
import GroupClient
import Synchronization

// A program that sets a value and ends has set it. Its first writes wait until the group is open, which is later than the
// program's end if nobody waits.

extension DaemonLink {
    /// How long the end of the process is held up at most, in seconds: by a daemon that does not answer.
    private static let endingLimit = 1.0

    /// From now on the end of the process, by `exit` or by the return of `main`, waits until the daemon has the writes.
    ///
    /// Not where it cannot be reached: then there is nothing to wait for. Signals, `_exit` and crashes wait for nothing.
    static func armEnding() {
        _ = atexit { DaemonLink.shared.end() }
    }

    private func end() {
        // The parent's writes are the parent's to send.
        if ForkGuard.isInChild { return }
        let deadline = Deadline(afterSeconds: Self.endingLimit)
        let replicas = state.withLock { Array($0.replicas.values) }
        for replica in replicas where replica.failure == nil {
            guard waitForAnswers(to: replica, until: deadline) else { return }
        }
    }

    /// False when there is no use in going on.
    private func waitForAnswers(to replica: Replica, until deadline: Deadline) -> Bool {
        let gate = Gate()
        let observer = addStandingObserver { standing in
            if case .disconnected = standing { gate.open() }
        }
        defer { removeObserver(observer) }
        if case .disconnected = standing { return false }
        whenAnswered(replica, upTo: replica.inspect { $0.newestNumber }) { _ in gate.open() }
        return gate.wait(until: deadline)
    }
}
