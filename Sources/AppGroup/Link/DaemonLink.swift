import CShims
import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Synchronization
import Varlink

/// The process's link to the daemon: two connections for all its groups, one for calls and one for the watch.
///
/// Safe for any thread. Writes are sent by the thread that makes them, as far as the socket takes them at once, so that
/// they survive the process; everything else is done by the link's own thread, which starts with the first group and
/// sleeps unless there is something to do. No lock is held while observers or completions are called.
final class DaemonLink: Sendable {
    typealias Completion = @Sendable (Result<JSONObject, AppGroupError>) -> Void

    /// What a reply is for, in the order of the calls.
    enum Outstanding {
        case create(Replica)
        /// Whether the group's settings are known.
        case check(Replica)
        /// The state of a group that the watch does not have yet.
        case state(Replica)
        case write(Replica, number: UInt64)
        /// A part of it, with what the newer parts have told; they begin at a revision.
        case history(Replica, found: [UInt64: Int64], before: Int64?)
        /// The position, where the history is empty.
        case position(Replica)
        case call(Completion)
    }

    /// Waits until all writes of a group up to a number are answered.
    struct Waiter {
        var upTo: UInt64
        /// Only the fate of that very write is of interest, not that of those before.
        var isForOne = false
        var error: AppGroupError?
        var completion: @Sendable (Result<Void, AppGroupError>) -> Void

        func concerns(_ numbers: ClosedRange<UInt64>) -> Bool {
            isForOne ? numbers.contains(upTo) : upTo >= numbers.lowerBound
        }
    }

    struct State: ~Copyable {
        var replicas: [GroupIdentifier: Replica] = [:]
        var containers: [GroupIdentifier: String] = [:]
        var calls: Channel?
        var watch: Channel?
        /// Replies come in the order of the calls; the first is at `head`.
        var outstanding: [Outstanding] = []
        var head = 0
        var writesUnderWay = 0
        /// Groups whose writes wait for a place in the pipeline; the first is the next one's turn.
        var queuing: [Replica] = []
        /// Groups that exist, as far as this connection knows.
        var created: Set<GroupIdentifier> = []
        /// The watch does not have the groups that it should.
        var isWatchStale = false
        /// When it is to be opened anew, if it is stale.
        var watchAt = Deadline(afterSeconds: 0)
        /// How many groups the watch has.
        var watchedCount = 0
        var waiters: [GroupIdentifier: [Waiter]] = [:]
        /// The first refused write that nobody awaited, for who asks afterwards whether all went well.
        var unclaimedRefusals: [GroupIdentifier: AppGroupError] = [:]
        /// Calls that wait for a connection.
        var queued: [(bytes: [UInt8], completion: Completion)] = []
        var attempts = 0
        var retryAt = Deadline(afterSeconds: 0)
        /// When the groups that cannot be used are tried again, and how often that was done.
        var failedRetryAt = Deadline.never
        var failedAttempts = 0
        var standing = ConnectionState.connecting
        var hasThread = false
        var errorObservers: [(id: UInt64, call: @Sendable (GroupIdentifier, AppGroupError) -> Void)] = []
        var standingObservers: [(id: UInt64, call: @Sendable (ConnectionState) -> Void)] = []
        var nextObserver: UInt64 = 1
    }

    /// What is to be done once the lock is released, in order.
    enum Effect: Sendable {
        case step(Replica, @Sendable (inout ReplicaMachine) -> ReplicaMachine.Step?)
        /// Steps were taken under the lock; those who observe are to hear of them.
        case tell(Replica)
        case ready(Replica)
        case fallBack(Replica)
        case complete(@Sendable () -> Void)
    }

    /// So many writes are under way at most; what comes meanwhile is sent together.
    static let pipelineDepth = 64

    let address: DaemonAddress
    let tagPrefix: String
    let state = Mutex(State())
    /// Wakes the link's thread.
    let wake: Int32

    init(_ address: DaemonAddress, tagPrefix: String) {
        self.address = address
        self.tagPrefix = tagPrefix
        wake = cshim_wake_create()
    }

