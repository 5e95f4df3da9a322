import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList

/// The group's plist as its living projection, and as a file that anybody may edit. One job of the worker at a time;
/// what comes in between is remembered and done after it.
extension GroupHost {
    /// Something happened to the file, or may have.
    func plistMayHaveChanged() {
        plist.needsRead = true
        advancePlist()
    }

    /// A commit is in the journal; within the projection delay of the first one it is in the file too.
    func notePlist(_ changes: [Change]) {
        plist.base.note(changes)
        scheduleProjection()
    }

    /// From the first unwritten change on the time runs, and nothing restarts it.
    private func scheduleProjection() {
        guard plist.base.hasUnwritten, !projectionTimer.isArmed, !plist.needsWrite else { return }
        projectionTimer.arm(afterMicroseconds: server.configuration.projectionDelay)
    }

    func projectionIsDue() {
        plist.needsWrite = true
        advancePlist()
    }

    func settleTimeIsOver() {
        plist.isSettling = false
        plist.hasSettled = true
        plistMayHaveChanged()
    }

    /// Calls back when all that is known now is in the file, or cannot get there; the error says why.
    func whenPlistIsSettled(_ callback: @escaping (GroupError?) -> Void) {
        plist.waiters.append(callback)
        plist.needsRead = true
        if plist.base.hasUnwritten { plist.needsWrite = true }
        advancePlist()
    }

    /// Starts the next job, if there is one to do.
    func advancePlist() {
        guard !plist.isBusy, !isClosed else { return }
        let file = plist.file
        if plist.needsRecovery {
            startPlistJob { .recovered(file.recoverLeftovers()) }
        } else if plist.needsRead {
            plist.needsRead = false
            let known = plist.knownDigest
            startPlistJob { .look(at: file, knowing: known) }
        } else if plist.needsLateLook, let late = plist.late {
            plist.needsLateLook = false
            plist.late = nil
            startPlistJob { .lateLook(file.lateEdit(in: late.file), was: late.entries) }
        } else if plist.needsWrite, !plist.isSettling {
            startProjection()
        } else if plist.isSettled {
            answerWaiters()
        }
    }

    private func startPlistJob(_ job: @escaping @Sendable () -> FileOutcome) {
        plist.isBusy = true
        server.runFileJob(on: self, job)
    }

    private func answerWaiters() {
        let waiters = plist.waiters
        plist.waiters = []
        let failure = plist.lastFailure.map {
            GroupError.storageFailed(reason: "the property list cannot be written: \($0)", errno: $0.errno.rawValue)
        }
        let error = plist.obstacle.flatMap { refusal(for: $0, whileWriting: true) } ?? failure
        for waiter in waiters { waiter(error) }
    }

    /// What a call is told that cannot be served as long as this stands in the way.
    func refusal(for obstacle: PlistTracking.Obstacle, whileWriting: Bool) -> GroupError? {
        switch obstacle {
        case .readOnly(let problem):
            whileWriting ? .readOnly(group: identifier.string, reason: problem.text) : nil
        case .damaged(let problem), .unreachable(let problem):
            .storageFailed(reason: problem.text, errno: 0)
        }
    }

    /// Whether the settings are unknown: the file cannot be read, and nothing was ever known of it.
    var isUnknown: Bool {
        switch plist.obstacle {
        case .damaged, .unreachable: state.revision == 0 && plist.knownDigest == nil
        case .readOnly, nil: false
        }
    }
}

// MARK: - What came back

extension GroupHost {
    func plistJobEnded(_ outcome: FileOutcome) {
        plist.isBusy = false
        switch outcome {
        case .recovered(let result): recovered(result)
        case .read(let reading, let directories, let isWritable):
            watch(directories)
            take(reading)
            noteWritability(isWritable)
        case .same(let directories, let isWritable):
            watch(directories)
            plist.hasSettled = false
            endSettling()
            holdsWhatIsKnown()
            scheduleProjection()
            noteWritability(isWritable)
        case .prepared(let preparation): prepared(preparation)
        case .committed(let outcome): committed(outcome)
        case .commitAbandoned(let error):
            plist.base.projectionFailed()
            failed(.system(error))
        case .discarded(let result): discarded(result)
        case .lateLook(let reading, let entries): lateLookEnded(reading, entries)
        case .compacted, .synced: preconditionFailure("no outcome of a plist job")
        }
        advancePlist()
    }

