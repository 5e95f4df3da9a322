import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

/// One group in the daemon: its state, its journal, and its plist. Owned by the server, on the loop's thread.
///
/// A write is applied at once, and told to nobody before the journal has it: `flush`, at the end of the turn, writes the
/// turn's commits in one go, and takes them all back if the disk refuses.
final class GroupHost {
    /// A commit that the journal has in line and the file does not have yet.
    struct Batched {
        /// What takes it back.
        enum Undo {
            case changes(GroupState.Undo)
            case replacement(GroupState.Replacement)
        }

        var record: Journal.Staged
        var revision: Int64
        var time: Timestamp
        /// Empty for a replaced string of which nobody needs them: then they are to be had from the record.
        var changes: [Change]
        /// Of the group's own values, where administrators' layers make that something else; else nil.
        var own: [Change]?
        /// Where the one key is that changed, among the bytes staged, if it is known.
        var key: Range<Int>?
        var origin: OriginText
        var tag: String?
        var undo: Undo
        var reply: PendingReply?
    }

    /// A reply that may be given when the commit is safe.
    struct PendingReply {
        enum Success {
            /// What a write says: the position, and which keys changed.
            case changes
            case message([UInt8])
        }

        var target: Connection.ReplyTarget
        var success: Success
        var isDurable: Bool
    }

    unowned let server: Server
    let identifier: GroupIdentifier
    var state: GroupState
    let text: GroupText
    var journal: Journal
    var index: CommitIndex
    var batch: [Batched] = []
    /// The emptied array of the batch before: its room serves the next one.
    private var spareBatch: [Batched] = []
    var plist: PlistTracking
    /// What values have to be, where somebody says it.
    var schema: GroupSchema?
    var sync = SyncTracking()
    var compaction: CompactionTracking?
    var pace = CompactionPace()
    /// Of the journal when it was last rewritten; 0 before that.
    var compactedSize: UInt64 = 0
    /// Where the journal's snapshot ends; what follows is replayed at the next start.
    var snapshotEnd: UInt64
    /// Whether the journal's last record says that the daemon came to its end.
    private var hasEnded: Bool
    /// Set when the group is deleted: what still comes from the workers is for nobody.
    var isClosed = false
    /// On a file system whose changes by other machines inotify does not see.
    let isOnNetwork: Bool
    let projectionTimer: TimerSource
    let settleTimer: TimerSource
    let lateTimer: TimerSource

    init(server: Server, opened: OpenedGroup) throws(SystemError) {
        self.server = server
        identifier = opened.replay.state.identifier
        state = opened.replay.state
        text = GroupText(opened.replay.state.identifier, opened.replay.state.position.epoch)
        journal = opened.journal
        snapshotEnd = opened.replay.snapshotEnd
        hasEnded = opened.replay.hasEnded
        index = CommitIndex(opened.replay.commits, newest: opened.replay.state.revision)
        plist = PlistTracking(
            file: PlistFile(path: server.container.plistPath(of: identifier)), replay: opened.replay)
        isOnNetwork = (try? Files.isNetworkFileSystem(server.container.path(of: identifier))) ?? false
        // The handlers are set below, since they need the host.
        let handlers = Handlers()
        projectionTimer = try TimerSource(server.loop) { handlers.projection() }
        settleTimer = try TimerSource(server.loop) { handlers.settle() }
        lateTimer = try TimerSource(server.loop, accuracyMicroseconds: 100_000) { handlers.late() }
        handlers.projection = { [unowned self] in server.turn { projectionIsDue() } }
        handlers.late = { [unowned self] in server.turn { lateTimeIsOver() } }
        handlers.settle = { [unowned self] in server.turn { settleTimeIsOver() } }
    }

    private final class Handlers {
        var projection: () -> Void = {}
        var settle: () -> Void = {}
        var late: () -> Void = {}
    }

    var position: Position { state.position }

    /// What its log lines are about.
    var subject: Log.Subject { Log.Subject(group: identifier.string, path: plist.file.path) }
}

