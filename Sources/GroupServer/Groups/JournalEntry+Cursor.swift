import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// Reading the records of which there are many, without trees of JSON.
extension JournalEntry {
    /// What of a commit counts for the state.
    struct StateChange {
        var revision: Int64
        var time: Timestamp
        var isAdministrator = false
        var changes: [Change]
    }

    /// Told by its first member, without reading the rest.
    static func isCommit(_ payload: Span<UInt8>) -> Bool {
        var cursor = JSONCursor()
        do throws(JSONCursor.Unexpected) {
            try cursor.open("{", in: payload)
            return try cursor.name(in: payload) == Member.group
        } catch {
            return false
        }
    }

    /// Of a commit, without reading the rest: what stands behind its revision.
    static func time(ofCommit payload: Span<UInt8>) -> Timestamp? {
        var cursor = JSONCursor()
        do throws(JSONCursor.Unexpected) {
            return try cursor.commitHead(in: payload, of: nil).time
        } catch {
            return nil
        }
    }

    /// Of a snapshot, or of a part of one.
    static func snapshotRevision(_ payload: Span<UInt8>) -> Int64? {
        var cursor = JSONCursor()
        do throws(JSONCursor.Unexpected) {
            return try cursor.snapshotHead(in: payload)
        } catch {
            return nil
        }
    }

    /// Puts the values of a snapshot into the state.
    ///
    /// - Returns: whether it is a part, and another one follows; nil where it cannot be read.
    static func restore(_ state: inout GroupState, fromSnapshot payload: Span<UInt8>) -> Bool? {
        var cursor = JSONCursor()
        do throws(JSONCursor.Unexpected) {
            return try cursor.restore(&state, from: payload)
        } catch {
            return nil
        }
    }

    /// A record that tells of the plist; there may be many differences in it.
    init?(ofPlist payload: Span<UInt8>) {
        var cursor = JSONCursor()
        do throws(JSONCursor.Unexpected) {
            self = try cursor.plistEntry(in: payload)
        } catch {
            return nil
        }
    }

    fileprivate enum Member {
        static let group = JSONCursor.Name("group")
        static let revision = JSONCursor.Name("revision")
        static let time = JSONCursor.Name("time")
        static let origin = JSONCursor.Name("origin")
        static let changes = JSONCursor.Name("changes")
        static let key = JSONCursor.Name("key")
        static let old = JSONCursor.Name("old")
        static let new = JSONCursor.Name("new")
        static let snapshot = JSONCursor.Name("snapshot")
        static let keys = JSONCursor.Name("keys")
        static let size = JSONCursor.Name("size")
        static let partial = JSONCursor.Name("partial")
        static let values = JSONCursor.Name("values")
        static let projection = JSONCursor.Name("projection")
        static let plist = JSONCursor.Name("plist")
        static let differences = JSONCursor.Name("differences")
        static let layer = JSONCursor.Name("layer")
        static let hidden = JSONCursor.Name("hidden")
        static let kind = JSONCursor.Name("kind")
        static let processId = JSONCursor.Name("processId")
        /// What an origin has behind its kind, each at most once and in this order.
        static let restOfOrigin = ["client", "processId", "unit", "tag"].map { JSONCursor.Name($0) }
    }
}

extension JournalEntry.StateChange {
    init(_ commit: Commit) {
        self.init(
            revision: commit.revision, time: commit.time, isAdministrator: commit.origin.kind == .administrator,
            changes: commit.changes)
    }

    /// Nil unless this is a commit of the group, written as this program writes commits.
    init?(_ payload: Span<UInt8>, of group: GroupIdentifier) {
        var cursor = JSONCursor()
        do throws(JSONCursor.Unexpected) {
            let head = try cursor.commitHead(in: payload, of: group)
            revision = head.revision
            time = head.time
            (isAdministrator, changes) = try cursor.commitRest(in: payload)
        } catch {
            return nil
        }
    }
}

extension JSONCursor {
    private typealias Member = JournalEntry.Member

    /// A commit up to its time. Nil: of any group.
    fileprivate mutating func commitHead(
        in bytes: Span<UInt8>, of group: GroupIdentifier?
    ) throws(Unexpected) -> (revision: Int64, time: Timestamp) {
        try open("{", in: bytes)
        try expect(Member.group, in: bytes)
        if let group {
            guard skip(group.string, in: bytes) else { throw Unexpected() }
        } else {
            try skipValue(in: bytes)
        }
        try next(Member.revision, in: bytes)
        guard let revision = try number(in: bytes).integerValue, revision > 0 else { throw Unexpected() }
        try next(Member.time, in: bytes)
        guard let time = Timestamp(rfc3339: try string(in: bytes)) else { throw Unexpected() }
        return (revision, time)
    }

    fileprivate mutating func commitRest(
        in bytes: Span<UInt8>
    ) throws(Unexpected) -> (isAdministrator: Bool, changes: [Change]) {
        try next(Member.origin, in: bytes)
        let isAdministrator = try originKind(in: bytes) == .administrator
        try next(Member.changes, in: bytes)
        var changes: [Change] = []
        try open("[", in: bytes)
        repeat {
            changes.append(try change(in: bytes))
        } while try another(until: "]", in: bytes)
        guard try !another(until: "}", in: bytes) else { throw Unexpected() }
        try end(in: bytes)
        return (isAdministrator, changes)
    }

