import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Synchronization
import Varlink

/// Whether the daemon can be reached.
public enum ConnectionState: Equatable, Sendable {
    case connecting
    case connected
    /// It cannot be reached for now, for the reason given; reads are served from what is known, writes wait.
    case disconnected(AppGroupError)
}

extension DaemonLink {
    /// Connects if it is time to. Runs in the link's thread.
    func connectIfDue() {
        let effects = state.withLock { state -> [Effect] in
            guard state.calls == nil, state.retryAt.isOver else { return [] }
            do throws(UnixSocket.Failure) {
                let calls = try Channel(connectingTo: address.path)
                return state.connected(calls)
            } catch {
                let obstacle = ConnectionError.Obstacle(errno: error.errno)
                return state.failed(AppGroupError(.unreachable(path: address.path, obstacle)))
            }
        }
        perform(effects)
    }

    /// Tries again the groups that the daemon could not serve, when that is due. Runs in the link's thread.
    func retryFailedIfDue() {
        state.withLock { state in
            guard state.calls != nil, state.failedRetryAt.isOver else { return }
            let failed = state.replicas.values.filter { $0.failure != nil }
            state.failedRetryAt = .never
            for replica in failed { state.create(replica) }
            _ = state.calls?.flush()
        }
    }

    /// Opens the watch on all groups that exist, when that is due. Runs in the link's thread.
    func watchIfDue() {
        state.withLock { state in
            guard state.isWatchStale, state.watchAt.isOver, state.calls != nil, !state.hasOutstandingCreate else {
                return
            }
            state.isWatchStale = false
            state.watch = nil
            let watches = state.created.compactMap { group in
                state.replicas[group].map { WatchedGroup(group: group, since: $0.position) }
            }
            state.watchedCount = watches.count
            guard !watches.isEmpty else { return }
            do throws(UnixSocket.Failure) {
                let watch = try Channel(connectingTo: address.path)
                watch.enqueue(Request.watch(watches).callBytes)
                _ = watch.flush()
                state.watch = watch
            } catch {
                // The calls will find out what is wrong; until then this is tried again.
                state.isWatchStale = true
                state.watchAt = state.nextRetry()
            }
        }
    }

    /// The daemon is gone. Runs in the link's thread.
    func disconnected() {
        perform(state.withLock { $0.lost() })
    }
}

extension DaemonLink.State {
    var hasOutstandingCreate: Bool {
        outstanding[head...].contains {
            switch $0 {
            case .create, .check: true
            case .state, .write, .history, .position, .call: false
            }
        }
    }

    mutating func connected(_ channel: Channel) -> [DaemonLink.Effect] {
        calls = channel
        attempts = 0
        for replica in replicas.values { create(replica) }
        for (bytes, completion) in queued {
            channel.enqueue(bytes)
            outstanding.append(.call(completion))
        }
        queued = []
        (isWatchStale, watchAt) = (true, Deadline(afterSeconds: 0))
        return become(.connected)
    }

    mutating func failed(_ error: AppGroupError) -> [DaemonLink.Effect] {
        retryAt = nextRetry()
        return replicas.values.flatMap { [.fallBack($0), .ready($0)] } + become(.disconnected(error))
    }

    /// The watch is to have a group that it does not have.
    ///
    /// Opening it anew costs what all its groups cost. So groups that are opened one after the other wait for each other, the
    /// longer the more there are: that makes a few times the cost of opening them all at once. Nobody waits for it: the
    /// group's state is asked for by itself, and the watch goes on from there.
    mutating func watch(_ replica: Replica) {
        if watch != nil, replica.position == nil {
            calls?.enqueue(Request.read(replica.group, keys: nil).callBytes)
            outstanding.append(.state(replica))
        }
        guard !isWatchStale else { return }
        let delay = watch == nil ? 0 : Self.watchDelay(watched: watchedCount)
        (isWatchStale, watchAt) = (true, Deadline(afterSeconds: delay))
    }

    /// How long a watch of so many groups stays as it is, in seconds.
    static func watchDelay(watched: Int) -> Double {
        min(0.0005 * Double(watched), 0.1)
    }

    /// Waits a little longer each time, by a random part, so that many clients do not come back all at once.
    mutating func nextRetry() -> Deadline { Self.retry(after: &attempts) }

    mutating func nextFailedRetry() -> Deadline { Self.retry(after: &failedAttempts) }

    private static func retry(after attempts: inout Int) -> Deadline {
        attempts += 1
        let longest = min(0.01 * Double(1 << min(attempts, 7)), 1)
        return Deadline(afterSeconds: Double.random(in: longest / 2...longest))
    }

    mutating func lost() -> [DaemonLink.Effect] {
        var effects: [DaemonLink.Effect] = []
        let error = AppGroupError(.unreachable, "the connection to appgroupd was lost before its answer")
        for call in outstanding[head...] {
            if case .call(let completion) = call { effects.append(.complete { completion(.failure(error)) }) }
        }
        (calls, watch, outstanding, head, writesUnderWay, created) = (nil, nil, [], 0, 0, [])
        queuing = []
        failedRetryAt = .never
        // At once: a daemon that restarts has its socket open already, where systemd holds it.
        retryAt = Deadline(afterSeconds: 0)
        effects += replicas.values.map { replica in
            .step(replica) { machine in
                machine.connectionLost()
                return nil
            }
        }
        return effects + become(.connecting)
    }

    mutating func become(_ standing: ConnectionState) -> [DaemonLink.Effect] {
        guard self.standing != standing else { return [] }
        self.standing = standing
        return tellStanding()
    }

    func tellStanding() -> [DaemonLink.Effect] {
        let standing = standing
        return standingObservers.map { observer in .complete { observer.call(standing) } }
    }
}