    private func noteWritability(_ isWritable: Bool) {
        if !isWritable {
            meetReadOnly(Self.notWritable)
        } else if !plist.base.hasUnwritten {
            // Otherwise the next projection shows.
            writable()
        }
    }

    private func watch(_ directories: [String]) {
        plist.directories = directories
        server.watchDirectories(of: self)
    }

    /// A look at the file.
    private func take(_ reading: PlistReading) {
        let hasSettled = plist.hasSettled
        plist.hasSettled = false
        switch reading {
        case .content(let content):
            endSettling()
            takeContent(content)
        case .absent where plist.knownDigest == nil:
            endSettling()
            overcome()
        case .damaged(_, let digest?, _) where digest == plist.damagedDigest: break
        case .absent, .damaged:
            guard hasSettled else { return settle() }
            endSettling()
            takeSettled(reading)
        case .unreachable(let problem, _):
            if !hasSettled, server.containerIsGone(identifier) { return settle() }
            endSettling()
            if server.containerIsGone(identifier) { return server.containerWasDeleted(self) }
            meet(.unreachable(Problem(problem)))
        }
    }

    private func settle() {
        guard !plist.isSettling else { return }
        plist.isSettling = true
        settleTimer.arm(afterMicroseconds: server.configuration.settleTime)
    }

    private func endSettling() {
        plist.isSettling = false
        settleTimer.disarm()
    }

    private func takeContent(_ content: PlistContent) {
        plist.format = content.format
        if content.digest == plist.knownDigest {
            holdsWhatIsKnown()
        } else if content.digest == plist.projectedDigest {
            plist.base.projectionSucceeded()
            nowHolds(content.digest)
            overcome()
        } else {
            merge(content)
        }
        scheduleProjection()
    }

    private func holdsWhatIsKnown() {
        plist.base.projectionFailed()
        plist.projectedDigest = nil
        overcome()
    }

    private static let notWritable = "the directory of the file cannot be written"

    /// A deletion, or a file that does not parse, at the second look.
    private func takeSettled(_ reading: PlistReading) {
        switch reading {
        case .absent:
            // The file's directory stands and the file is gone: somebody reset the group.
            flush()
            let changes = state.changesForReset()
            if !changes.isEmpty { commit(changes, origin: .file) }
            guard flush() == nil else { return retryLater() }
            plist.base = PlistBase()
            nowHolds(nil)
            overcome()
        case .damaged(let problem, let digest, _):
            plist.damagedDigest = digest
            meet(.damaged(Problem(problem)))
        case .content, .unreachable: break
        }
    }

    /// Somebody edited the file: their changes become a commit, key by key.
    private func merge(_ content: PlistContent) {
        flush()
        let edits = plist.base.edits(from: content.entries, in: content.format, ours: state)
        do throws(GroupError) {
            let changes = try state.changes(for: edits, limits: server.configuration.limits)
            if !changes.isEmpty { commit(changes, origin: .file) }
        } catch {
            return meet(
                .damaged(
                    Problem(
                        reason: "an edit of the file is refused: \(error)", path: content.targetPath,
                        advice: "take it back or make it smaller; until then the last good values are served")))
        }
        guard flush() == nil else { return retryLater() }
        plist.base = .after(content.entries, in: content.format, ours: state)
        nowHolds(content.digest)
        overcome()
    }

    /// Takes note of what the file holds now, so that it is not taken for an edit after a restart.
    private func nowHolds(_ digest: Digest?) {
        plist.knownDigest = digest
        plist.projectedDigest = nil
        _ = note(.plist(digest: digest, differences: plist.base.differences))
    }

    private func overcome() {
        plist.damagedDigest = nil
        guard let obstacle = plist.obstacle else { return }
        // That a file can be read again does not make it writable.
        if case .readOnly = obstacle { return }
        plist.obstacle = nil
        Log.notice("group \(identifier): the property list is sound again")
    }

    private func meet(_ obstacle: PlistTracking.Obstacle) {
        plist.needsWrite = false
        if plist.obstacle != obstacle {
            plist.obstacle = obstacle
            Log.warning("group \(identifier): \(obstacle.problem.text)")
        }
        server.pollIsDue()
    }

    private func retryLater() {
        server.pollIsDue()
    }
}

// MARK: - Writing

