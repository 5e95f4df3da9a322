import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Synchronization
import Varlink

extension DaemonLink {
    /// Takes what has come on both connections. Runs in the link's thread.
    ///
    /// - Returns: false when a connection is over.
    func receive(into buffer: inout [UInt8]) -> Bool {
        var isAlive = true
        var effects: [Effect] = []
        state.withLock { state in
            // The watch first, then all replies: the daemon answers a write before it tells of it, so what is taken of the
            // watch below is of writes whose answers are known, also where it stands for several that it does not name.
            if let watch = state.watch { isAlive = watch.receive(into: &buffer) && watch.flush() }
            if let calls = state.calls { isAlive = calls.receiveAll(into: &buffer) && calls.flush() && isAlive }
            do throws(ProtocolViolation) {
                while let reply = try state.calls?.nextReply() { effects += state.take(reply) }
                while let reply = try state.watch?.nextReply() { effects += state.watched(reply) }
            } catch {
                isAlive = false
            }
        }
        perform(effects)
        return isAlive
    }
}

// MARK: - Replies to calls

extension DaemonLink.State {
    mutating func take(_ reply: Reply) -> [DaemonLink.Effect] {
        guard head < outstanding.count else { return [] }
        let call = outstanding[head]
        head += 1
        if head == outstanding.count { (outstanding, head) = ([], 0) }
        switch call {
        case .create(let replica): return created(replica, reply)
        case .check(let replica): return checked(replica, reply)
        case .write(let replica, let number): return written(replica, number, reply)
        case .state(let replica): return stateCame(replica, reply)
        case .history(let replica, let found, let before): return historyCame(replica, reply, found, before)
        case .position(let replica): return positionCame(replica, reply)
        case .call(let completion):
            let result = Self.result(of: reply)
            return [.complete { completion(result) }]
        }
    }

    static func result(of reply: Reply) -> Result<JSONObject, AppGroupError> {
        guard let name = reply.error else { return .success(reply.parameters) }
        if let error = GroupError(reply) { return .failure(AppGroupError(error)) }
        if let error = ServiceError(reply) { return .failure(AppGroupError(.service(error))) }
        return .failure(AppGroupError(.unknown(name)))
    }

    private mutating func created(_ replica: Replica, _ reply: Reply) -> [DaemonLink.Effect] {
        switch Self.result(of: reply) {
        case .failure(let error):
            return fail(replica, with: error) + [.ready(replica)] + note(replica, error)
        case .success(let parameters):
            containers[replica.group] = parameters["container"]?.stringValue
            if created.insert(replica.group).inserted { watch(replica) }
            if replica.inspect({ !$0.unknownNumbers.isEmpty }) {
                askHistory(of: replica, before: nil, found: [:])
            } else {
                pump(replica)
            }
            return []
        }
    }

    /// The group is there; whether it can be used is the second question.
    private mutating func checked(_ replica: Replica, _ reply: Reply) -> [DaemonLink.Effect] {
        switch Self.result(of: reply) {
        case .success: note(replica, nil)
        case .failure(let error) where error.code == .storageFailed: note(replica, error)
        // It could not be made, which was said, or it was deleted again.
        case .failure: []
        }
    }

    /// Notes whether the group can be used. As long as it cannot, that is asked again from time to time.
    private mutating func note(_ replica: Replica, _ error: AppGroupError?) -> [DaemonLink.Effect] {
        let before = replica.failure
        replica.fail(error)
        if error == nil { failedAttempts = 0 } else { failedRetryAt = nextFailedRetry() }
        return before == error ? [] : tellStanding()
    }

    /// The group cannot be used: its writes are refused, and those who wait are told.
    private mutating func fail(_ replica: Replica, with error: AppGroupError) -> [DaemonLink.Effect] {
        let numbers = replica.inspect { $0.writes.map(\.number) }
        var effects: [DaemonLink.Effect] = []
        for number in numbers { effects += refused(replica, number, error) }
        return effects
    }

