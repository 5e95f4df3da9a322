import GroupModel
import GroupProtocol
import PropertyList

// Where the values come from: the group itself, or what an administrator laid over it and under it.

extension ReplicaMachine {
    /// Whether an administrator has set it: then nobody else can.
    func isForced(_ key: Key) -> Bool { !layers.isEmpty && layers[key] == .managed }

    /// Whether the group itself holds the key, as far as readers see: a write of this process counts.
    func isOwn(_ key: Key) -> Bool {
        guard let value = visible[key] else { return false }
        return layers[key] == nil || value != confirmed[key]
    }

    /// What the group itself holds.
    var ownValues: [Key: Value] {
        layers.isEmpty ? visible : visible.filter { isOwn($0.key) }
    }

    var forcedValues: [Key: Value] {
        layers.isEmpty ? [:] : visible.filter { isForced($0.key) }
    }

    /// - Returns: the keys that come from another layer now, with the one before.
    mutating func setLayers(_ part: WatchEvent.SnapshotPart) -> [Key: GroupModel.Layer] {
        let before = layers
        layers = [:]
        for key in part.managed { layers[key] = .managed }
        for key in part.defaults { layers[key] = .defaults }
        guard !before.isEmpty || !layers.isEmpty else { return [:] }
        var relayered: [Key: GroupModel.Layer] = [:]
        for key in Set(before.keys).union(layers.keys) where before[key] != layers[key] {
            relayered[key] = before[key] ?? .group
        }
        return relayered
    }

    /// The same for a commit.
    mutating func takeLayers(of changes: [Change]) -> [Key: GroupModel.Layer] {
        var relayered: [Key: GroupModel.Layer] = [:]
        for change in changes where !layers.isEmpty || change.layer != .group {
            let before = layers[change.key] ?? .group
            guard before != change.layer else { continue }
            relayered[change.key] = before
            layers[change.key] = change.layer == .group ? nil : change.layer
        }
        return relayered
    }
}
