import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// What a commit passes on its way: the group's state, which has it at once, and the line of those that the journal gets when
/// the turn ends.
///
/// One value, that of its `GroupHost`: what a write touches is touched by nobody else meanwhile, and the compiler sees that,
/// instead of each step when it runs.
struct Ledger {
    var state: GroupState
    var text: GroupText
    /// What is in line.
    private(set) var batch = Batch()
    private let pattern: OrdinarySet.Pattern
    /// The emptied one before: its room serves the next one.
    private var spareBatch = Batch()

    /// Commits that the journal gets by one write.
    struct Batch {
        fileprivate(set) var commits: [Batched] = []
        fileprivate(set) var line = RecordLine()
        /// What the file has of keys that are the first time changed since it was written, where no details say it.
        fileprivate(set) var known: [PlistBase.Known] = []

        /// How many commits of room an idle group keeps.
        private static let keptCount = 256

        fileprivate mutating func removeAll() {
            commits.removeAll(keepingCapacity: commits.capacity <= Self.keptCount)
            known.removeAll(keepingCapacity: known.capacity <= Self.keptCount)
            line.removeAll()
        }
    }

    /// A commit that is in line.
    struct Batched {
        /// Among the bytes of the line.
        let payload: Range<Int>
        /// Where the one key is that changed, among the same bytes; empty where it is not known.
        let key: Range<Int>
        let revision: Int64
        let time: Timestamp
        /// What takes back the replacing of a string; another commit's details say it.
        let replacement: GroupState.Replacement?
        let target: Connection.ReplyTarget?
        let isDurable: Bool
        /// Nil for a replaced string of which nobody needs more.
        let details: Details?
    }

    /// What most commits need not have.
    final class Details {
        let changes: [Change]
        /// Of the group's own values, where administrators' layers make that something else; else nil.
        let own: [Change]?
        let origin: OriginText
        let tag: String?
        let undo: GroupState.Undo?
        /// What is answered, where it is not the position and the keys that changed.
        let message: [UInt8]?

        init(
            changes: [Change], own: [Change]? = nil, origin: OriginText, tag: String?, undo: GroupState.Undo? = nil,
            message: [UInt8]? = nil
        ) {
            self.changes = changes
            self.own = own
            self.origin = origin
            self.tag = tag
            self.undo = undo
            self.message = message
        }
    }

    init(_ state: GroupState) {
        self.state = state
        text = GroupText(state.identifier, state.position.epoch)
        pattern = OrdinarySet.Pattern(state.identifier)
    }
}

// MARK: - Commits

extension Ledger {
    /// Makes changes the next commit. `own` is what changes of the group's own values, where that is something else.
    mutating func commit(
        _ changes: [Change], own: [Change]?, at time: Timestamp, origin: OriginText, tag: String?,
        reply: GroupHost.PendingReply?
    ) {
        let revision = state.position.revision + 1
        let payload = Self.add(changes, revision, time, origin, tag, &text, to: &batch.line)
        var message: [UInt8]?
        if case .message(let bytes)? = reply?.success { message = bytes }
        let details = Details(
            changes: changes, own: own, origin: origin, tag: tag,
            undo: state.apply(own ?? changes, revision: revision), message: message)
        batch.commits.append(
            Batched(
                payload: payload, key: 0..<0, revision: revision, time: time, replacement: nil, target: reply?.target,
                isDurable: reply?.isDurable ?? false, details: details))
    }

    private static func add(
        _ changes: [Change], _ revision: Int64, _ time: Timestamp, _ origin: OriginText, _ tag: String?,
        _ text: inout GroupText, to line: inout RecordLine
    ) -> Range<Int> {
        line.add { bytes in
            JSONWriter.append(to: &bytes) {
                text.write(changes, revision: revision, time: time, origin: origin, tag: tag, to: &$0)
            }
        }
    }

    /// Hands over what is in line; what comes then is of the next batch.
    mutating func takeBatch() -> Batch {
        let taken = batch
        batch = spareBatch
        spareBatch = Batch()
        return taken
    }

    /// Takes back the room of a batch that is done.
    mutating func reuse(_ done: consuming Batch) {
        done.removeAll()
        spareBatch = done
    }

    /// Takes back a commit, the newest one that there is.
    mutating func revert(_ commit: Batched, in line: RecordLine) {
        if let undo = commit.details?.undo { return state.revert(undo) }
        guard let replacement = commit.replacement,
            let change = JournalEntry.StateChange(line.bytes.span.extracting(commit.payload), of: state.identifier)?
                .changes.first
        else { preconditionFailure("a record of ours that does not read: revision \(commit.revision)") }
        state.revert(replacement, of: change)
    }
}

// MARK: - Replies