// MARK: - Commits

extension GroupHost {
    /// Applies changes as the next commit. The journal gets it when the turn ends, or at the next `flush`.
    /// `own` is what changes of the group's own values.
    func commit(_ own: [Change], origin: OriginText, tag: String? = nil, reply: PendingReply? = nil) {
        if state.layers.isEmpty { return commit(own, own: nil, origin: origin, tag: tag, reply: reply) }
        commit(state.effectiveChanges(of: own), own: own, origin: origin, tag: tag, reply: reply)
    }

    /// The same where readers see something else change than what the group holds itself.
    func commit(
        _ changes: [Change], own: [Change]?, origin: OriginText, tag: String? = nil, reply: PendingReply? = nil
    ) {
        let (revision, time) = (state.position.revision + 1, server.now)
        let record = journal.stage { bytes in
            JSONWriter.append(to: &bytes) {
                text.write(changes, revision: revision, time: time, origin: origin, tag: tag, to: &$0)
            }
        }
        batch.append(
            Batched(
                record: record, revision: revision, time: time, changes: changes, own: own, origin: origin, tag: tag,
                undo: .changes(state.apply(own ?? changes, revision: revision)), reply: reply))
        server.markDirty(self)
    }

    /// Writes the waiting commits to the journal, and lets the world know. On a failure they are taken back, and those who
    /// asked for them are told.
    ///
    /// - Returns: why the journal refused, if it did.
    @discardableResult
    func flush() -> SystemError? {
        guard !batch.isEmpty else { return nil }
        var commits = batch
        batch = spareBatch
        spareBatch = []
        do throws(SystemError) {
            try journal.writeStaged()
        } catch {
            takeBack(commits, because: error)
            return error
        }
        hasEnded = false
        server.syncIsDue()
        server.commitCount += commits.count
        settle(commits)
        if Log.threshold == .debug { log(commits) }
        journal.releaseStaged()
        scheduleProjection()
        commits.removeAll(keepingCapacity: commits.capacity <= Self.keptBatch)
        spareBatch = commits
        return nil
    }

    /// Who changed which key, and no value.
    private func log(_ commits: [Batched]) {
        for commit in commits {
            let origin = commit.origin.origin
            let author = origin.client.map { "\($0)[\(origin.processId ?? 0)]" } ?? origin.kind.rawValue
            let keys = commit.changes.map(\.key.string)
            Log.debug(
                "group \(identifier): revision \(commit.revision) by \(author)",
                about: Log.Subject(
                    group: identifier.string, key: keys.count == 1 ? keys[0] : nil, origin: author,
                    revision: commit.revision))
        }
    }

    /// How many commits of room an idle group keeps.
    private static let keptBatch = 256

    private func settle(_ commits: [Batched]) {
        let isWatched = server.isWatched(identifier)
        for place in commits.indices {
            let record = commits[place].record
            index.append(CommitIndex.Entry(offset: record.offset, size: record.size, time: commits[place].time))
            let own = commits[place].own ?? commits[place].changes
            if !own.isEmpty { plist.base.note(own) }
            if compaction != nil { compaction?.tail.append((journal.payload(of: record), true)) }
            if isWatched { pass(on: commits[place]) }
            guard let reply = commits[place].reply else { continue }
            give(reply, commits[place].revision, commits[place].key, commits[place].changes)
        }
    }

    /// To those who watch.
    private func pass(on commit: Batched) {
        let visible = commit.own == nil ? commit.changes : commit.changes.filter { !$0.isHidden }
        guard !visible.isEmpty else { return }
        let encoded = journal.payload(of: commit.record)
        var author = commit.origin.origin
        author.tag = commit.tag
        let told = Commit(
            group: identifier, revision: commit.revision, time: commit.time, origin: author, changes: visible)
        let isWhole = visible.count == commit.changes.count
        server.deliver(RecordedCommit(told, encoded: isWhole ? encoded : told.encoded))
    }

