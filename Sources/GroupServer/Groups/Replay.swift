import GroupCore
import GroupFiles
import GroupModel
import PropertyList

/// Builds a group from the records of its journal, one after the other.
///
/// What there may be much of (kept history, the snapshot, commits) is read from the bytes straight into the state: trees
/// of a hundred thousand settings would take longer, and more memory, than all the rest of the start.
struct Replay {
    enum Failure: Error, Equatable {
        /// A record that is sound by its checksum does not make sense; the text says which and why.
        case nonsense(String)
    }

    private(set) var state: GroupState
    /// What the plist is known to hold, and the digests of the texts that it may have.
    private(set) var base = PlistBase()
    private(set) var knownDigest: Digest?
    private(set) var projectedDigest: Digest?
    /// Of the last text that we made for it.
    private(set) var ownText: Digest?
    /// Where the commits are, oldest first; the newest has the state's revision.
    private(set) var commits: [CommitIndex.Entry] = []
    /// Where the snapshot ends: what follows was read one by one. 0 where there is none.
    private(set) var snapshotEnd: UInt64 = 0

    /// In which boot of the machine the last records were written, as far as they say.
    private(set) var boot: String?
    /// Whether the daemon that wrote it came to its end, and left all of it on stable storage.
    private(set) var hasEnded = false

    /// How many commits are still to come that led to the snapshot behind them: they are kept, and not replayed.
    private var historyLeft: Int
    /// After a snapshot, until a record says what the plist holds.
    private var isBaseDue = false
    private var isSnapshotPartial = false
    /// Those that hold from the next commit on, if that is an administrator's.
    private var nextLayers: GroupLayers?

    /// - Throws: unless the first record is this group's header.
    init(_ group: GroupIdentifier, header payload: [UInt8]) throws(Failure) {
        try self.init(group, header: payload.span)
    }

    init(_ group: GroupIdentifier, header payload: Span<UInt8>) throws(Failure) {
        guard case .header(let name, let epoch, let history)? = JournalEntry(payload) else {
            throw .nonsense("the first record is no header of format \(JournalEntry.format)")
        }
        guard name.isIdentical(to: group.string) else { throw .nonsense("it is the journal of \(name)") }
        state = GroupState(identifier: group, position: Position(epoch: epoch, revision: 0))
        historyLeft = history
    }

    mutating func add(_ payload: [UInt8], at offset: UInt64) throws(Failure) {
        try add(payload.span, at: offset)
    }

    mutating func add(_ payload: Span<UInt8>, at offset: UInt64) throws(Failure) {
        hasEnded = false
        if historyLeft > 0 {
            guard let time = JournalEntry.time(ofCommit: payload) else {
                throw .nonsense("the record at byte \(offset) is no commit of the history")
            }
            historyLeft -= 1
            commits.append(CommitIndex.Entry(offset: offset, size: payload.count, time: time))
        } else if let commit = JournalEntry.StateChange(payload, of: state.identifier) {
            try add(commit, size: payload.count, at: offset)
        } else if let revision = JournalEntry.snapshotRevision(payload) {
            try addSnapshot(revision, payload, at: offset)
        } else {
            try addOther(payload, at: offset)
        }
    }

    private mutating func add(
        _ commit: JournalEntry.StateChange, size: Int, at offset: UInt64
    ) throws(Failure) {
        guard commit.revision == state.revision + 1, !isSnapshotPartial else {
            throw .nonsense("commit \(commit.revision) after revision \(state.revision)")
        }
        makeBase()
        if let layers = nextLayers, commit.isAdministrator { state.layers = layers }
        nextLayers = nil
        let changes = state.ownChanges(of: commit.changes, isAdministrator: commit.isAdministrator)
        state.apply(changes, revision: commit.revision)
        base.note(changes)
        commits.append(CommitIndex.Entry(offset: offset, size: size, time: commit.time))
    }