extension Ledger {
    /// What a write says: the position, and which keys changed.
    mutating func writeReply(_ commit: Batched, _ line: RecordLine, to bytes: inout [UInt8]) {
        if !commit.key.isEmpty {
            text.writeReply(commit.revision, changedKey: line.bytes.span.extracting(commit.key), to: &bytes)
        } else {
            let changes = commit.details?.changes ?? []
            text.writeReply(commit.revision, changed: changes.filter { !$0.isHidden }, to: &bytes)
        }
    }

    /// The same of several commits, one reply behind the other.
    mutating func writeReplies(_ commits: ArraySlice<Batched>, _ line: RecordLine, to bytes: inout [UInt8]) {
        for place in commits.indices { writeReply(commits[place], line, to: &bytes) }
    }
}

extension ArraySlice<Ledger.Batched> {
    /// How many commits at the front are answered to one connection as soon as the journal has them, one after the other and
    /// each with what a write says.
    var rowOfReplies: (target: Connection.ReplyTarget, serial: Int, count: Int)? {
        guard let first, let target = first.target, let serial = target.serial, first.isAnsweredAtOnce else {
            return nil
        }
        var count = 1
        for place in indices.dropFirst() {
            let next = self[place]
            guard next.isAnsweredAtOnce, next.target?.connection == target.connection,
                next.target?.serial == serial + count
            else { break }
            count += 1
        }
        return (target, serial, count)
    }
}

extension Ledger.Batched {
    fileprivate var isAnsweredAtOnce: Bool { !isDurable && details?.message == nil }
}

extension CommitIndex {
    /// The line of these commits is at `offset` of the journal.
    mutating func append(_ commits: [Ledger.Batched], from offset: UInt64) {
        for place in commits.indices {
            let payload = commits[place].payload
            append(
                Entry(
                    offset: offset + UInt64(RecordLine.start(ofPayload: payload)), size: payload.count,
                    time: commits[place].time))
        }
    }
}

// MARK: - Ordinary sets

extension Ledger {
    /// What holds for all sets that are taken at a time.
    struct Terms {
        var limits: Limits
        /// What a message may have, in bytes.
        var messageSize: Int
        var time: Timestamp
        var origin: OriginText
        /// Somebody watches the group, or the log names each commit.
        var isWatched: Bool
        /// Of keys that changed behind this revision it is noted already what the file has.
        var notedSince: Int64
        var isDurable: Bool
        var connection: UInt64
        /// The place of the next call's reply.
        var serial: Int
        /// How many calls may be served.
        var budget: Int
    }

    /// Makes commits of the ordinary sets at the front of what a connection sent: from the bytes of the message to those of
    /// the journal and of the state, without a string or a change in between, unless somebody needs them.
    ///
    /// - Returns: how many messages were taken, and how many bytes they have. It ends with the first that is not as simple
    ///   as that, of which nothing has happened: the ordinary way says how it is.
    mutating func takeOrdinarySets(_ bytes: Span<UInt8>, on terms: Terms) -> (count: Int, size: Int) {
        var serial = terms.serial
        return pattern.takeSets(from: bytes, limit: terms.budget, messageSize: terms.messageSize) { set in
            let isTaken = Self.replace(set, of: bytes, on: terms, serial, &state, &text, &batch)
            if isTaken { serial += 1 }
            return isTaken
        }
    }

    private static func replace(
        _ set: OrdinarySet, of message: Span<UInt8>, on terms: Terms, _ serial: Int, _ state: inout GroupState,
        _ text: inout GroupText, _ batch: inout Batch
    ) -> Bool {
        let revision = state.revision + 1
        var (payload, key) = (0..<0, 0..<0)
        var details: Details?
        let replacement = state.replaceString(
            of: message.extracting(set.key), with: message.extracting(set.text), limits: terms.limits
        ) { old, lastRevision in
            payload = batch.line.add { bytes in
                key = text.write(
                    set, of: message, old: old, revision: revision, time: terms.time, origin: terms.origin, to: &bytes)
            }
            if terms.isWatched {
                details = Details(
                    changes: [set.change(in: message, old: old)], origin: terms.origin, tag: set.tag(in: message))
            } else if lastRevision <= terms.notedSince {
                batch.known.append(set.known(in: message, old: old))
            }
        }
        guard let replacement else { return false }
        batch.commits.append(
            Batched(
                payload: payload, key: key, revision: revision, time: terms.time, replacement: replacement,
                target: Connection.ReplyTarget(connection: terms.connection, serial: serial),
                isDurable: terms.isDurable, details: details))
        return true
    }
}

extension OrdinarySet {
    fileprivate func change(in message: Span<UInt8>, old: Span<UInt8>) -> Change {
        Change(
            key: Key(String(copying: message.extracting(key))), old: .string(String(copying: old)),
            new: .string(String(copying: message.extracting(text))))
    }

    fileprivate func known(in message: Span<UInt8>, old: Span<UInt8>) -> PlistBase.Known {
        PlistBase.Known(Key(String(copying: message.extracting(key))), .string(String(copying: old)))
    }
}
