import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// What the records of a group's journal say. The journal itself carries them as opaque texts.
///
/// `header` comes first and once. A journal that was rewritten goes on with the commits that are kept as history, which the
/// header counts, then the snapshot of what they led to, in parts where it is large. A commit is the interface's type
/// `Commit`, so that the same bytes serve the journal and every observer.
enum JournalEntry: Sendable {
    case header(group: String, epoch: Epoch, history: Int = 0)
    /// Partial: another one of the same revision follows. The first part says how much there will be in all.
    case snapshot(revision: Int64, values: [Key: Value], isPartial: Bool = false, extent: SnapshotExtent? = nil)
    case commit(Commit)
    /// The plist is about to become this text; it may have happened or not. The text holds the group's state at this
    /// place of the journal, but for the differences: the keys that changed while it was made.
    case projection(digest: Digest, differences: [Key: Value?] = [:])
    /// The plist holds the group's state at this place of the journal, but for the differences. No digest: no file.
    case plist(digest: Digest?, differences: [Key: Value?])
    /// What administrators' files hold, from this revision on: that of the commit behind it, or of the one before it.
    case layers(GroupLayers, revision: Int64)

    /// From here on this epoch counts, and the journal is written in this boot of the machine. Where the epoch is another
    /// one, positions of that before may name revisions that are lost.
    case epoch(Epoch, boot: String?)
    /// The daemon ended, and all before is on stable storage. Counts as long as it is the last record.
    case end

    static let format: Int64 = 1

    /// How many keys a snapshot has in all its parts, and how many bytes of memory they take: a hint for the reader.
    struct SnapshotExtent: Equatable {
        var keys: Int
        var size: Int
    }
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
        case .snapshot(let revision, let values, let isPartial, let extent):
            writer.member("snapshot", integer: revision)
            if let extent {
                writer.member("keys", integer: Int64(extent.keys))
                writer.member("size", integer: Int64(extent.size))
            }
            if isPartial { writer.member("partial", boolean: true) }
            writer.member("values")
            writer.write(values)
        case .projection(let digest, let differences):
            writer.member("projection", string: digest.description)
            if !differences.isEmpty { writer.write(differences: differences) }
        case .plist(let digest, let differences):
            writer.member("plist", string: digest?.description ?? "")
            if !differences.isEmpty { writer.write(differences: differences) }
        case .layers(let layers, let revision):
            writer.member("layers", integer: revision)
            writer.member("managed")
            writer.write(layers.managed)
            writer.member("defaults")
            writer.write(layers.defaults)
        case .epoch(let epoch, let boot):
            writer.member("epoch", string: epoch.description)
            if let boot { writer.member("boot", string: boot) }
        case .end: writer.member("end", boolean: true)
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
    /// Nil for a text that is none of these, which only damage or a later version can have written.
    init?(_ payload: Span<UInt8>) {
        if let entry = JournalEntry(ofPlist: payload) {
            self = entry
            return
        }
        guard let json = try? JSON(parsing: payload), let object = json.objectValue else { return nil }
        switch object.first?.name {
        case "group":
            guard let commit = Commit(wire: json) else { return nil }
            self = .commit(commit)
        case "appgroupd": self.init(header: object)
        case "snapshot": self.init(snapshot: object)
        case "layers": self.init(layers: object)
        case "epoch":
            guard let epoch = object["epoch"]?.stringValue.flatMap({ Epoch($0) }) else { return nil }
            self = .epoch(epoch, boot: object["boot"]?.stringValue)
        case "end": self = .end
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

    private init?(layers object: JSONObject) {
        guard let revision = object["layers"]?.integerValue, revision >= 0,
            let managed = object["managed"].flatMap({ try? [Key: Value](wire: $0) }),
            let defaults = object["defaults"].flatMap({ try? [Key: Value](wire: $0) })
        else { return nil }
        self = .layers(GroupLayers(managed: managed, defaults: defaults), revision: revision)
    }

    private init?(snapshot object: JSONObject) {
        guard let revision = object["snapshot"]?.integerValue, revision >= 0,
            let values = object["values"].flatMap({ try? [Key: Value](wire: $0) })
        else { return nil }
        self = .snapshot(revision: revision, values: values, isPartial: object["partial"]?.booleanValue ?? false)
    }
}
