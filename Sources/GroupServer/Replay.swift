import GroupCore
import GroupFiles
import GroupModel
import PropertyList

/// Builds a group from the records of its journal, one after the other.
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
    /// Where the commits are, oldest first; the newest has the state's revision.
    private(set) var commits: [CommitIndex.Entry] = []

    /// How many commits are still to come that led to the snapshot behind them: they are kept, and not replayed.
    private var historyLeft: Int

    /// - Throws: unless the first record is this group's header.
    init(_ group: GroupIdentifier, header payload: ArraySlice<UInt8>) throws(Failure) {
        guard case .header(let name, let epoch, let history)? = JournalEntry(payload) else {
            throw .nonsense("the first record is no header of format \(JournalEntry.format)")
        }
        guard name.isIdentical(to: group.string) else { throw .nonsense("it is the journal of \(name)") }
        state = GroupState(identifier: group, position: Position(epoch: epoch, revision: 0))
        historyLeft = history
    }

    mutating func add(_ payload: ArraySlice<UInt8>, at offset: UInt64) throws(Failure) {
        if historyLeft > 0 {
            guard let time = JournalEntry.time(ofCommit: payload) else {
                throw .nonsense("the record at byte \(offset) is no commit of the history")
            }
            historyLeft -= 1
            commits.append(CommitIndex.Entry(offset: offset, size: payload.count, time: time))
            return
        }
        switch JournalEntry(payload) {
        case .commit(let commit)?:
            guard commit.revision == state.revision + 1, commit.group == state.identifier else {
                throw .nonsense("commit \(commit.revision) of \(commit.group) after revision \(state.revision)")
            }
            state.apply(commit)
            base.note(commit.changes)
            commits.append(CommitIndex.Entry(offset: offset, size: payload.count, time: commit.time))
        case .snapshot(let revision, let values)?:
            guard state.revision == 0, state.count == 0, commits.count <= revision else {
                throw .nonsense("a snapshot after a commit")
            }
            let position = Position(epoch: state.position.epoch, revision: revision)
            state = GroupState(identifier: state.identifier, position: position, values: values)
            base = PlistBase(differences: values.mapValues { _ in nil })
        case .projection(let digest, let differences)?:
            base.beginProjection(but: differences)
            projectedDigest = digest
        case .plist(let digest, let differences)?:
            base = PlistBase(differences: differences)
            knownDigest = digest
            projectedDigest = nil
        case .header?: throw .nonsense("a second header")
        case nil: throw .nonsense("a record at byte \(offset) that this version does not know")
        }
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

    /// How many of the newest entries are worth keeping: at most so many, so large, so old.
    func kept(count: Int, size limit: Int, since oldest: Timestamp) -> Int {
        var kept = 0
        var total = 0
        for entry in entries.reversed() {
            total += entry.size
            guard kept < count, total <= limit, entry.time >= oldest else { break }
            kept += 1
        }
        return kept
    }
}