    /// All of the origin is read, though its kind alone counts: what is taken here is a commit for every other reader, too.
    private mutating func originKind(in bytes: Span<UInt8>) throws(Unexpected) -> Origin.Kind {
        try open("{", in: bytes)
        try expect(Member.kind, in: bytes)
        guard let kind = Origin.Kind(rawValue: try string(in: bytes)) else { throw Unexpected() }
        var rest = Member.restOfOrigin[...]
        while try another(until: "}", in: bytes) {
            let name = try name(in: bytes)
            guard let place = rest.firstIndex(of: name) else { throw Unexpected() }
            rest = rest[(place + 1)...]
            if name == Member.processId { _ = try number(in: bytes) } else { _ = try text(in: bytes) }
        }
        return kind
    }

    private mutating func change(in bytes: Span<UInt8>) throws(Unexpected) -> Change {
        try open("{", in: bytes)
        try expect(Member.key, in: bytes)
        var change = Change(key: Key(try text(in: bytes)), old: nil, new: nil)
        while try another(until: "}", in: bytes) {
            let name = try name(in: bytes)
            if name == Member.old, change.old == nil {
                change.old = try value(in: bytes)
            } else if name == Member.new, change.new == nil {
                change.new = try value(in: bytes)
            } else if name == Member.layer, change.layer == .group,
                let layer = Layer(rawValue: try string(in: bytes)), layer != .group
            {
                change.layer = layer
            } else if name == Member.hidden, !change.isHidden, try boolean(in: bytes) {
                change.isHidden = true
            } else {
                throw Unexpected()
            }
        }
        return change
    }

    fileprivate mutating func snapshotHead(in bytes: Span<UInt8>) throws(Unexpected) -> Int64 {
        try open("{", in: bytes)
        try expect(Member.snapshot, in: bytes)
        guard let revision = try number(in: bytes).integerValue, revision >= 0 else { throw Unexpected() }
        return revision
    }

    fileprivate mutating func restore(_ state: inout GroupState, from bytes: Span<UInt8>) throws(Unexpected) -> Bool {
        _ = try snapshotHead(in: bytes)
        var name = try nextName(in: bytes)
        if name == Member.keys {
            let keys = try integer(in: bytes)
            try next(Member.size, in: bytes)
            state.reserve(count: keys, storedSize: try integer(in: bytes))
            name = try nextName(in: bytes)
        }
        var isPartial = false
        if name == Member.partial {
            isPartial = try boolean(in: bytes)
            name = try nextName(in: bytes)
        }
        guard name == Member.values else { throw Unexpected() }
        try open("{", in: bytes)
        if !close("}", in: bytes) {
            repeat {
                let key = Key(try key(in: bytes))
                guard state.restore(key, try value(in: bytes)) else { throw Unexpected() }
            } while try another(until: "}", in: bytes)
        }
        guard try !another(until: "}", in: bytes) else { throw Unexpected() }
        try end(in: bytes)
        return isPartial
    }

    fileprivate mutating func plistEntry(in bytes: Span<UInt8>) throws(Unexpected) -> JournalEntry {
        try open("{", in: bytes)
        let name = try name(in: bytes)
        guard name == Member.projection || name == Member.plist else { throw Unexpected() }
        let text = try string(in: bytes)
        let digest = Digest(text)
        guard digest != nil || text.isEmpty else { throw Unexpected() }
        var differences: [Key: Value?] = [:]
        if try another(until: "}", in: bytes) {
            try expect(Member.differences, in: bytes)
            differences = try self.differences(in: bytes)
            guard try !another(until: "}", in: bytes) else { throw Unexpected() }
        }
        try end(in: bytes)
        if name == Member.plist { return .plist(digest: digest, differences: differences) }
        guard let digest else { throw Unexpected() }
        return .projection(digest: digest, differences: differences)
    }

    /// Null stands for a key that the file does not have.
    private mutating func differences(in bytes: Span<UInt8>) throws(Unexpected) -> [Key: Value?] {
        var differences: [Key: Value?] = [:]
        try open("{", in: bytes)
        if close("}", in: bytes) { return differences }
        repeat {
            let key = Key(try key(in: bytes))
            differences.updateValue(skipNull(in: bytes) ? nil : try value(in: bytes), forKey: key)
        } while try another(until: "}", in: bytes)
        return differences
    }

    private mutating func next(_ name: Name, in bytes: Span<UInt8>) throws(Unexpected) {
        guard try nextName(in: bytes) == name else { throw Unexpected() }
    }

    private mutating func nextName(in bytes: Span<UInt8>) throws(Unexpected) -> Name {
        guard try another(until: "}", in: bytes) else { throw Unexpected() }
        return try name(in: bytes)
    }

    private mutating func integer(in bytes: Span<UInt8>) throws(Unexpected) -> Int {
        guard let number = try number(in: bytes).integerValue else { throw Unexpected() }
        return Int(number)
    }

    private mutating func expect(_ expected: Name, in bytes: Span<UInt8>) throws(Unexpected) {
        guard try name(in: bytes) == expected else { throw Unexpected() }
    }
}
