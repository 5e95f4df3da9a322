import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// What the records of a group's journal say. The journal itself carries them as opaque texts.
///
/// `header` comes first and once. A journal that was rewritten goes on with the commits that are kept as history, which the
/// header counts, then the snapshot of what they led to. A commit is the interface's type `Commit`, so that the same bytes
/// serve the journal and every observer.
enum JournalEntry: Sendable {
    case header(group: String, epoch: Epoch, history: Int = 0)
    case snapshot(revision: Int64, values: [Key: Value])
    case commit(Commit)
    /// The plist is about to become this text; it may have happened or not. The text holds the group's state at this
    /// place of the journal, but for the differences: the keys that changed while it was made.
    case projection(digest: Digest, differences: [Key: Value?] = [:])
    /// The plist holds the group's state at this place of the journal, but for the differences. No digest: no file.
    case plist(digest: Digest?, differences: [Key: Value?])

    static let format: Int64 = 1
}

// MARK: - Writing

extension JournalEntry {
    var encoded: [UInt8] {
        if case .commit(let commit) = self { return commit.encoded }
        var writer = JSONWriter(capacity: 128)
        writer.beginObject()
        switch self {
        case .header(let group, let epoch, let history):
            writer.member("appgroupd", integer: Self.format)
            writer.member("group", string: group)
            writer.member("epoch", string: epoch.description)
            if history > 0 { writer.member("history", integer: Int64(history)) }
        case .snapshot(let revision, let values):
            writer.member("snapshot", integer: revision)
            writer.member("values")
            writer.write(values)
        case .projection(let digest, let differences):
            writer.member("projection", string: digest.description)
            if !differences.isEmpty { writer.write(differences: differences) }
        case .plist(let digest, let differences):
            writer.member("plist", string: digest?.description ?? "")
            if !differences.isEmpty { writer.write(differences: differences) }
        case .commit: break
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    /// Null stands for a key that the file does not have.
    fileprivate mutating func write(differences: [Key: Value?]) {
        member("differences")
        beginObject()
        for (key, value) in differences {
            member(key.string)
            if let value { write(value) } else { null() }
        }
        endObject()
    }
}

// MARK: - Reading

extension JournalEntry {
    /// Told by its first member, without reading the rest.
    static func isCommit(_ payload: ArraySlice<UInt8>) -> Bool {
        payload.starts(with: #"{"group":"#.utf8)
    }

    /// Of a commit, without reading the rest: what stands behind its revision. Group and revision have no quotes in them.
    static func time(ofCommit payload: ArraySlice<UInt8>) -> Timestamp? {
        let name = Array(#","time":""#.utf8)
        let head = payload.prefix(300)
        guard isCommit(payload), let start = head.indices.first(where: { head[$0...].starts(with: name) }) else {
            return nil
        }
        return Timestamp(rfc3339: head[(start + name.count)...].prefix { $0 != UInt8(ascii: "\"") })
    }

    /// Nil for a text that is none of these, which only damage or a later version can have written.
    init?(_ payload: ArraySlice<UInt8>) {
        guard let json = try? JSON(parsing: payload), let object = json.objectValue else { return nil }
        switch object.first?.name {
        case "group":
            guard let commit = Commit(wire: json) else { return nil }
            self = .commit(commit)
        case "appgroupd": self.init(header: object)
        case "snapshot": self.init(snapshot: object)
        case "projection":
            guard let digest = object["projection"]?.stringValue.flatMap(Digest.init),
                let differences = Self.differences(object)
            else { return nil }
            self = .projection(digest: digest, differences: differences)
        case "plist": self.init(plist: object)
        default: return nil
        }
    }

    private init?(header object: JSONObject) {
        guard object["appgroupd"]?.integerValue == Self.format, let group = object["group"]?.stringValue,
            let epoch = object["epoch"]?.stringValue.flatMap({ Epoch($0) }),
            let history = Int(exactly: object["history"]?.integerValue ?? 0), history >= 0
        else { return nil }
        self = .header(group: group, epoch: epoch, history: history)
    }

    private init?(snapshot object: JSONObject) {
        guard let revision = object["snapshot"]?.integerValue, revision >= 0,
            let values = object["values"].flatMap({ try? [Key: Value](wire: $0) })
        else { return nil }
        self = .snapshot(revision: revision, values: values)
    }

    private init?(plist object: JSONObject) {
        guard let text = object["plist"]?.stringValue else { return nil }
        let digest = Digest(text)
        guard digest != nil || text.isEmpty, let differences = Self.differences(object) else { return nil }
        self = .plist(digest: digest, differences: differences)
    }

    private static func differences(_ object: JSONObject) -> [Key: Value?]? {
        var differences: [Key: Value?] = [:]
        for (name, json) in object["differences"]?.objectValue ?? [:] {
            guard !json.isNull else {
                differences.updateValue(nil, forKey: Key(name))
                continue
            }
            guard let value = try? Value(wire: json) else { return nil }
            differences.updateValue(value, forKey: Key(name))
        }
        return differences
    }
}