extension GroupHost {
    private func startProjection() {
        plist.needsWrite = false
        projectionTimer.disarm()
        switch plist.obstacle {
        case .damaged?, .unreachable?: return advancePlist()
        case .readOnly?, nil: break
        }
        // What the journal does not have must not be in the file.
        flush()
        guard plist.base.hasUnwritten || plist.baseText != nil else { return advancePlist() }
        plist.base.beginProjection()
        plist.lastFailure = nil
        let (file, format, expected, baseText) = (plist.file, plist.format, plist.knownDigest, plist.baseText)
        let values = state.values
        startPlistJob {
            let entries = values.mapValues(format.projected)
            return .prepared(file.prepare(entries, expecting: expected, baseText: baseText))
        }
    }

    private func prepared(_ preparation: PlistPreparation) {
        switch preparation {
        case .ready(let prepared): commitPlist(prepared)
        case .unchanged(let content):
            plist.base.projectionSucceeded()
            plist.baseText = nil
            nowHolds(content.digest)
            writable()
        case .changed(let reading):
            plist.base.projectionFailed()
            plist.needsWrite = true
            take(reading)
        case .leftover(let leftover):
            plist.base.projectionFailed()
            plist.needsWrite = true
            takeLeftover(leftover)
        case .failed(let problem):
            plist.base.projectionFailed()
            failed(problem)
        }
    }

    /// The intent goes to the journal and the journal to stable storage, and only then the new text into its place: so the
    /// plist is never ahead of the journal, and after a crash our own text is not taken for somebody's edit.
    private func commitPlist(_ prepared: PreparedPlist) {
        let file = plist.file
        guard note(.projection(digest: prepared.digest)) else {
            plist.base.projectionFailed()
            startPlistJob {
                file.abandon(prepared)
                return .commitAbandoned(SystemError(errno: .noSpace, call: "journal"))
            }
            return
        }
        plist.projectedDigest = prepared.digest
        plist.replacedEntries = prepared.base?.entries ?? [:]
        let handle = journal.syncHandle
        startPlistJob {
            if case .failure(let error) = handle.sync() {
                file.abandon(prepared)
                return .commitAbandoned(error)
            }
            return .committed(file.commit(prepared))
        }
    }

    private func committed(_ outcome: PlistCommit) {
        switch outcome {
        case .replaced(let replacement):
            plist.base.projectionSucceeded()
            plist.baseText = nil
            nowHolds(replacement.content.digest)
            writable()
            watchForLateEdit(of: replacement.old)
            if let backup = replacement.backup {
                Log.info("group \(identifier): written in place, since something is mounted on it; backup in \(backup)")
            }
        case .foreign(_, let leftover): takeForeign(leftover)
        case .changed(let reading):
            plist.base.projectionFailed()
            plist.needsWrite = true
            take(reading)
        case .failed(let problem):
            plist.base.projectionFailed()
            failed(problem)
        }
        scheduleProjection()
    }

    private func meetReadOnly(_ reason: String) {
        meet(
            .readOnly(
                Problem(
                    reason: reason, path: plist.file.path,
                    advice: "make the file and its directory writable, or change it there")))
    }

    private func writable() {
        plist.lastFailure = nil
        guard case .readOnly? = plist.obstacle else { return }
        plist.obstacle = nil
        Log.notice("group \(identifier): the property list can be written again")
    }

    private func failed(_ problem: PlistWriteProblem) {
        plist.needsWrite = false
        switch problem {
        case .readOnly(_, let reason):
            meetReadOnly(reason)
        case .system(let error):
            Log.warning("group \(identifier): the property list could not be written, and is as it was: \(error)")
            plist.lastFailure = error
            server.pollIsDue()
        case .unencodable(let reason):
            Log.error("group \(identifier): the property list could not be written: \(reason)")
        }
    }
}

// MARK: - Edits that slipped in

extension GroupHost {
    /// A program may have found the old file under its name and open it only now: it is looked at once more, when the next
    /// one has been replaced or a second has passed.
    private func watchForLateEdit(of file: ReplacedFile?) {
        guard let file else { return }
        let entries = plist.replacedEntries
        plist.replacedEntries = [:]
        if plist.late != nil {
            plist.nextLate = (file, entries)
            plist.needsLateLook = true
        } else {
            plist.late = (file, entries)
            lateTimer.arm(afterMicroseconds: Self.lateTime)
        }
    }