    private mutating func addSnapshot(
        _ revision: Int64, _ payload: Span<UInt8>, at offset: UInt64
    ) throws(Failure) {
        if !isSnapshotPartial {
            guard state.revision == 0, state.count == 0, commits.count <= revision else {
                throw .nonsense("a snapshot after a commit")
            }
            let position = Position(epoch: state.position.epoch, revision: revision)
            state = GroupState(identifier: state.identifier, position: position)
            isBaseDue = true
        }
        guard revision == state.revision,
            let isPartial = JournalEntry.restore(&state, fromSnapshot: payload)
        else { throw .nonsense("the snapshot at byte \(offset) cannot be read") }
        isSnapshotPartial = isPartial
        snapshotEnd = offset + UInt64(payload.count)
    }

    private mutating func addOther(_ payload: Span<UInt8>, at offset: UInt64) throws(Failure) {
        guard !isSnapshotPartial else { throw .nonsense("a snapshot that ends before byte \(offset)") }
        switch JournalEntry(payload) {
        case .projection(let digest, let differences)?:
            makeBase()
            base.beginProjection(but: differences)
            projectedDigest = digest
            ownText = digest
        case .plist(let digest, let differences)?:
            isBaseDue = false
            base = PlistBase(differences: differences)
            knownDigest = digest
            projectedDigest = nil
        case .layers(let layers, let revision)?:
            if revision > state.revision { nextLayers = layers } else { state.layers = layers }
        case .epoch(let epoch, let boot)?:
            state.begin(epoch)
            self.boot = boot ?? self.boot
        case .end?: hasEnded = true
        case .header?: throw .nonsense("a second header")
        case .commit(let commit)?:
            // Written by another version, with something in it that this one passes over.
            guard commit.group == state.identifier else {
                throw .nonsense("commit \(commit.revision) of \(commit.group)")
            }
            try add(JournalEntry.StateChange(commit), size: payload.count, at: offset)
        case .snapshot?, nil: throw .nonsense("a record at byte \(offset) that this version does not know")
        }
    }

    /// Whether the machine went down under the daemon that wrote this: then the newest commits may be lost, although they
    /// were told to observers.
    func mayHaveLost(in boot: String?) -> Bool {
        guard let boot, let before = self.boot else { return false }
        return before != boot && !hasEnded
    }

    /// Another epoch, in which the revisions go on.
    mutating func begin(_ epoch: Epoch) { state.begin(epoch) }

    /// All records are read.
    mutating func end() throws(Failure) {
        guard !isSnapshotPartial else { throw .nonsense("a snapshot without its end") }
        guard historyLeft == 0 else { throw .nonsense("a history without its end") }
        makeBase()
    }

    /// As long as no record tells of the plist, it holds nothing.
    private mutating func makeBase() {
        guard isBaseDue else { return }
        isBaseDue = false
        var differences: [Key: Value?] = [:]
        for key in state.keys { differences.updateValue(nil, forKey: key) }
        base = PlistBase(differences: differences)
    }
}

/// Where a group's commits stand in its journal, for those who resume and for the history.
struct CommitIndex {
    struct Entry {
        var offset: UInt64
        /// Of the payload, in bytes.
        var size: Int
        var time: Timestamp
    }

    private(set) var entries: [Entry]
    /// The revision of the newest entry, or of the group where there is none.
    private(set) var newest: Int64
    private(set) var size: Int

    init(_ entries: [Entry], newest: Int64) {
        self.entries = entries
        self.newest = newest
        size = entries.reduce(0) { $0 + $1.size }
    }

    /// The oldest revision that can be read, or one more than the newest.
    var oldest: Int64 { newest - Int64(entries.count) + 1 }

    subscript(revision: Int64) -> Entry? {
        guard revision >= oldest, revision <= newest else { return nil }
        return entries[Int(revision - oldest)]
    }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
        newest += 1
        size += entry.size
    }

    /// How many of the newest entries are worth keeping: at most so many, so large, so old. One is not too old that is
    /// followed by older ones only because the clock was wrong for a while, as it is in a machine that boots without one.
    func kept(count: Int, size limit: Int, since oldest: Timestamp) -> Int {
        var kept = 0
        var total = 0
        for (number, entry) in entries.reversed().prefix(count).enumerated() {
            total += entry.size
            guard total <= limit else { break }
            if entry.time >= oldest { kept = number + 1 }
        }
        return kept
    }
}
