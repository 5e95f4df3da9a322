import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import ServiceIO
import Varlink

/// One group in the daemon: its state, its journal, and its plist. Owned by the server, on the loop's thread.
///
/// A write is applied at once, and told to nobody before the journal has it: `flush`, at the end of the turn, writes the
/// turn's commits in one go, and takes them all back if the disk refuses.
final class GroupHost {
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
    var ledger: Ledger
    /// The server has noted that the ledger holds commits for the journal.
    var isDirty = false
    var journal: Journal
    var index: CommitIndex
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
    /// Whether the file, or a link on the way to it, is on a file system whose changes by other machines inotify does not see.
    var isOnNetwork: Bool
    let projectionTimer: TimerSource
    let settleTimer: TimerSource
    let lateTimer: TimerSource

    init(server: Server, opened: OpenedGroup) throws(SystemError) {
        self.server = server
        identifier = opened.replay.state.identifier
        ledger = Ledger(opened.replay.state)
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

    var state: GroupState { ledger.state }
    var position: Position { ledger.state.position }

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
        ledger.commit(changes, own: own, at: server.now, origin: origin, tag: tag, reply: reply)
        server.markDirty(self)
    }

    /// Serves the ordinary sets at the front of what a connection sent, on the shortest way. Their commits are in line then.
    ///
    /// - Returns: how many bytes they have; 0 where this group takes none now.
    func takeOrdinarySets(_ bytes: Span<UInt8>, from connection: Connection) -> Int {
        // Each use of an unowned reference looks whether it is there.
        let server = server
        guard plist.obstacle == nil || takesWrites, ledger.state.layers.isEmpty, schema == nil else { return 0 }
        let (calls, room) = (connection.nextSerial, connection.freeSlots)
        let terms = Ledger.Terms(
            limits: server.configuration.limits, messageSize: server.configuration.messageSize, time: server.now,
            origin: connection.origin, isWatched: server.isWatched(identifier) || Log.threshold == .debug,
            notedSince: plist.base.notedSince, isDurable: server.configuration.durability == .power,
            connection: connection.id, serial: calls, budget: room)
        let taken = ledger.takeOrdinarySets(bytes, on: terms)
        guard taken.count > 0 else { return 0 }
        connection.openSlots(taken.count)
        server.markDirty(self)
        return taken.size
    }

    /// Writes the waiting commits to the journal, and lets the world know. On a failure they are taken back, and those who
    /// asked for them are told.
    ///
    /// - Returns: why the journal refused, if it did.
    @discardableResult
    func flush() -> SystemError? {
        guard !ledger.batch.commits.isEmpty else { return nil }
        let server = server
        let batch = ledger.takeBatch()
        let offset: UInt64
        do throws(SystemError) {
            offset = try journal.write(batch.line)
        } catch {
            takeBack(batch, because: error)
            return error
        }
        hasEnded = false
        server.syncIsDue()
        server.commitCount += batch.commits.count
        index.append(batch.commits, from: offset)
        tell(batch)
        answer(batch.commits, in: batch.line)
        if Log.threshold == .debug { log(batch.commits) }
        scheduleProjection()
        ledger.reuse(batch)
        return nil
    }

    /// Who changed which key, and no value.
    private func log(_ commits: [Ledger.Batched]) {
        for commit in commits {
            guard let details = commit.details else { continue }
            let origin = details.origin.origin
            let author = origin.client.map { "\($0)[\(origin.processId ?? 0)]" } ?? origin.kind.rawValue
            let keys = details.changes.map(\.key.string)
            Log.debug(
                "group \(identifier): revision \(commit.revision) by \(author)",
                about: Log.Subject(
                    group: identifier.string, key: keys.count == 1 ? keys[0] : nil, origin: author,
                    revision: commit.revision))
        }
    }

    /// What else is to be known of commits than that they are made.
    private func tell(_ batch: Ledger.Batch) {
        // Before what the details have of the same keys: that came later.
        if !batch.known.isEmpty { plist.base.note(batch.known) }
        let (commits, line) = (batch.commits, batch.line)
        // By their places: a copy of each commit would count up and down who uses its details.
        for place in commits.indices {
            guard let details = commits[place].details else { continue }
            let own = details.own ?? details.changes
            if !own.isEmpty { plist.base.note(own) }
        }
        if compaction != nil { compaction?.tail += commits.map { (Array(line.bytes[$0.payload]), true) } }
        guard server.isWatched(identifier) else { return }
        for commit in commits {
            if let details = commit.details { pass(on: commit, details, encoded: Array(line.bytes[commit.payload])) }
        }
    }

    /// To those who watch.
    private func pass(on commit: Ledger.Batched, _ details: Ledger.Details, encoded: [UInt8]) {
        let visible = details.own == nil ? details.changes : details.changes.filter { !$0.isHidden }
        guard !visible.isEmpty else { return }
        var author = details.origin.origin
        author.tag = details.tag
        let told = Commit(
            group: identifier, revision: commit.revision, time: commit.time, origin: author, changes: visible)
        let isWhole = visible.count == details.changes.count
        server.deliver(RecordedCommit(told, encoded: isWhole ? encoded : told.encoded))
    }

    private func answer(_ commits: [Ledger.Batched], in line: RecordLine) {
        var place = commits.startIndex
        while place < commits.endIndex {
            if let row = commits[place...].rowOfReplies {
                let replied = commits[place..<place + row.count]
                let isDone = server.answer(row.target, and: row.count - 1) { bytes in
                    ledger.writeReplies(replied, line, to: &bytes)
                }
                if isDone {
                    place += row.count
                    continue
                }
            }
            give(commits[place], in: line)
            place += 1
        }
    }

    private func give(_ commit: Ledger.Batched, in line: RecordLine) {
        guard let target = commit.target else { return }
        var reply = commit.details?.message ?? []
        if reply.isEmpty { ledger.writeReply(commit, line, to: &reply) }
        if commit.isDurable {
            awaitSync(Waiter(target: target, success: reply))
        } else {
            server.answer(target, with: reply)
        }
    }

    private func takeBack(_ batch: Ledger.Batch, because error: SystemError) {
        let commits = batch.commits
        for commit in commits.reversed() { ledger.revert(commit, in: batch.line) }
        Log.error(
            "group \(identifier): \(commits.count) commits refused, the journal cannot be written: \(error)",
            .storageFailed,
            about: subject)
        let refusal = GroupError.storageFailed(
            reason: "the journal cannot be written: \(error)", errno: error.errno.rawValue)
        for commit in commits {
            if let target = commit.target { server.answer(target, with: refusal.replyBytes) }
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