    /// How long after its replacement a file is looked at for the last time, in microseconds.
    private static let lateTime: Int64 = 1_000_000

    func lateTimeIsOver() {
        plist.needsLateLook = plist.late != nil
        advancePlist()
    }

    private func lateLookEnded(_ reading: PlistReading?, _ entries: [Key: Value]) {
        if let next = plist.nextLate {
            plist.late = next
            plist.nextLate = nil
            lateTimer.arm(afterMicroseconds: Self.lateTime)
        }
        guard case .content(let content)? = reading else { return }
        // The program worked on the old text: what it changed there is its edit.
        var edits = content.entries.filter { entries[$0.key] != $0.value }.map { Edit.set($0.key, $0.value) }
        edits += entries.keys.filter { content.entries[$0] == nil }.map(Edit.remove)
        do throws(GroupError) {
            let changes = try state.changes(for: edits.sorted { $0.key < $1.key }, limits: server.configuration.limits)
            if !changes.isEmpty { commit(changes, origin: .file) }
        } catch {
            Log.error("group \(identifier): an edit of the file that was just replaced is refused: \(error)")
        }
        flush()
    }

    private func recovered(_ result: Result<PlistLeftover?, PlistWriteProblem>) {
        plist.needsRecovery = false
        switch result {
        case .success(let leftover?): takeLeftover(leftover)
        case .success(nil): break
        case .failure(let problem): Log.warning("group \(identifier): leftovers of a projection: \(problem)")
        }
    }

    /// Our exchange took out something that we did not know: an edit that was saved at the last moment.
    ///
    /// The projection counts as under way until the leftover is gone and the file is read again. Killed before that, we
    /// come upon the leftover once more, and must still know what the file had before: seen from our new text alone,
    /// all that the edit left as it was would look like edits that take our writes back.
    private func takeForeign(_ leftover: PlistLeftover) {
        plist.needsRead = true
        takeLeftover(leftover)
    }

    /// A whole file that an interrupted exchange left: our own text, what was there before it, or an edit.
    private func takeLeftover(_ leftover: PlistLeftover) {
        flush()
        switch leftover.reading {
        case .content(let content):
            let isOurs = content.digest == plist.projectedDigest || content.digest == plist.knownDigest
            let edits = isOurs ? [] : plist.base.edits(from: content.entries, in: content.format, ours: state)
            take(edits, of: content, from: leftover, usesText: !isOurs)
        case .damaged, .absent, .unreachable: keepDamaged(leftover)
        }
    }

    private func take(
        _ edits: [Edit], of content: PlistContent, from leftover: PlistLeftover, usesText: Bool = true
    ) {
        do throws(GroupError) {
            let changes = try state.changes(for: edits, limits: server.configuration.limits)
            if !changes.isEmpty { commit(changes, origin: .file) }
        } catch {
            Log.error("group \(identifier): the edit kept in \(leftover.path) is refused: \(error)")
            return keepDamaged(leftover)
        }
        // Only when the edit is in the journal may the file go that holds it.
        guard flush() == nil else { return retryLater() }
        if usesText {
            // A binary text has nothing around its values that would be worth keeping.
            if content.format == .xml { plist.baseText = content.bytes }
            plist.needsWrite = true
        }
        discard(leftover)
    }

    private func discard(_ leftover: PlistLeftover) {
        let file = plist.file
        startPlistJob {
            do throws(SystemError) {
                return .discarded(.success(try file.discard(leftover)))
            } catch {
                return .discarded(.failure(error))
            }
        }
    }

    private func discarded(_ result: Result<PlistLeftover?, SystemError>) {
        switch result {
        case .success(let changed?): takeLeftover(changed)
        case .success(nil): break
        case .failure(let error):
            Log.warning("group \(identifier): a leftover could not be removed: \(error)")
            retryLater()
        }
    }

    /// Something that was saved and cannot be understood is never thrown away: it is set aside beside the plist.
    private func keepDamaged(_ leftover: PlistLeftover) {
        let newPath = "\(plist.file.path).damaged-\(server.fileTimeText)"
        do throws(SystemError) {
            try Files.renameNoReplace(leftover.path, to: newPath)
            Log.warning(
                "group \(identifier): a file saved during a projection cannot be read; it was kept as \(newPath)")
        } catch {
            Log.error("group \(identifier): \(leftover.path) cannot be set aside: \(error)")
            retryLater()
        }
    }
}
