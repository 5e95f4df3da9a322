import GroupClient
import GroupModel
import PropertyList

extension GroupDefaults {
    /// Waits until the daemon has acknowledged every write that this process has made to the group, with whichever object.
    ///
    ///     settings.set("dark", forKey: "theme")
    ///     try settings.synchronize()
    ///
    /// Blocks the calling thread: in asynchronous code use ``commit(durable:)``. There is no need to call it for what is set
    /// to be seen, by whomever; only to know that the daemon has it.
    ///
    /// - Parameter seconds: how long to wait at most.
    /// - Throws: ``AppGroupError``: the first refusal of a write since the last `synchronize()` or `commit()` (it was
    ///   reported by ``errors`` too); `unreachable` or `timedOut` when the time is over; why the group cannot be used.
    public func synchronize(within seconds: Double = 5) throws(AppGroupError) {
        let deadline = Deadline(afterSeconds: seconds)
        try checkProcess()
        backend.replica.waitUntilReady(deadline)
        let answer = Answer<Void>()
        let gate = Gate()
        whenAllAnswered { result in
            answer.store(result)
            gate.open()
        }
        let isInTime = answer.isThere || gate.wait(until: deadline)
        if case .disconnected(let error) = connectionState { throw error }
        guard isInTime, let result = answer.result else {
            throw AppGroupError(.timedOut, "appgroupd has not acknowledged all writes within \(seconds) s")
        }
        try result.get()
    }

    /// Returns when the daemon has acknowledged every write that this process has made to the group until this call.
    ///
    ///     settings.set("dark", forKey: "theme")
    ///     try await settings.commit(durable: true)
    ///
    /// Waits as long as the daemon cannot be reached; cancelling the task ends the waiting, not the writes.
    ///
    /// - Parameter durable: whether to wait until they are on the disk, too, where even a power cut leaves them.
    /// - Throws: ``AppGroupError``: the first refusal of a write since the last `synchronize()` or `commit()` (it was
    ///   reported by ``errors`` too); `cancelled`; why the group cannot be used.
    public func commit(durable: Bool = false) async throws(AppGroupError) {
        try checkProcess()
        // A write of nothing: it is answered after all others, when they are on the disk.
        if durable {
            var nothing = ReplicaMachine.Submission([])
            nothing.isDurable = true
            try submit(nothing)
        }
        try await Answer<Void>.awaited { answer in whenAllAnswered { answer.store($0) } }
    }

    private func checkProcess() throws(AppGroupError) {
        if ForkGuard.isChild { throw ForkGuard.error }
    }

    /// Calls back when all writes so far are answered, with the first refusal that nobody has been told of by waiting.
    private func whenAllAnswered(_ completion: @escaping @Sendable (Result<Void, AppGroupError>) -> Void) {
        guard case .daemon(let link, let replica) = backend else { return whenAnswered(upTo: 0, completion) }
        if let failure = replica.failure { return completion(.failure(failure)) }
        link.whenAnswered(replica, upTo: replica.inspect { $0.newestNumber }) { result in
            let unclaimed = link.takeUnclaimedRefusal(of: replica.group)
            completion(unclaimed.map { .failure($0) } ?? result)
        }
    }
}
