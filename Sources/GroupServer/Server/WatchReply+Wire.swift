import GroupCore
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension WatchReply {
    /// The message, its NUL included.
    var message: [UInt8] {
        var bytes: [UInt8] = []
        appendMessage(to: &bytes)
        return bytes
    }

    /// The same behind other messages.
    func appendMessage(to bytes: inout [UInt8]) {
        guard case .recorded(let recorded) = self else { return JSONWriter.append(to: &bytes, write) }
        // What comes most, in three pieces that are there already.
        bytes.append(contentsOf: Self.commitHead)
        bytes.append(contentsOf: recorded.encoded)
        bytes.append(contentsOf: Self.commitEnd)
    }

    private static let commitHead = Array(#"{"parameters":{"commit":"#.utf8)
    private static let commitEnd = Array(#"},"continues":true}"#.utf8) + [0]

    private func write(_ writer: inout JSONWriter) {
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
        if !snapshot.managed.isEmpty { member("managed", strings: snapshot.managed.map(\.string)) }
        if !snapshot.defaults.isEmpty { member("defaults", strings: snapshot.defaults.map(\.string)) }
        endObject()
    }
}