    /// The group's replica, the same one for everybody who asks. The link's thread sees to its state.
    func replica(of group: GroupIdentifier) -> Replica {
        let (replica, isFirst) = state.withLock { state -> (Replica, Bool) in
            if let replica = state.replicas[group] { return (replica, false) }
            let replica = Replica(group, tagPrefix: "\(tagPrefix).\(state.replicas.count)")
            state.replicas[group] = replica
            if state.calls != nil { state.create(replica) }
            defer { state.hasThread = true }
            return (replica, !state.hasThread)
        }
        if isFirst { LinkThread.start(self) }
        wakeThread()
        return replica
    }

    func wakeThread() {
        if wake >= 0 { cshim_wake_signal(wake) }
    }

    func perform(_ effects: [Effect]) {
        for effect in effects {
            switch effect {
            case .step(let replica, let body): replica.step(body)
            case .tell(let replica): replica.tell()
            case .ready(let replica): replica.markReady()
            case .fallBack(let replica): PlistFallback.load(into: replica)
            case .complete(let body): body()
            }
        }
    }
}

// MARK: - Writes and calls

extension DaemonLink {
    /// Applies edits at once in this process and sends them on their way.
    ///
    /// - Returns: the number of the write, for `whenAnswered`.
    @discardableResult
    func submit(_ submission: ReplicaMachine.Submission, to replica: Replica) throws(GroupError) -> UInt64 {
        let number = try replica.update { machine throws(GroupError) in
            let (number, step) = try machine.submit(submission)
            return (number, step)
        }
        pump(replica)
        return number
    }

    /// The same, and calls back with the daemon's answer to this very write.
    ///
    /// - Returns: the number of the write, for `withdraw`.
    func submit(
        _ submission: ReplicaMachine.Submission, to replica: Replica,
        _ completion: @escaping @Sendable (Result<Void, AppGroupError>) -> Void
    ) throws(GroupError) -> UInt64 {
        // Under the lock that replies are taken under: the answer must not come before there is somebody to hear it.
        let outcome = state.withLock { state -> Result<UInt64, GroupError> in
            do throws(GroupError) {
                let number = try replica.enqueue { machine throws(GroupError) in
                    try machine.submit(submission)
                }
                state.waiters[replica.group, default: []].append(
                    Waiter(upTo: number, isForOne: true, completion: completion))
                return .success(number)
            } catch {
                return .failure(error)
            }
        }
        replica.tell()
        let number = try outcome.get()
        pump(replica)
        return number
    }

    /// Takes back a write that nobody has seen and that was not sent yet; one that was stays.
    func withdraw(_ number: UInt64, from replica: Replica) {
        let effects = state.withLock { state -> [Effect] in
            guard replica.inspect({ $0.withdraw(number) }) else { return [] }
            state.waiters[replica.group]?.removeAll { $0.isForOne && $0.upTo == number }
            return state.answered(replica)
        }
        perform(effects)
    }

    /// Sends what waits, in this thread as far as it goes.
    func pump(_ replica: Replica) {
        let needsThread = state.withLock { state in
            state.pump(replica)
            // The thread connects when it is time to, and sends what waits.
            guard let calls = state.calls else { return false }
            return !calls.flush() || calls.hasOutgoing
        }
        if needsThread { wakeThread() }
    }

    /// Calls back when the daemon has answered all writes of the group up to a number, with the first error among them.
    func whenAnswered(
        _ replica: Replica, upTo number: UInt64,
        _ completion: @escaping @Sendable (Result<Void, AppGroupError>) -> Void
    ) {
        let isAnswered = state.withLock { state in
            if replica.inspect({ $0.isAnswered(upTo: number) }) { return true }
            state.waiters[replica.group, default: []].append(Waiter(upTo: number, completion: completion))
            return false
        }
        if isAnswered { completion(.success(())) }
    }

    func takeUnclaimedRefusal(of group: GroupIdentifier) -> AppGroupError? {
        state.withLock { $0.unclaimedRefusals.removeValue(forKey: group) }
    }

