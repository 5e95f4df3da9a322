import GroupModel
import PropertyList
import Synchronization

// Writes of several keys as one, and changes that are made where the truth is: in the daemon, on the value that it has at
// that moment, so that two programs that count, append or toggle at the same time do not undo each other.
//
// The forms that are not `async` do not wait: the change is seen at once in this process, and an error of the daemon comes
// by `errors`. The `async` ones return when the daemon has taken the change, and throw when it has not.

extension GroupDefaults {
    /// Makes several edits one commit, and waits until the daemon has taken it.
    ///
    ///     try await settings.write {
    ///         $0["name"] = "Ada"
    ///         $0["age"] = 36
    ///         $0.increment("launches")
    ///     }
    ///
    /// The edits are seen at once in this process. The call waits as long as the daemon cannot be reached; cancelling the
    /// task ends the waiting, not the write. A task that is cancelled already writes nothing.
    ///
    /// - Parameters:
    ///   - durable: whether to wait until it is on the disk, too.
    ///   - body: makes the edits. When it throws, nothing is written.
    /// - Throws: ``AppGroupError``: what a property list cannot carry, a `wrongType`, or the daemon's refusal; then nothing
    ///   of it is written. `cancelled`; then it is written when the daemon is there. `outcomeUnknown`.
    public func write(durable: Bool = false, _ body: (inout Edits) -> Void) async throws(AppGroupError) {
        var submission = ReplicaMachine.Submission(try edits(body))
        submission.isDurable = durable
        if !submission.edits.isEmpty { try await submitAndWait(submission) }
    }

    /// Makes several edits one commit, without waiting for the daemon.
    ///
    /// - Throws: ``AppGroupError``: what a property list cannot carry, or a `wrongType`. Then nothing of it is written. What
    ///   the daemon refuses is taken back, and reported by ``errors``.
    public func write(_ body: (inout Edits) -> Void) throws(AppGroupError) {
        let edits = try edits(body)
        if !edits.isEmpty { try submit(edits) }
    }

    /// Adds one element to an array. An absent key counts as an empty array; a value of another type is an error.
    public func append(_ element: Any, forKey key: String) {
        reporting { () throws(AppGroupError) in try submit(try edits { $0.append(element, forKey: key) }) }
    }

    /// Puts entries into a dictionary, and lets the others stand. An absent key counts as an empty dictionary; a value of
    /// another type is an error.
    public func merge(_ entries: [String: Any], forKey key: String) {
        reporting { () throws(AppGroupError) in try submit(try edits { $0.merge(entries, forKey: key) }) }
    }

    /// Adds to an integer, exactly. An absent key counts as 0; a value of another type, or a sum that does not fit into 64
    /// bits, is an error.
    public func increment(_ key: String, by addend: Int = 1) {
        reporting { () throws(AppGroupError) in try submit(try edits { $0.increment(key, by: addend) }) }
    }

    /// Adds to a number. An absent key counts as 0; a value of another type is an error.
    @_disfavoredOverload
    public func increment(_ key: String, by addend: Double) {
        reporting { () throws(AppGroupError) in try submit(try edits { $0.increment(key, by: addend) }) }
    }

    /// Flips a boolean. An absent key counts as false; a value of another type is an error.
    public func toggle(_ key: String) {
        reporting { () throws(AppGroupError) in try submit(try edits { $0.toggle(key) }) }
    }

    /// Stores a value if the group's present one is the one expected, as one step that nobody comes between.
    ///
    ///     let isMine = try await settings.compareAndSet("owner", expected: nil, to: "me")
    ///
    /// Both are property-list values; nil stands for an absent key. The group itself is compared, not what lies above or
    /// below it in the search list. Waits as long as the daemon cannot be reached, or until the task is cancelled.
    ///
    /// - Returns: whether it was stored.
    /// - Throws: ``AppGroupError``: what a property list cannot carry, or the daemon's refusal; `cancelled`, when it is not
    ///   stored unless it was on its way to the daemon at that moment; `outcomeUnknown`.
    public func compareAndSet(
        _ key: String, expected: Any?, to new: Any?
    ) async throws(AppGroupError) -> Bool {
        let edit = try edit(setting: new, forKey: key)
        let expected = try self.edit(setting: expected, forKey: key).value
        return try await compareAndSet(edit) { $0 == expected }
    }

    /// Makes the edit when the group's present value is fine.
    func compareAndSet(
        _ edit: Edit, _ isExpected: (Value?) -> Bool
    ) async throws(AppGroupError) -> Bool {
        try checkUsable()
        while true {
            let (revision, current) = try await currentValue(edit.key)
            guard isExpected(current) else { return false }
            guard current != edit.value else { return true }
            do throws(AppGroupError) {
                var submission = ReplicaMachine.Submission([edit])
                (submission.unchangedSince, submission.isOptimistic) = (revision, false)
                try await submitAndWait(submission)
                return true
            } catch {
                // Somebody was faster. What it is now decides.
                guard error.code == .conflict else { throw error }
            }
        }
    }

    /// What the daemon holds, after all writes of this process.
    private func currentValue(_ key: PropertyList.Key) async throws(AppGroupError) -> (Int64, Value?) {
        switch backend {
        case .daemon(let link, let replica):
            // A group that is not there yet holds nothing: the write that follows makes it.
            do throws(AppGroupError) {
                let (position, values) = try await link.read(replica.group, keys: [key.string])
                return (position.revision, values[key])
            } catch {
                guard error.code == .noSuchGroup else { throw error }
                return (0, nil)
            }
        case .memory(let group):
            let (revision, values) = group.read()
            return (revision, values[key])
        case .invalid(_, let error): throw error
        }
    }

    func edits(_ body: (inout Edits) -> Void) throws(AppGroupError) -> [Edit] {
        try checkUsable()
        waitForFirstState()
        var edits = Edits(self)
        body(&edits)
        if let problem = edits.problem { throw problem }
        return edits.edits
    }

    private func submitAndWait(_ submission: ReplicaMachine.Submission) async throws(AppGroupError) {
        try checkUsable()
        if Task.isCancelled { throw .cancelled }
        let withdrawal = Withdrawal()
        // What is known without the daemon comes at once, the daemon's word by the completion: both are one answer here.
        try await Answer<Void>.awaited { answer in
            do throws(GroupError) {
                switch backend {
                case .daemon(let link, let replica):
                    let number = try link.submit(submission, to: replica) { answer.store($0) }
                    if !submission.isOptimistic { withdrawal.arm { link.withdraw(number, from: replica) } }
                case .memory(let group):
                    _ = try group.submit(submission)
                    answer.store(.success(()))
                case .invalid(_, let error): answer.store(.failure(error))
                }
            } catch {
                answer.store(.failure(AppGroupError(error)))
            }
        } onCancel: {
            withdrawal.perform()
        }
    }
}

/// Takes back what was submitted, as soon as it is both wanted and known how. Safe for any thread.
private final class Withdrawal: Sendable {
    private let state = Mutex<(isWanted: Bool, body: (@Sendable () -> Void)?)>((false, nil))

    func arm(_ body: @escaping @Sendable () -> Void) {
        let isWanted = state.withLock { state in
            state.body = body
            return state.isWanted
        }
        if isWanted { body() }
    }

    func perform() {
        let body = state.withLock { state in
            state.isWanted = true
            return state.body
        }
        body?()
    }
}
