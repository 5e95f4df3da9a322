package import GroupModel
package import PropertyList
import Varlink

/// How far `watch --exec` has come, in its `--state` file:
///
///     {"appgroupd": "watch", "group": …, "epoch": …, "revision": 12, "partial": {"revision": 13, "keys": ["a"]}}
package struct WatchState: Equatable {
    package var group: GroupIdentifier
    /// All up to here is handled.
    package var position: Position
    /// The revision that was being handled, or the last one of those that were handled together.
    package var partialRevision: Int64 = 0
    /// What of it, and of those before it, is handled.
    package var partialKeys: Set<Key> = []

    package init(group: GroupIdentifier, position: Position) {
        self.group = group
        self.position = position
    }

    package func isHandled(_ key: Key, _ revision: Int64) -> Bool {
        revision <= partialRevision && partialKeys.contains(key)
    }

    package mutating func handled(_ key: Key, _ revision: Int64) {
        if revision != partialRevision { partialKeys = [] }
        partialRevision = revision
        partialKeys.insert(key)
    }

    package mutating func handledAll(upTo position: Position) {
        self.position = position
        partialRevision = 0
        partialKeys = []
    }

    package var encoded: [UInt8] {
        var object: JSONObject = [
            "appgroupd": "watch", "group": .string(group.string), "epoch": .string(position.epoch.description),
            "revision": .integer(position.revision),
        ]
        if !partialKeys.isEmpty {
            object["partial"] = [
                "revision": .integer(partialRevision),
                "keys": .array(partialKeys.sorted().map { .string($0.string) }),
            ]
        }
        return Array("\(JSON.object(object))\n".utf8)
    }

    /// Nil for what is no such file.
    package init?(parsing bytes: [UInt8]) {
        guard let object = (try? JSON(parsing: bytes))?.objectValue, object["appgroupd"] == "watch",
            let group = object["group"]?.stringValue.flatMap({ try? GroupIdentifier($0) }),
            let epoch = object["epoch"]?.stringValue.flatMap({ Epoch($0) }),
            let revision = object["revision"]?.integerValue
        else { return nil }
        self.init(group: group, position: Position(epoch: epoch, revision: revision))
        guard let partial = object["partial"]?.objectValue else { return }
        guard let revision = partial["revision"]?.integerValue, let keys = partial["keys"]?.arrayValue else {
            return nil
        }
        partialRevision = revision
        partialKeys = Set(keys.compactMap(\.stringValue).map { Key($0) })
    }
}