    /// Makes a call; it waits for a connection if there is none.
    func call(_ request: Request, _ completion: @escaping Completion) {
        let bytes = request.callBytes
        state.withLock { state in
            guard let calls = state.calls else {
                state.queued.append((bytes, completion))
                return
            }
            calls.enqueue(bytes)
            state.outstanding.append(.call(completion))
            _ = calls.flush()
        }
        wakeThread()
    }

    var standing: ConnectionState { state.withLock { $0.standing } }

    func addErrorObserver(_ call: @escaping @Sendable (GroupIdentifier, AppGroupError) -> Void) -> UInt64 {
        state.withLock { state in
            state.nextObserver += 1
            state.errorObservers.append((state.nextObserver, call))
            return state.nextObserver
        }
    }

    func addStandingObserver(_ call: @escaping @Sendable (ConnectionState) -> Void) -> UInt64 {
        state.withLock { state in
            state.nextObserver += 1
            state.standingObservers.append((state.nextObserver, call))
            return state.nextObserver
        }
    }

    func removeObserver(_ id: UInt64) {
        state.withLock { state in
            state.errorObservers.removeAll { $0.id == id }
            state.standingObservers.removeAll { $0.id == id }
        }
    }
}

extension DaemonLink.State {
    /// Makes the group, and asks whether it can be read: where its file cannot, and nothing was ever known of it, the watch
    /// has nothing to tell, which must not look like a group with nothing in it.
    mutating func create(_ replica: Replica) {
        calls?.enqueue(Request.createGroup(replica.group).callBytes)
        outstanding.append(.create(replica))
        calls?.enqueue(Request.read(replica.group, keys: []).callBytes)
        outstanding.append(.check(replica))
    }

    /// Puts the group's waiting writes on the call connection, up to the depth of the pipeline. Where that is reached, the
    /// group queues up.
    mutating func pump(_ replica: Replica) {
        guard let calls, created.contains(replica.group) else { return }
        while true {
            guard writesUnderWay < DaemonLink.pipelineDepth else {
                if !queuing.contains(where: { $0 === replica }) { queuing.append(replica) }
                return
            }
            let next = replica.inspect { machine in
                machine.nextToSend().map { ($0.write, machine.tag(of: $0.number)) }
            }
            guard let (write, tag) = next else { return }
            calls.enqueue(Self.request(write, replica.group, tag).callBytes)
            outstanding.append(.write(replica, number: write.number))
            writesUnderWay += 1
        }
    }

    private static func request(_ write: ReplicaMachine.Write, _ group: GroupIdentifier, _ tag: String) -> Request {
        // A daemon of an earlier version knows this one, too.
        if write.isReset, write.edits.isEmpty, !write.isDurable { return .reset(group, tag: tag) }
        return .write(
            WriteRequest(
                group: group, edits: write.edits, isReset: write.isReset, unchangedSince: write.unchangedSince,
                isDurable: write.isDurable, tag: tag))
    }

    /// There is a place in the pipeline again, which a group has left: it comes after those that queue for one.
    mutating func pumpNext(after replica: Replica) {
        if queuing.isEmpty { return pump(replica) }
        if !queuing.contains(where: { $0 === replica }) { queuing.append(replica) }
        while writesUnderWay < DaemonLink.pipelineDepth, !queuing.isEmpty { pump(queuing.removeFirst()) }
    }

    /// Takes the waiters whose writes are answered.
    mutating func answered(_ replica: Replica) -> [DaemonLink.Effect] {
        guard let waiting = waiters[replica.group] else { return [] }
        var rest: [DaemonLink.Waiter] = []
        var effects: [DaemonLink.Effect] = []
        for waiter in waiting {
            guard replica.inspect({ $0.isAnswered(upTo: waiter.upTo) }) else {
                rest.append(waiter)
                continue
            }
            let (completion, error) = (waiter.completion, waiter.error)
            effects.append(.complete { completion(error.map { .failure($0) } ?? .success(())) })
        }
        waiters[replica.group] = rest.isEmpty ? nil : rest
        return effects
    }
}
