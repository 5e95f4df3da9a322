import TestSupport
import Testing
import Varlink

/// A client of the daemon that speaks in JSON only, so that what is compared is what stands on the wire.
final class SettingsClient {
    static let interface = "io.appgroupd.Settings"
    private let peer: RawPeer

    init(socket: String) throws {
        peer = try RawPeer(path: socket, timeoutSeconds: 20)
    }

    convenience init(_ daemon: RunningDaemon) throws {
        try self.init(socket: daemon.socket)
    }

    struct Refused: Error {
        let reply: Reply
    }

    @discardableResult
    func call(_ method: String, _ parameters: JSONObject = [:]) throws -> JSONObject {
        try send(method, parameters)
        return try receive()
    }

    func send(_ method: String, _ parameters: JSONObject, mode: Call.Mode = .single) throws {
        try peer.send(Call(method: "\(Self.interface).\(method)", parameters: parameters, mode: mode).bytes)
    }

    func receive() throws -> JSONObject {
        let reply = try Reply(parsing: try peer.readMessageBytes())
        guard reply.error == nil else { throw Refused(reply: reply) }
        return reply.parameters
    }

    func write(_ group: String, _ values: [(String, JSON)]) throws {
        let edits = values.map { JSON.object(["key": .string($0.0), "value": $0.1]) }
        try call("Write", ["group": .string(group), "edits": .array(edits)])
    }

    /// All values, and the revision at which they stand.
    func read(_ group: String) throws -> (values: JSONObject, revision: Int64) {
        let reply = try call("Read", ["group": .string(group)])
        let revision = reply["position"]?.objectValue?["revision"]?.integerValue
        return (try #require(reply["values"]?.objectValue), try #require(revision))
    }

    func synchronize(_ group: String) throws {
        try call("Synchronize", ["group": .string(group)])
    }
}
