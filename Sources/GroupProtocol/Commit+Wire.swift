package import GroupModel
import PropertyList
package import Varlink

extension JSONWriter {
    package mutating func write(_ position: Position) {
        beginObject()
        member("epoch", string: position.epoch.description)
        member("revision", integer: position.revision)
        endObject()
    }

    package mutating func write(_ origin: Origin) {
        beginObject()
        member("kind", string: origin.kind.rawValue)
        if let client = origin.client { member("client", string: client) }
        if let processId = origin.processId { member("processId", integer: Int64(processId)) }
        if let unit = origin.unit { member("unit", string: unit) }
        if let tag = origin.tag { member("tag", string: tag) }
        endObject()
    }

    package mutating func write(_ commit: Commit) {
        beginObject()
        member("group", string: commit.group.string)
        member("revision", integer: commit.revision)
        member("time", string: commit.time.rfc3339Microseconds)
        member("origin")
        write(commit.origin)
        member("changes")
        beginArray()
        for change in commit.changes { write(change) }
        endArray()
        endObject()
    }

    private mutating func write(_ change: Change) {
        beginObject(.key)
        writeRest(of: change)
    }

    /// From its key on, whose name is there already.
    mutating func writeRest(of change: Change) {
        string(change.key.string)
        if let old = change.old {
            member(.old)
            write(old)
        }
        if let new = change.new {
            member(.new)
            write(new)
        }
        if change.layer != .group { member("layer", string: change.layer.rawValue) }
        if change.isHidden { member("hidden", boolean: true) }
        endObject()
    }
}

extension Commit {
    /// The one encoding of a commit, which the journal keeps and every observer gets. Whoever has many of one group takes
    /// `GroupText`.
    package var encoded: [UInt8] {
        var writer = JSONWriter(capacity: 256)
        writer.write(self)
        return writer.bytes
    }

    /// Nil for anything that is no commit. Fields of a later version are ignored, as a reader of replies does.
    package init?(wire json: JSON) {
        guard let object = json.objectValue,
            let group = object["group"]?.stringValue.flatMap({ try? GroupIdentifier($0) }),
            let revision = object["revision"]?.integerValue, revision > 0,
            let time = object["time"]?.stringValue.flatMap({ Timestamp(rfc3339: $0) }),
            let origin = object["origin"].flatMap(Origin.init(wire:)),
            let elements = object["changes"]?.arrayValue
        else { return nil }
        let changes = elements.compactMap(Change.init(wire:))
        guard changes.count == elements.count else { return nil }
        self.init(group: group, revision: revision, time: time, origin: origin, changes: changes)
    }
}

extension Position {
    package init?(wire json: JSON) {
        guard let object = json.objectValue, object.allSatisfy({ $0.name == "epoch" || $0.name == "revision" }),
            let epoch = object["epoch"]?.stringValue.flatMap({ Epoch($0) }),
            let revision = object["revision"]?.integerValue
        else { return nil }
        self.init(epoch: epoch, revision: revision)
    }
}

extension Origin {
    package init?(wire json: JSON) {
        guard let object = json.objectValue, let kind = object["kind"]?.stringValue.flatMap(Kind.init) else {
            return nil
        }
        self.init(
            kind: kind, client: object["client"]?.stringValue,
            processId: object["processId"]?.integerValue.flatMap { Int32(exactly: $0) },
            unit: object["unit"]?.stringValue, tag: object["tag"]?.stringValue)
    }
}

extension Change {
    fileprivate init?(wire json: JSON) {
        guard let object = json.objectValue, let key = object["key"]?.stringValue else { return nil }
        var values: [Value?] = []
        for name in ["old", "new"] {
            guard let field = object[name], !field.isNull else {
                values.append(nil)
                continue
            }
            guard let value = try? Value(wire: field) else { return nil }
            values.append(value)
        }
        self.init(
            key: Key(key), old: values[0], new: values[1],
            layer: object["layer"]?.stringValue.flatMap(Layer.init) ?? .group,
            isHidden: object["hidden"]?.booleanValue ?? false)
    }
}
