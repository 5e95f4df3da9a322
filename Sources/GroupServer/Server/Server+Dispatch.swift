import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import ServiceIO
import Varlink

extension Server {
    /// Serves one call. The reply may come later; the calls behind it keep their order.
    func dispatch(_ call: Call, from connection: Connection) {
        let serial = call.mode == .oneway ? nil : connection.openSlot()
        let target = Connection.ReplyTarget(connection: connection.id, serial: serial)
        switch call.interface {
        case SettingsInterface.name: settings(call, target, connection)
        case ServiceInterface.name: answer(target, with: serviceReply(call))
        default: answer(target, with: ServiceError.interfaceNotFound(call.interface).replyBytes)
        }
    }

    /// The same for what comes most, an ordinary write.
    func dispatch(_ request: WriteRequest, from connection: Connection) {
        let target = Connection.ReplyTarget(connection: connection.id, serial: connection.openSlot())
        do throws(GroupError) {
            try check(request.group, connection)
            try write(request, target, connection)
        } catch {
            answer(target, with: error.replyBytes)
        }
    }

    private func settings(_ call: Call, _ target: Connection.ReplyTarget, _ connection: Connection) {
        guard let method = SettingsMethod(rawValue: call.member) else {
            return answer(target, with: ServiceError.methodNotFound(call.method).replyBytes)
        }
        do throws(RequestProblem) {
            let request = try Request(method, call.parameters)
            do throws(GroupError) {
                try check(request, connection)
                try serve(request, target, connection, mode: call.mode)
            } catch {
                throw .settings(error)
            }
        } catch {
            let (reply, text) =
                switch error {
                case .settings(let error): (error.replyBytes, error.textForLog)
                case .service(let error): (error.replyBytes, error.name)
                }
            answer(target, with: reply)
            if call.mode == .oneway { tellOfRefusal(method, connection, text) }
        }
    }

    /// Who wants no reply learns nothing of a refusal: the log has it for who looks for the change that did not come.
    func tellOfRefusal(_ method: SettingsMethod, _ connection: Connection, _ text: String) {
        Log.warning("a one-way \(method.rawValue) of process \(connection.credentials.pid) was refused: \(text)")
    }

    private func serviceReply(_ call: Call) -> [UInt8] {
        switch call.method {
        case ServiceInterface.getInfo:
            if let unknown = call.parameters.first?.name { return ServiceError.invalidParameter(unknown).replyBytes }
            return ServiceInterface.Info(
                vendor: "appgroupd", product: "appgroupd", version: Version.string,
                url: "https://github.com/appgroupd/appgroupd",
                interfaces: [ServiceInterface.name, SettingsInterface.name]
            ).replyBytes
        case ServiceInterface.getInterfaceDescription: return descriptionReply(call.parameters)
        default: return ServiceError.methodNotFound(call.method).replyBytes
        }
    }

    private func descriptionReply(_ parameters: JSONObject) -> [UInt8] {
        if let unknown = parameters.first(where: { $0.name != "interface" })?.name {
            return ServiceError.invalidParameter(unknown).replyBytes
        }
        switch parameters["interface"]?.stringValue {
        case SettingsInterface.name: return ServiceInterface.descriptionReply(SettingsInterface.description)
        case ServiceInterface.name: return ServiceInterface.descriptionReply(ServiceInterface.text)
        case let other?: return ServiceError.interfaceNotFound(other).replyBytes
        case nil: return ServiceError.invalidParameter("interface").replyBytes
        }
    }
}

// MARK: - The methods

