package import PropertyList

/// Who made a commit. Nothing of it but `tag` is taken from the client's word.
package struct Origin: Hashable, Sendable {
    package enum Kind: String, Sendable, CaseIterable {
        case client, file, administrator, daemon
    }

    package var kind: Kind
    /// The program's name as the kernel knows it.
    package var client: String?
    package var processId: Int32?
    /// The systemd unit of the process, if it has one.
    package var unit: String?
    /// What the client sent with its write, so that it knows its own echo.
    package var tag: String?

    package init(
        kind: Kind, client: String? = nil, processId: Int32? = nil, unit: String? = nil, tag: String? = nil
    ) {
        self.kind = kind
        self.client = client
        self.processId = processId
        self.unit = unit
        self.tag = tag
    }

    package static let file = Origin(kind: .file)
}

/// One step of a write, applied to the value that the group has at that moment.
package struct Edit: Equatable, Sendable {
    package enum Operation: String, Sendable, CaseIterable {
        /// Gives the key this value.
        case set
        case remove
        /// Adds the value as one element to an array.
        case append
        /// Puts a dictionary's entries into a dictionary.
        case merge
        /// Adds a number exactly.
        case increment
        /// Flips a boolean.
        case toggle
    }

    package var key: Key
    package var operation: Operation
    package var value: Value?
    /// Of a merge: what the key gets where it holds no dictionary. Nil: an absent key counts as empty, another type is an
    /// error.
    package var otherwise: Value?

    package init(key: Key, operation: Operation, value: Value?, otherwise: Value? = nil) {
        self.key = key
        self.operation = operation
        self.value = value
        self.otherwise = otherwise
    }

    package static func set(_ key: Key, _ value: Value) -> Edit { Edit(key: key, operation: .set, value: value) }
    package static func remove(_ key: Key) -> Edit { Edit(key: key, operation: .remove, value: nil) }
}

/// Where an effective value comes from. The first one that has the key wins.
package enum Layer: String, Sendable, CaseIterable {
    /// Forced by an administrator: nobody can write the key.
    case managed
    case group
    /// An administrator's default, for keys that the group does not have.
    case defaults
}

/// What a commit did to one key. `old` and `new` differ; nil stands for "no such key".
package struct Change: Equatable, Sendable {
    package var key: Key
    package var old: Value?
    package var new: Value?
    /// Where `new` comes from.
    package var layer: Layer
    /// Nobody sees it: the group's own value changed, which an administrator's hides, or which is equal to one. It is in the
    /// journal, and told to nobody.
    package var isHidden: Bool

    package init(key: Key, old: Value?, new: Value?, layer: Layer = .group, isHidden: Bool = false) {
        self.key = key
        self.old = old
        self.new = new
        self.layer = layer
        self.isHidden = isHidden
    }
}

/// One atomic set of changes to one group.
package struct Commit: Equatable, Sendable {
    package var group: GroupIdentifier
    package var revision: Int64
    package var time: Timestamp
    package var origin: Origin
    /// At least one; no key twice.
    package var changes: [Change]

    package init(group: GroupIdentifier, revision: Int64, time: Timestamp, origin: Origin, changes: [Change]) {
        self.group = group
        self.revision = revision
        self.time = time
        self.origin = origin
        self.changes = changes
    }
}

/// A commit with its one encoding, which serves the journal, every observer and the history.
package final class RecordedCommit: Sendable {
    package let commit: Commit
    /// The JSON text of the interface's type `Commit`.
    package let encoded: [UInt8]

    package init(_ commit: Commit, encoded: [UInt8]) {
        self.commit = commit
        self.encoded = encoded
    }
}
