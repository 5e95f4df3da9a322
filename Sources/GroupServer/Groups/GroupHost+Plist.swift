import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import ServiceIO

/// The group's plist as its living projection, and as a file that anybody may edit. One job of the worker at a time;
/// what comes in between is remembered and done after it.
extension GroupHost {
    /// Something happened to the file, or may have.
    func plistMayHaveChanged() {
        plist.needsRead = true
        advancePlist()
    }

    /// A commit is in the journal; within the projection delay of the first one it is in the file too.
    /// From the first unwritten change on the time runs, and nothing restarts it.
    func scheduleProjection() {
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
            // An edit is nearly always a small file that is in memory, since somebody just wrote it: looked at here, it
            // spares two changes of threads on its way to the observers.
            if !isOnNetwork, let outcome = FileOutcome.quickLook(at: file, knowing: known) {
                return plistJobEnded(outcome)
            }
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

    func startPlistJob(_ job: @escaping @Sendable () -> FileOutcome) {
        plist.isBusy = true
        server.runFileJob(on: self, job)
    }

    func answerWaiters() {
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

    /// Whether writes are taken whatever stands in the way of the file.
    var takesWrites: Bool {
        if case .readOnly? = plist.obstacle { return false }
        return !isUnknown
    }

    /// Whether the settings are unknown: the file cannot be read, and nothing was ever known of it.
    var isUnknown: Bool {
        switch plist.obstacle {
        case .damaged, .unreachable:
            // What is known from administrators alone says nothing of the group.
            plist.knownDigest == nil && (state.revision == 0 || !state.layers.isEmpty && state.count == 0)
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
        case .read(let reading, let places, let isWritable):
            watch(places)
            take(reading)
            noteWritability(isWritable)
        case .same(let places, let isWritable):
            watch(places)
            plist.hasSettled = false
            endSettling()
            holdsWhatIsKnown()
            scheduleProjection()
            noteWritability(isWritable)
        case .prepared(let preparation): prepared(preparation)
        case .repairPrepared(let copy, let preparation):
            plist.repairedCopy = copy
            prepared(preparation)
        case .committed(let outcome): committed(outcome)
        case .commitAbandoned(let error):
            plist.base.projectionFailed()
            failed(.system(error))
        case .discarded(let changed): discarded(changed)
        case .notDiscarded(let leftover, let error): notDiscarded(leftover, error)
        case .lateLook(let reading, let entries): lateLookEnded(reading, entries)
        case .compacted, .synced: preconditionFailure("no outcome of a plist job")
        }
        advancePlist()
    }

    func noteWritability(_ isWritable: Bool) {
        if !isWritable {
            // What the last projection said of it says more, and said in turn with this would be told at each look.
            if case .readOnly? = plist.obstacle { return }
            meetReadOnly(Self.notWritable)
        } else if !plist.base.hasUnwritten {
            // Otherwise the next projection shows.
            writable()
        }
    }

    private func watch(_ places: PlistPlaces) {
        let before = plist.places
        if places == before, server.directories.isAsked(for: identifier) { return }
        // What happened to a name while nobody knew that it leads here was no news: it is looked at again.
        if !before.names.isEmpty, !places.names.allSatisfy(before.names.contains) { plist.needsRead = true }
        plist.places = places
        if places.directories != before.directories {
            isOnNetwork = places.directories.contains { (try? Files.isNetworkFileSystem($0)) ?? false }
            if isOnNetwork { server.pollIsDue() }
        }
        server.watchDirectories(of: self)
    }

    /// A look at the file.
    func take(_ reading: PlistReading) {
        let hasSettled = plist.hasSettled
        plist.hasSettled = false
        switch reading {
        case .content(let content):
            endSettling()
            takeContent(content)
        case .absent where plist.knownDigest == nil:
            endSettling()
            // The first projection of all may have been interrupted: then all of it is still to be written.
            holdsWhatIsKnown()
            scheduleProjection()
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

    func settle() {
        guard !plist.isSettling else { return }
        plist.isSettling = true
        settleTimer.arm(afterMicroseconds: server.configuration.settleTime)
    }

    func endSettling() {
        plist.isSettling = false
        settleTimer.disarm()
    }

    func takeContent(_ content: PlistContent) {
        plist.format = content.format
        if content.digest == plist.knownDigest {
            holdsWhatIsKnown()
        } else if content.digest == plist.projectedDigest {
            guard !plist.isLeftoverStuck else { return overcome() }
            plist.base.projectionSucceeded()
            nowHolds(content.digest)
            overcome()
        } else {
            merge(content)
        }
        scheduleProjection()
    }

    func holdsWhatIsKnown() {
        plist.base.projectionFailed()
        plist.projectedDigest = nil
        overcome()
    }

    static let notWritable = "the directory of the file cannot be written"

    /// A deletion, or a file that does not parse, at the second look.
    func takeSettled(_ reading: PlistReading) {
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
            var problem = Problem(problem)
            // Where nothing good is known, there is nothing to repair it from.
            if digest != nil, state.revision > 0 {
                problem.advice =
                    "mend the file, delete it to reset the group, or run: appgroupctl repair \(identifier) "
                    + "(keeps a copy); until then the last good values are served"
            }
            meet(.damaged(problem))
        case .content, .unreachable: break
        }
    }

    /// Somebody edited the file: their changes become a commit, key by key.
    func merge(_ content: PlistContent) {
        flush()
        let edits = plist.base.edits(from: content.entries, in: content.format, ours: state)
        do throws(GroupError) {
            let changes = try state.changes(for: edits, from: .file, limits: server.configuration.limits)
            try schema?.check(changes)
            if !changes.isEmpty { commit(changes, origin: .file) }
        } catch {
            plist.damagedDigest = content.digest
            return meet(.damaged(refusedEdit(error, of: content)))
        }
        guard flush() == nil else { return retryLater() }
        plist.base = plist.base.after(content.entries, edits: edits, in: content.format, ours: state)
        nowHolds(content.digest)
        overcome()
    }

    private func refusedEdit(_ error: GroupError, of content: PlistContent) -> Problem {
        let place = error.key.flatMap(content.place)
        return Problem(
            reason: "an edit of the file is refused: \(error)", path: content.targetPath, line: place?.line,
            column: place?.column,
            advice:
                "take it back or make it smaller, or run: appgroupctl repair \(identifier) (keeps a copy); "
                + "until then the last good values are served")
    }

    /// Takes note of what the file holds now, so that it is not taken for an edit after a restart.
    ///
    /// - Parameters:
    ///   - digest: of what it holds; nil for no file.
    ///   - isDurable: whether that is on stable storage. What others save need not be.
    func nowHolds(_ digest: Digest?, isDurable: Bool = false) {
        plist.knownDigest = digest
        plist.projectedDigest = nil
        if !isDurable { journal.rely(on: plist.file) }
        _ = note(.plist(digest: digest, differences: plist.base.differences))
    }

    func overcome() {
        plist.damagedDigest = nil
        guard let obstacle = plist.obstacle else { return }
        // That a file can be read again does not make it writable.
        if case .readOnly = obstacle { return }
        plist.obstacle = nil
        Log.notice("group \(identifier): the property list is sound again", about: subject)
    }

    func meet(_ obstacle: PlistTracking.Obstacle) {
        plist.needsWrite = false
        if plist.obstacle != obstacle {
            plist.obstacle = obstacle
            Log.warning("group \(identifier): \(obstacle.problem.text)", obstacle.event, about: subject)
        }
        server.pollIsDue()
    }

    func retryLater() {
        server.pollIsDue()
    }
}