    private mutating func written(_ replica: Replica, _ number: UInt64, _ reply: Reply) -> [DaemonLink.Effect] {
        writesUnderWay -= 1
        defer { pumpNext(after: replica) }
        switch Self.result(of: reply) {
        case .failure(let error) where error.code == .noSuchGroup:
            // It was deleted meanwhile. Whoever writes wants it to be there.
            replica.inspect { $0.sendAgain(number) }
            if created.remove(replica.group) != nil { create(replica) }
            return []
        case .failure(let error):
            return replica.inspect { $0.divide(number) } ? answered(replica) : refused(replica, number, error)
        case .success(let parameters):
            guard let position = parameters["position"].flatMap(Position.init(wire:)) else { return [] }
            let isCommit = parameters["changed"]?.arrayValue?.isEmpty == false
            // At once, so that those who wait find it answered.
            replica.enqueueStep { $0.acknowledged(number, at: position, changed: isCommit) }
            return [.tell(replica)] + answered(replica)
        }
    }

    mutating func refused(_ replica: Replica, _ number: UInt64, _ error: AppGroupError) -> [DaemonLink.Effect] {
        let first = replica.inspect { machine in machine.writes.first { $0.number == number }?.first ?? number }
        // At once: who finds it answered must not find it still there.
        replica.enqueueStep { $0.refused(number) }
        var isAwaited = false
        for index in waiters[replica.group]?.indices ?? 0..<0 {
            guard let waiter = waiters[replica.group]?[index], waiter.concerns(first...max(first, number)) else {
                continue
            }
            waiters[replica.group]?[index].error = waiter.error ?? error
            isAwaited = true
        }
        var effects: [DaemonLink.Effect] = [.tell(replica)]
        if !isAwaited {
            let group = replica.group
            if unclaimedRefusals[group] == nil { unclaimedRefusals[group] = error }
            effects += errorObservers.map { observer in .complete { observer.call(group, error) } }
        }
        return effects + answered(replica)
    }
}

// MARK: - The watch

extension DaemonLink.State {
    mutating func watched(_ reply: Reply) -> [DaemonLink.Effect] {
        if reply.error != nil {
            // One of the groups was deleted between its creation and the watch: make them again.
            watch = nil
            (isWatchStale, watchAt) = (true, Deadline(afterSeconds: 0))
            created = []
            for replica in replicas.values { create(replica) }
            return []
        }
        switch WatchEvent(wire: reply.parameters) {
        case .snapshot(let part)?: return snapshot(part)
        case .commit(let commit, let coalesced)?:
            guard let replica = replicas[commit.group] else { return [] }
            return [.step(replica) { $0.take(commit, coalesced: coalesced) }]
        case .deleted(let name)?: return deleted(name)
        case .established?, nil: return []
        }
    }

    /// The first state of a group that the watch does not have yet. What is too large for one reply the watch brings.
    private mutating func stateCame(_ replica: Replica, _ reply: Reply) -> [DaemonLink.Effect] {
        guard let position = reply.parameters["position"].flatMap(Position.init(wire:)),
            let values = reply.parameters["values"].flatMap({ try? [Key: Value](wire: $0) })
        else {
            watchAt = Deadline(afterSeconds: 0)
            return []
        }
        let part = WatchEvent.SnapshotPart(
            group: replica.group.string, position: position, values: values, reason: "initial", isPartial: false
        ).withLayers(of: reply.parameters)
        // The watch may have been faster, and have told of more.
        return [.step(replica) { $0.isComplete ? nil : $0.take(part) }, .ready(replica)]
    }

    private mutating func snapshot(_ part: WatchEvent.SnapshotPart) -> [DaemonLink.Effect] {
        guard let group = try? GroupIdentifier(part.group), let replica = replicas[group] else { return [] }
        let step: DaemonLink.Effect = .step(replica) { $0.take(part) }
        return part.isPartial ? [step] : [step, .ready(replica)]
    }

    private mutating func deleted(_ name: String) -> [DaemonLink.Effect] {
        guard let group = try? GroupIdentifier(name), let replica = replicas[group] else { return [] }
        // The next write makes it again; the watch stays and tells of it.
        return [.step(replica) { $0.deleted() }]
    }
}
