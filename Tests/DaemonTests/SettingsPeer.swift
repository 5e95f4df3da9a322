import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Varlink

/// A typed client of the real daemon, one call at a time, on a raw socket of the test's own.
final class SettingsPeer {
    let peer: RawPeer

    init(_ daemon: RunningDaemon) throws {
        peer = try daemon.peer()
    }

    /// For threads of their own, which the daemon's object does not go to.
    init(socket: String) throws {
        peer = try RawPeer(path: socket, timeoutSeconds: 60)
    }

    init(_ peer: RawPeer) {
        self.peer = peer
    }

    struct Unexpected: Error {
        let reply: Reply
    }

    func send(_ request: Request) throws { try peer.send(request.callBytes) }

    func receive() throws -> Reply {
        let bytes = try peer.readMessageBytes()
        return try Reply(parsing: bytes)
    }

    /// The reply's parameters; throws the interface's `GroupError`, or `Unexpected` for any other error.
    @discardableResult
    func call(_ request: Request) throws -> JSONObject {
        try send(request)
        return try checked(receive())
    }

    func checked(_ reply: Reply) throws -> JSONObject {
        if let error = GroupError(reply) { throw error }
        if reply.error != nil { throw Unexpected(reply: reply) }
        return reply.parameters
    }

    @discardableResult
    func create(_ group: GroupIdentifier) throws -> String {
        try call(.createGroup(group))["container"]?.stringValue ?? ""
    }

    @discardableResult
    func write(
        _ group: GroupIdentifier, _ edits: [Edit], unchangedSince: Int64? = nil, durable: Bool = false,
        tag: String? = nil
    ) throws -> (position: Position?, changed: [String]) {
        let reply = try call(
            .write(
                WriteRequest(
                    group: group, edits: edits, unchangedSince: unchangedSince, isDurable: durable, tag: tag)))
        let changed = reply["changed"]?.arrayValue?.compactMap(\.stringValue) ?? []
        return (reply["position"].flatMap(Position.init(wire:)), changed)
    }

    func read(_ group: GroupIdentifier, keys: [String]? = nil) throws -> (position: Position?, values: [Key: Value]) {
        let reply = try call(.read(group, keys: keys))
        return (reply["position"].flatMap(Position.init(wire:)), try [Key: Value](wire: reply["values"] ?? [:]))
    }

    func status() throws -> DaemonStatus? {
        DaemonStatus(wire: try call(.status(observers: false)))
    }

    func status(of group: GroupIdentifier) throws -> GroupStatus? {
        try status()?.groups.first { $0.group == group }
    }

    /// Begins a watch; its events come by `event()`.
    func watch(_ watches: [WatchedGroup]) throws { try send(.watch(watches)) }

    func event() throws -> WatchEvent {
        let parameters = try checked(receive())
        guard let event = WatchEvent(wire: parameters) else { throw Unexpected(reply: Reply(parameters: parameters)) }
        return event
    }

    /// The next commit of the watch, passing over what is none.
    func commit() throws -> Commit {
        while true {
            if case .commit(let commit, _) = try event() { return commit }
        }
    }
}

extension GroupIdentifier {
    static let example = GroupIdentifier(known: "group.com.example.app")

    /// For identifiers that are written in a test.
    init(known text: String) {
        do throws(GroupError) {
            try self.init(text)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
