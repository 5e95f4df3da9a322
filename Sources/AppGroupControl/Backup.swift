import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// The settings of groups as a file: JSON with every value in the form of the interface, so that nothing of it is lost.
///
///     {"appgroupd": "backup", "format": 1, "groups": [{"group": …, "epoch": …, "revision": …, "values": {…}}]}
struct Backup {
    struct Group {
        var group: GroupIdentifier
        /// Where the group stood: all values are those of this one revision.
        var position: Position
        var values: [Key: Value]
    }

    static let format: Int64 = 1

    var groups: [Group] = []

    var encoded: [UInt8] {
        var writer = JSONWriter(capacity: 1 << 16)
        writer.beginObject()
        writer.member("appgroupd", string: "backup")
        writer.member("format", integer: Self.format)
        writer.member("groups")
        writer.beginArray()
        for group in groups {
            writer.beginObject()
            writer.member("group", string: group.group.string)
            writer.member("epoch", string: group.position.epoch.description)
            writer.member("revision", integer: group.position.revision)
            writer.member("values")
            writer.write(group.values)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes + [UInt8(ascii: "\n")]
    }
}

extension Backup {
    /// - Throws: what the text is instead, for people.
    init(parsing bytes: [UInt8], from path: String) throws(Failure) {
        let path = Session.name(of: path)
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: bytes)
        } catch {
            throw .refused("\(path) is no backup: \(error)")
        }
        guard let object = json.objectValue, object["appgroupd"] == .string("backup") else {
            throw .refused("\(path) is no backup of appgroupctl backup", advice: "import takes property lists")
        }
        guard object["format"] == .integer(Self.format), let groups = object["groups"]?.arrayValue else {
            throw .refused("\(path) is a backup of a format that this version does not know")
        }
        for json in groups {
            guard let group = Group(json) else {
                throw .refused("\(path) is a backup with a group that makes no sense")
            }
            self.groups.append(group)
        }
    }
}

extension Backup.Group {
    fileprivate init?(_ json: JSON) {
        guard let object = json.objectValue, let name = object["group"]?.stringValue,
            let group = try? GroupIdentifier(name), let epoch = object["epoch"]?.stringValue.flatMap({ Epoch($0) }),
            let revision = object["revision"]?.integerValue,
            let values = object["values"].flatMap({ try? [Key: Value](wire: $0) })
        else { return nil }
        self.init(group: group, position: Position(epoch: epoch, revision: revision), values: values)
    }
}
