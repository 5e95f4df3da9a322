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
    /// A commit that the journal does not have yet.
    struct Batched {
        var recorded: RecordedCommit
        var undo: GroupState.Undo
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
    var plist: PlistTracking
    var sync = SyncTracking()
    var compaction: CompactionTracking?
    /// Of the journal when it was last rewritten; 0 before that.
    var compactedSize: UInt64 = 0
    /// Where the journal's snapshot ends; what follows is replayed at the next start.
    var snapshotEnd: UInt64
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
}

// MARK: - Commits

extension GroupHost {
    /// Applies changes as the next commit. The journal gets it when the turn ends, or at the next `flush`.
    func commit(_ changes: [Change], origin: OriginText, tag: String? = nil, reply: PendingReply? = nil) {
        var author = origin.origin
        author.tag = tag
        let commit = Commit(
            group: identifier, revision: state.position.revision + 1, time: server.now, origin: author, changes: changes
        )
        let recorded = RecordedCommit(commit, encoded: text.encoded(commit, from: origin))
        batch.append(Batched(recorded: recorded, undo: state.apply(commit), reply: reply))
        server.markDirty(self)
    }

    /// Writes the waiting commits to the journal, and lets the world know. On a failure they are taken back, and those who
    /// asked for them are told.
    ///
    /// - Returns: why the journal refused, if it did.
    @discardableResult
    func flush() -> SystemError? {
        guard !batch.isEmpty else { return nil }
        let commits = batch
        batch = []
        let payloads = commits.map(\.recorded.encoded)
        do throws(SystemError) {
            let offsets = try journal.append(payloads)
            compaction?.tail.append(contentsOf: payloads.map { ($0, true) })
            server.syncIsDue()
            for index in commits.indices { settle(commits[index].recorded, commits[index].reply, at: offsets[index]) }
            scheduleProjection()
        } catch {
            takeBack(commits, because: error)
            return error
        }
        return nil
    }

    private func settle(_ recorded: RecordedCommit, _ reply: PendingReply?, at offset: UInt64) {
        index.append(
            CommitIndex.Entry(offset: offset, size: recorded.encoded.count, time: recorded.commit.time))
        plist.base.note(recorded.commit.changes)
        server.deliver(recorded)
        guard let reply else { return }
        switch reply.success {
        case .message(let message) where reply.isDurable: awaitSync(Waiter(target: reply.target, success: message))
        case .message(let message): server.answer(reply.target, with: message)
        case .changes where reply.isDurable:
            var writer = JSONWriter(capacity: 128)
            writeReply(to: recorded, in: &writer)
            awaitSync(Waiter(target: reply.target, success: writer.bytes))
        case .changes: server.answer(reply.target) { writeReply(to: recorded, in: &$0) }
        }
    }

    private func writeReply(to recorded: RecordedCommit, in writer: inout JSONWriter) {
        text.writeReply(recorded.commit.revision, changed: recorded.commit.changes, to: &writer)
    }

    private func takeBack(_ commits: [Batched], because error: SystemError) {
        for batched in commits.reversed() { state.revert(batched.undo) }
        Log.error("group \(identifier): \(commits.count) commits refused, the journal cannot be written: \(error)")
        let refusal = GroupError.storageFailed(
            reason: "the journal cannot be written: \(error)", errno: error.errno.rawValue)
        for batched in commits {
            if let reply = batched.reply { server.answer(reply.target, with: refusal.replyBytes) }
        }
    }

    /// Adds a record that is no commit; that it is missing costs a merge more at the next start and nothing else.
    func note(_ entry: JournalEntry) -> Bool {
        let payload = entry.encoded
        do throws(SystemError) {
            _ = try journal.append([payload])
            compaction?.tail.append((payload, false))
            server.syncIsDue()
            return true
        } catch {
            Log.error("group \(identifier): the journal cannot be written: \(error)")
            return false
        }
    }

    /// A commit read back from the journal.
    func recorded(_ revision: Int64) -> RecordedCommit? {
        guard let entry = index[revision] else { return nil }
        do throws(JournalError) {
            let payload = try journal.read(at: entry.offset)
            guard case .commit(let commit)? = JournalEntry(payload.span) else { return nil }
            return RecordedCommit(commit, encoded: payload)
        } catch {
            Log.error("group \(identifier): commit \(revision) cannot be read back: \(error)")
            return nil
        }
    }
}