extension Server {
    private func serve(
        _ request: Request, _ target: Connection.ReplyTarget, _ connection: Connection, mode: Call.Mode
    ) throws(GroupError) {
        switch request {
        case .listGroups: listGroups(target, connection)
        case .createGroup(let group): try createGroup(group, target, connection)
        case .deleteGroup(let group): try deleteGroup(group, target, connection)
        case .read(let group, let keys): try read(group, keys, target)
        case .explain(let group, let key): try explain(group, key, target)
        case .describe(let group, let key): try describe(group, key, target)
        case .write(let request): try write(request, target, connection)
        case .reset(let group, let tag): try reset(group, tag, target, connection)
        case .tryOut(let request): try tryOut(request, target, connection)
        case .endTrial(let group, let revision, let keeps): try endTrial(group, revision, keeps: keeps, target)
        case .synchronize(let group): try synchronize(group, target, connection)
        case .repair(let group): try repair(group, target, connection)
        case .watch(let watches): try watch(watches, target, connection, mode: mode)
        case .watchDocuments(let group, let path):
            try watchDocuments(group, path, target, connection, mode: mode)
        case .history(let request): try history(request, target)
        case .status(let observers): answer(target, with: statusReply(observers: observers))
        case .logLevel(let level):
            if let level = level.flatMap({ Log.Level(name: $0.rawValue) }) { Log.threshold = level }
            answer(target, with: Reply.bytes { $0.member("level", string: Log.threshold.name) })
        }
    }

    /// The group, if it is there and can be served.
    func host(of group: GroupIdentifier) throws(GroupError) -> GroupHost {
        if let recentHost, recentHost.identifier == group { return recentHost }
        if let host = try openedHost(group) {
            recentHost = host
            return host
        }
        if let problem = failedGroups[group] { throw .storageFailed(reason: problem.text, errno: 0) }
        throw .noSuchGroup(group.string)
    }

    /// The group with all its commits in the journal: what is told of it stays true.
    func settledHost(of group: GroupIdentifier) throws(GroupError) -> GroupHost {
        let host = try host(of: group)
        host.flush()
        if host.isUnknown, let obstacle = host.plist.obstacle,
            let error = host.refusal(for: obstacle, whileWriting: false)
        {
            throw error
        }
        return host
    }

    private func listGroups(_ target: Connection.ReplyTarget, _ connection: Connection) {
        let known = knownGroups.union(failedGroups.keys).filter { mayUse($0, connection) }
        let names = known.sorted().map(\.string)
        answer(target, with: Reply.bytes { $0.member("groups", strings: names) })
    }

    private func read(
        _ group: GroupIdentifier, _ keys: [String]?, _ target: Connection.ReplyTarget
    ) throws(GroupError) {
        let host = try settledHost(of: group)
        let filter = try KeyFilter(keys).bounded()
        let values = host.state.effectiveValues(matching: filter)
        let reply = Reply.bytes {
            $0.member("position")
            $0.write(host.position)
            $0.member("values")
            $0.write(values)
            $0.writeLayers(of: host.state, matching: filter)
        }
        guard reply.count <= SettingsInterface.messageLimit else {
            throw .tooLarge(
                subject: "reply (ask for parts of the group, by keys)", limit: Int64(SettingsInterface.messageLimit),
                size: Int64(reply.count))
        }
        answer(target, with: reply)
    }

    private func write(
        _ request: WriteRequest, _ target: Connection.ReplyTarget, _ connection: Connection
    ) throws(GroupError) {
        let host = try writableHost(of: request.group)
        let changes = try host.state.changes(
            for: request.edits, isReset: request.isReset, unchangedSince: request.unchangedSince,
            limits: configuration.limits)
        try host.schema?.check(changes)
        if request.isReset { try requireTellable(changes) }
        guard !changes.isEmpty else {
            // Nothing to journal, but what this turn has applied before must be true before it is told.
            if let error = host.flush() {
                throw .storageFailed(reason: "the journal cannot be written: \(error)", errno: error.errno.rawValue)
            }
            var reply: [UInt8] = []
            host.ledger.text.writeReply(host.position.revision, changed: [], to: &reply)
            return answer(target, with: reply, on: host, durable: request.isDurable)
        }
        let reply = GroupHost.PendingReply(
            target: target, success: .changes, isDurable: request.isDurable || configuration.durability == .power)
        host.commit(changes, origin: connection.origin, tag: request.tag, reply: reply)
    }

    /// The reply names every key that changed; those that a reset removes were not in the call, and may be too many.
    private func requireTellable(_ changes: [Change]) throws(GroupError) {
        let size = changes.reduce(0) { $0 + $1.key.messageSize }
        guard size <= SettingsInterface.commitSize else {
            throw .tooLarge(
                subject: "reply (reset the group first, then write)", limit: Int64(SettingsInterface.commitSize),
                size: Int64(size))
        }
    }

