import Glibc
import GroupModel
import PropertyList

extension GroupDefaults {
    /// A change of what a reader sees under one key, whoever made it.
    ///
    /// `old` and `new` are effective values: where a key is removed and a registered default stands behind it, `new` is that
    /// default. They differ in every change but an initial one; what is hidden by an argument of the command line is no
    /// change.
    public struct Change: Sendable, Equatable {
        /// The key that has changed.
        public let key: String
        /// What a reader saw before; nil for nothing.
        public let old: StoredValue?
        /// What a reader sees now; nil for nothing.
        public let new: StoredValue?
        /// Who made it; nil where that is not known: after a connection was lost and came back.
        public let origin: Origin?
        /// The group's revision that brought it. Nil for a change of this process that the daemon has not confirmed yet, and
        /// for changes of suites and registered defaults. Revisions only ever grow, until the group is deleted.
        public let revision: Int?
        /// It is no change but the value with which the observation begins.
        public let isInitial: Bool
        /// How many changes of this key it stands for: more than 1 where the consumer was slower than they came.
        public let coalesced: Int
    }

    /// All changes that were made together, or, for a consumer slower than they come, several such in one.
    public struct Commit: Sendable, Equatable {
        /// Each key once, in the order of the keys' bytes.
        public let changes: [Change]
        /// Who made it; where several are in one, the last of them.
        public let origin: Origin?
        /// The group's revision that brought it, as in ``Change/revision``.
        public let revision: Int?
        /// How many commits it stands for.
        public let coalesced: Int
    }

    /// Who made a change.
    public struct Origin: Sendable, Equatable {
        /// What made it. More may come: a `switch` needs a default.
        public struct Kind: Hashable, Sendable, CustomStringConvertible {
            /// Its name.
            public let description: String

            /// A program, through the daemon.
            public static let client = Kind(description: "client")
            /// Somebody who edited the group's file.
            public static let file = Kind(description: "file")
            /// The administrator's settings.
            public static let administrator = Kind(description: "administrator")
            /// The daemon, such as when it refuses a write, which is then taken back.
            public static let daemon = Kind(description: "daemon")
        }

        /// What kind of maker it is.
        public let kind: Kind
        /// The program's name as the kernel knows it, if it is a program.
        public let name: String?
        /// The program's process, if it is a program.
        public let processId: Int?
        /// Made by this process.
        public let isOwn: Bool
    }
}

extension GroupDefaults.Origin {
    /// This process, before the daemon has said so.
    static let this = Self(
        kind: .client, name: CommandLine.arguments.first.map { String($0.split(separator: "/").last ?? "") },
        processId: Int(getpid()), isOwn: true)

    init?(_ step: ReplicaMachine.Step) {
        guard let origin = step.origin else {
            guard step.isOwn else { return nil }
            self = .this
            return
        }
        kind = Kind(description: origin.kind.rawValue)
        (name, processId, isOwn) = (origin.client, origin.processId.map(Int.init), step.isOwn)
    }
}

extension GroupDefaults.Change {
    init(_ change: EffectiveChange, in step: ReplicaMachine.Step, by origin: GroupDefaults.Origin?) {
        key = change.key.string
        old = change.old.map(StoredValue.init)
        new = change.new.map(StoredValue.init)
        self.origin = origin
        revision = step.revision.map(Int.init)
        isInitial = false
        coalesced = step.coalesced.map { Swift.max(1, Int($0)) } ?? 1
    }

    /// The value with which an observation begins.
    init(initial key: PropertyList.Key, _ value: Value?) {
        self.key = key.string
        new = value.map(StoredValue.init)
        (old, origin, revision, isInitial, coalesced) = (nil, nil, nil, true, 1)
    }

    private init(_ key: String, _ old: StoredValue?, _ new: StoredValue?, like last: Self, _ coalesced: Int) {
        (self.key, self.old, self.new, self.coalesced) = (key, old, new, coalesced)
        (origin, revision, isInitial) = (last.origin, last.revision, false)
    }

    /// This change and a later one of the same key as one; nil when the value has come back.
    func followed(by later: Self) -> Self? {
        if isInitial {
            return Self(initial: PropertyList.Key(key), later.new?.value)
        }
        guard old != later.new else { return nil }
        return Self(key, old, later.new, like: later, coalesced + later.coalesced)
    }
}
