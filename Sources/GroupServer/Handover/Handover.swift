import GroupCore
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

/// What one daemon leaves to the next over a restart: its clients' connections, with all that is needed to go on with each
/// as if nothing had happened. The descriptors go through the manager's store; this text, in a sealed file, says which is
/// which. Read by the daemon that starts, which may be of another version: what it does not understand it lets go, and those
/// clients connect anew.
struct Handover: Equatable, Sendable {
    /// Of this format.
    private static let version: Int64 = 1

    struct Client: Equatable, Sendable {
        /// Of the socket: by it the descriptor is recognised.
        var inode: Int64
        /// What came and was not served yet: a part of a call, or calls behind a stream.
        var input: [UInt8]
        /// What was to be said and the socket did not take yet.
        var output: [UInt8]
        var owesFirstReply: Bool
        var watches: [Watch]?
        var documents: Documents?
    }

    struct Watch: Equatable, Sendable {
        var group: GroupIdentifier
        var keys: [String]?
        var standing: WatchStream.Standing
        /// Where `standing` is a revision: of this epoch.
        var epoch: Epoch?
    }

    struct Documents: Equatable, Sendable {
        var group: GroupIdentifier
        var path: String?
    }

    var clients: [Client]
}

// MARK: - As a text

extension Handover {
    var encoded: [UInt8] {
        var writer = JSONWriter(capacity: 4096)
        writer.beginObject()
        writer.member("version", integer: Self.version)
        writer.member("clients")
        writer.beginArray()
        for client in clients { writer.write(client) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    init?(_ bytes: [UInt8]) {
        guard let object = (try? JSON(parsing: bytes.span))?.objectValue,
            object["version"]?.integerValue == Self.version, let list = object["clients"]?.arrayValue
        else { return nil }
        clients = list.compactMap(Client.init(json:))
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ client: Handover.Client) {
        beginObject()
        member("inode", integer: client.inode)
        member("input", string: String(decoding: Base64.encode(client.input), as: UTF8.self))
        member("output", string: String(decoding: Base64.encode(client.output), as: UTF8.self))
        member("owesFirstReply", boolean: client.owesFirstReply)
        if let watches = client.watches {
            member("watches")
            beginArray()
            for watch in watches { write(watch) }
            endArray()
        }
        if let documents = client.documents {
            member("documents")
            beginObject()
            member("group", string: documents.group.string)
            if let path = documents.path { member("path", string: path) }
            endObject()
        }
        endObject()
    }

    private mutating func write(_ watch: Handover.Watch) {
        beginObject()
        member("group", string: watch.group.string)
        if let keys = watch.keys { member("keys", strings: keys) }
        switch watch.standing {
        case .at(let revision): member("revision", integer: revision)
        case .snapshot(let reason): member("snapshot", string: reason.rawValue)
        case .gone: member("gone", boolean: true)
        }
        if let epoch = watch.epoch { member("epoch", string: epoch.description) }
        endObject()
    }
}

extension Handover.Client {
    fileprivate init?(json: JSON) {
        guard let object = json.objectValue, let inode = object["inode"]?.integerValue,
            let input = object["input"]?.stringValue.flatMap({ Base64.decode($0.utf8) }),
            let output = object["output"]?.stringValue.flatMap({ Base64.decode($0.utf8) }),
            let owesFirstReply = object["owesFirstReply"]?.booleanValue
        else { return nil }
        self.init(inode: inode, input: input, output: output, owesFirstReply: owesFirstReply)
        if let list = object["watches"]?.arrayValue {
            let watches = list.compactMap(Handover.Watch.init(json:))
            guard watches.count == list.count else { return nil }
            self.watches = watches
        }
        if let object = object["documents"]?.objectValue {
            guard let group = object["group"]?.stringValue.flatMap({ try? GroupIdentifier($0) }) else { return nil }
            documents = Handover.Documents(group: group, path: object["path"]?.stringValue)
        }
    }
}

extension Handover.Watch {
    fileprivate init?(json: JSON) {
        guard let object = json.objectValue,
            let group = object["group"]?.stringValue.flatMap({ try? GroupIdentifier($0) })
        else { return nil }
        self.group = group
        keys = object["keys"]?.arrayValue?.compactMap(\.stringValue)
        epoch = object["epoch"]?.stringValue.flatMap { Epoch($0) }
        if let revision = object["revision"]?.integerValue {
            standing = .at(revision)
        } else if let reason = object["snapshot"]?.stringValue.flatMap(Snapshot.Reason.init) {
            standing = .snapshot(reason)
        } else {
            standing = .gone
        }
    }
}
