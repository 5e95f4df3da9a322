package import GroupModel
package import PropertyList
package import Varlink

/// One reply of a `Watch`, as a client reads it.
package enum WatchEvent: Sendable {
    /// Nothing yet, but the watch stands.
    case established
    case snapshot(SnapshotPart)
    case commit(Commit, coalesced: Int64?)
    case deleted(String)

    /// The state of a group, or a part of it, as the wire carries it.
    package struct SnapshotPart: Equatable, Sendable {
        package var group: String
        package var position: Position
        package var values: [Key: Value]
        package var reason: String
        package var isPartial: Bool
        /// The keys that an administrator forces, and those whose values are an administrator's defaults; of the whole
        /// snapshot, with its last part.
        package var managed: [Key] = []
        package var defaults: [Key] = []

        package init(
            group: String, position: Position, values: [Key: Value], reason: String, isPartial: Bool
        ) {
            self.group = group
            self.position = position
            self.values = values
            self.reason = reason
            self.isPartial = isPartial
        }
    }

    /// Nil for a reply that is none of these.
    package init?(wire parameters: JSONObject) {
        if let field = parameters["snapshot"], !field.isNull {
            guard let part = field.objectValue.flatMap(SnapshotPart.init(wire:)) else { return nil }
            self = .snapshot(part)
        } else if let field = parameters["commit"], !field.isNull {
            guard let commit = Commit(wire: field) else { return nil }
            self = .commit(commit, coalesced: parameters["coalesced"]?.integerValue)
        } else if let field = parameters["deleted"], !field.isNull {
            guard let group = field.stringValue else { return nil }
            self = .deleted(group)
        } else {
            self = .established
        }
    }
}

extension WatchEvent.SnapshotPart {
    init?(wire object: JSONObject) {
        guard let group = object["group"]?.stringValue,
            let position = object["position"].flatMap(Position.init(wire:)),
            let values = object["values"].flatMap({ try? [Key: Value](wire: $0) }),
            let reason = object["reason"]?.stringValue
        else { return nil }
        self.init(
            group: group, position: position, values: values, reason: reason,
            isPartial: object["partial"]?.booleanValue ?? false)
        self = withLayers(of: object)
    }

    /// The same with what a snapshot, or the reply to `Read`, says of where values come from.
    package func withLayers(of object: JSONObject) -> Self {
        var part = self
        part.managed = (object["managed"]?.strings ?? []).map { Key($0) }
        part.defaults = (object["defaults"]?.strings ?? []).map { Key($0) }
        return part
    }
}