    private func reset(
        _ group: GroupIdentifier, _ tag: String?, _ target: Connection.ReplyTarget, _ connection: Connection
    ) throws(GroupError) {
        let host = try writableHost(of: group)
        host.flush()
        let changes = host.state.changesForReset()
        var position = host.position
        position.revision += changes.isEmpty ? 0 : 1
        let success = Reply.bytes {
            $0.member("position")
            $0.write(position)
        }
        if changes.isEmpty { return answer(target, with: success) }
        let reply = GroupHost.PendingReply(
            target: target, success: .message(success), isDurable: configuration.durability == .power)
        host.commit(changes, origin: connection.origin, tag: tag, reply: reply)
    }

    func writableHost(of group: GroupIdentifier) throws(GroupError) -> GroupHost {
        let host = try host(of: group)
        guard let obstacle = host.plist.obstacle else { return host }
        if case .readOnly(let problem) = obstacle { throw .readOnly(group: group.string, reason: problem.text) }
        if host.isUnknown, let error = host.refusal(for: obstacle, whileWriting: true) { throw error }
        return host
    }

    /// A reply about something that the journal has already.
    private func answer(
        _ target: Connection.ReplyTarget, with reply: [UInt8], on host: GroupHost, durable: Bool
    ) {
        if durable, host.journal.hasUnsyncedBytes {
            host.awaitSync(GroupHost.Waiter(target: target, success: reply))
        } else {
            answer(target, with: reply)
        }
    }

    private func history(_ request: HistoryRequest, _ target: Connection.ReplyTarget) throws(GroupError) {
        let commits = try encodedCommits(of: settledHost(of: request.group), request)
        let reply = Reply.bytes(capacity: 4096) {
            $0.member("commits")
            $0.beginArray()
            for commit in commits { $0.raw(commit) }
            $0.endArray()
        }
        answer(target, with: reply)
    }

    /// The newest commits asked for, as far as they fit a message: what is left can be asked for with `before`.
    private func encodedCommits(of host: GroupHost, _ request: HistoryRequest) throws(GroupError) -> [[UInt8]] {
        let filter = try KeyFilter(request.keys).bounded()
        let limit = request.limit ?? 100
        var revision = min(host.index.newest, (request.before ?? .max) - (request.before == .min ? 0 : 1))
        var commits: [[UInt8]] = []
        var size = 0
        while commits.count < limit, revision >= host.index.oldest, revision > 0, size < Self.historySize {
            if let commit = host.recorded(revision)?.encoded(only: filter) {
                size += commit.count + 1
                if size > SettingsInterface.commitSize { break }
                commits.append(commit)
            }
            revision -= 1
        }
        guard !commits.isEmpty || size == 0 else {
            throw .tooLarge(
                subject: "commit \(revision) (ask for some of its keys, or for what came before it)",
                limit: Int64(SettingsInterface.commitSize), size: Int64(size))
        }
        return commits
    }

    /// A history that is so large, in bytes, gets no more commits.
    private static let historySize = 4 << 20
}

extension JSONWriter {
    /// Where values come from that are not the group's own.
    fileprivate mutating func writeLayers(of state: GroupState, matching filter: KeyFilter) {
        guard !state.layers.isEmpty else { return }
        let (managed, defaults) = (
            state.keys(from: .managed, matching: filter), state.keys(from: .defaults, matching: filter)
        )
        if !managed.isEmpty { member("managed", strings: managed.map(\.string)) }
        if !defaults.isEmpty { member("defaults", strings: defaults.map(\.string)) }
    }
}

extension RecordedCommit {
    /// The text of the commit cut to the wanted keys; nil where it touches none of them.
    fileprivate func encoded(only filter: KeyFilter) -> [UInt8]? {
        var commit = commit
        commit.changes.removeAll { !filter.includes($0.key) }
        // One that nobody saw is told where everything is: without it the row of revisions would have a gap.
        guard !commit.changes.isEmpty || filter == .all else { return nil }
        return commit.changes.count == self.commit.changes.count ? encoded : commit.encoded
    }
}
