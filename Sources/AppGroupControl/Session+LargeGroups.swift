import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// Groups that are too large for one reply.
extension Session {
    /// What `Read` would answer if a message had room for it: the state that a watch begins with, which comes in parts.
    func readInParts(_ group: GroupIdentifier, keys: [String]?) throws(Failure) -> JSONObject {
        let address = try address()
        let deadline = try answerDeadline()
        do throws(ConnectionError) {
            let connection = try DaemonConnection(to: address, deadline: deadline)
            try connection.watch([WatchedGroup(group: group, keys: keys)], deadline: deadline)
            var values: [Key: Value] = [:]
            while true {
                guard case .snapshot(let part) = try connection.next(deadline: deadline) else { throw .unexpectedReply }
                values.merge(part.values) { $1 }
                if !part.isPartial { return try Self.reply(part, values) }
            }
        } catch {
            throw failure(error)
        }
    }

    private static func reply(
        _ last: WatchEvent.SnapshotPart, _ values: [Key: Value]
    ) throws(ConnectionError) -> JSONObject {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("position")
        writer.write(last.position)
        writer.member("values")
        writer.write(values)
        for (name, keys) in [("managed", last.managed), ("defaults", last.defaults)] where !keys.isEmpty {
            writer.member(name, strings: keys.map(\.string))
        }
        writer.endObject()
        guard let reply = (try? JSON(parsing: writer.bytes.span))?.objectValue else { throw .unexpectedReply }
        return reply
    }
}
