package import GroupModel
package import PropertyList

/// The state of a group, or a part of it where it is large.
package struct Snapshot: Sendable {
    package enum Reason: String, Sendable, CaseIterable {
        /// The watch began without a position.
        case initial
        /// The commits after the position are not kept any more.
        case tooOld
        /// More changed than this observer's queue may hold.
        case overflow
        /// The group was made anew since.
        case otherEpoch
    }

    package var group: GroupIdentifier
    package var position: Position
    /// The effective ones.
    package var values: [Key: Value]
    /// The keys among them that an administrator forces, and those that have an administrator's default.
    package var managed: [Key] = []
    package var defaults: [Key] = []
    package var reason: Reason
    /// More parts of the same position follow.
    package var isPartial: Bool
}

extension Snapshot {
    /// At least one part; all but the last are marked partial. A value larger than the size has a part of its own.
    func split(partSize: Int) -> [Snapshot] {
        var parts: [Snapshot] = []
        var part = self
        part.values = [:]
        // With the last part.
        (part.managed, part.defaults) = ([], [])
        part.isPartial = true
        var size = 0
        for (key, value) in values {
            let cost = Value.messageSize(key, value)
            if size + cost > partSize, !part.values.isEmpty {
                parts.append(part)
                part.values = [:]
                size = 0
            }
            part.values[key] = value
            size += cost
        }
        part.isPartial = false
        (part.managed, part.defaults) = (managed, defaults)
        return parts + [part]
    }
}

/// How much one reply of a watch may tell, in bytes of a message.
package struct ReplySizes: Sendable {
    /// Of the values: a larger snapshot goes out in parts of about this size.
    package var snapshotPart: Int
    /// A larger commit cannot be told, nor be divided: the observer gets the state that it made instead.
    package var commit: Int

    package init(snapshotPart: Int, commit: Int) {
        self.snapshotPart = snapshotPart
        self.commit = commit
    }
}