    /// The key is the one that changed, among the bytes staged, if its place is known.
    private func give(_ reply: PendingReply, _ revision: Int64, _ key: Range<Int>?, _ changes: [Change]) {
        switch reply.success {
        case .message(let message) where reply.isDurable: awaitSync(Waiter(target: reply.target, success: message))
        case .message(let message): server.answer(reply.target, with: message)
        case .changes where reply.isDurable:
            var writer = JSONWriter(capacity: 128)
            writeReply(revision, key, changes, to: &writer)
            awaitSync(Waiter(target: reply.target, success: writer.bytes))
        case .changes: server.answer(reply.target) { writeReply(revision, key, changes, to: &$0) }
        }
    }

    private func writeReply(_ revision: Int64, _ key: Range<Int>?, _ changes: [Change], to writer: inout JSONWriter) {
        if let key {
            text.writeReply(revision, changedKey: journal.staged(key), to: &writer)
        } else {
            text.writeReply(revision, changed: changes.filter { !$0.isHidden }, to: &writer)
        }
    }

    private func takeBack(_ commits: [Batched], because error: SystemError) {
        for batched in commits.reversed() { revert(batched) }
        Log.error(
            "group \(identifier): \(commits.count) commits refused, the journal cannot be written: \(error)",
            .storageFailed,
            about: subject)
        let refusal = GroupError.storageFailed(
            reason: "the journal cannot be written: \(error)", errno: error.errno.rawValue)
        for batched in commits {
            if let reply = batched.reply { server.answer(reply.target, with: refusal.replyBytes) }
        }
    }

    private func revert(_ commit: Batched) {
        switch commit.undo {
        case .changes(let undo): state.revert(undo)
        case .replacement(let replacement):
            let payload = journal.payload(of: commit.record)
            guard let change = JournalEntry.StateChange(payload.span, of: identifier)?.changes.first else {
                preconditionFailure("a record of ours that does not read: \(commit.record)")
            }
            state.revert(replacement, of: change)
        }
    }

    /// Adds a record that is no commit; that it is missing costs a merge more at the next start and nothing else.
    ///
    /// - Parameter entry: made when all commits before it are in the journal: what it says holds at its place there.
    /// - Returns: whether the journal has it.
    func note(_ entry: @autoclosure () -> JournalEntry) -> Bool {
        flush()
        let payload = entry().encoded
        do throws(SystemError) {
            _ = try journal.append([payload])
            hasEnded = false
            compaction?.tail.append((payload, false))
            server.syncIsDue()
            return true
        } catch {
            Log.error("group \(identifier): the journal cannot be written: \(error)", about: subject)
            return false
        }
    }

    /// The daemon ends: all is made durable, and then the journal says so. Whoever finds it without that after a loss of power
    /// cannot know how much is missing.
    func end() {
        journal.dropRoom()
        guard makeDurable(), !hasEnded, note(.end) else { return }
        hasEnded = true
        _ = makeDurable()
    }

    private func makeDurable() -> Bool {
        guard journal.hasUnsyncedBytes else { return true }
        guard case .failure(let error) = journal.syncHandle.sync() else { return true }
        Log.error("group \(identifier): the journal did not reach stable storage: \(error)")
        return false
    }

    /// A commit read back from the journal, with what readers saw of it: that may be nothing.
    func recorded(_ revision: Int64) -> RecordedCommit? {
        guard let entry = index[revision] else { return nil }
        do throws(JournalError) {
            let payload = try journal.read(at: entry.offset)
            guard case .commit(var commit)? = JournalEntry(payload.span) else { return nil }
            guard commit.changes.contains(where: \.isHidden) else { return RecordedCommit(commit, encoded: payload) }
            commit.changes.removeAll(where: \.isHidden)
            return RecordedCommit(commit, encoded: commit.encoded)
        } catch {
            Log.error("group \(identifier): commit \(revision) cannot be read back: \(error)", about: subject)
            return nil
        }
    }
}
