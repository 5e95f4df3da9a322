import GroupCore
import GroupModel
import GroupProtocol
import Varlink

extension WatchReply {
    /// The message, its NUL included.
    var message: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.beginObject()
        writer.member("parameters")
        writer.beginObject()
        switch self {
        case .recorded(let recorded): writer.member("commit", raw: recorded.encoded)
        case .commit(let commit, let coalesced):
            writer.member("commit")
            writer.write(commit)
            if let coalesced { writer.member("coalesced", integer: Int64(coalesced)) }
        case .snapshot(let snapshot):
            writer.member("snapshot")
            writer.write(snapshot)
        case .deleted(let group): writer.member("deleted", string: group.string)
        }
        writer.endObject()
        writer.member("continues", boolean: true)
        writer.endObject()
        writer.endMessage()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ snapshot: Snapshot) {
        beginObject()
        member("group", string: snapshot.group.string)
        member("position")
        write(snapshot.position)
        member("values")
        write(snapshot.values)
        member("reason", string: snapshot.reason.rawValue)
        if snapshot.isPartial { member("partial", boolean: true) }
        endObject()
    }
}
