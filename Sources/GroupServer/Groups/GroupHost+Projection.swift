import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import ServiceIO

/// Writing the plist: in two steps on the worker, with the intent in the journal between them.
extension GroupHost {
    func startProjection() {
        plist.needsWrite = false
        projectionTimer.disarm()
        guard !plist.isLeftoverStuck else { return advancePlist() }
        switch plist.obstacle {
        case .damaged?, .unreachable?: return advancePlist()
        case .readOnly?, nil: break
        }
        // What the journal does not have must not be in the file.
        flush()
        guard plist.base.hasUnwritten || plist.baseText != nil else { return advancePlist() }
        // Of a large group only what changed is looked at here; another text's comments are worth the whole.
        let wish: PlistWish = plist.baseText == nil ? .changes(plist.base.unwritten(in: state)) : .entries(state.values)
        plist.base.beginProjection(at: state.revision)
        plist.lastFailure = nil
        let (file, expected, baseText) = (plist.file, plist.knownDigest, plist.baseText)
        startPlistJob { .prepared(file.prepare(wish, expecting: expected, baseText: baseText)) }
    }

    func prepared(_ preparation: PlistPreparation) {
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
    func commitPlist(_ prepared: PreparedPlist) {
        let file = plist.file
        guard note(.projection(digest: prepared.digest, differences: plist.base.differences)) else {
            plist.base.projectionFailed()
            startPlistJob {
                file.abandon(prepared)
                return .commitAbandoned(SystemError(errno: .noSpace, call: "journal"))
            }
            return
        }
        plist.projectedDigest = prepared.digest
        plist.ownText = prepared.digest
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

    func committed(_ outcome: PlistCommit) {
        switch outcome {
        case .replaced(let replacement):
            plist.base.projectionSucceeded()
            plist.baseText = nil
            nowHolds(replacement.content.digest, isDurable: true)
            writable()
            watchForLateEdit(of: replacement.old)
            if let backup = replacement.backup {
                Log.info(
                    "group \(identifier): written in place, since something is mounted on it; backup in \(backup)",
                    about: subject)
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

    func meetReadOnly(_ reason: String) {
        meet(
            .readOnly(
                Problem(
                    reason: reason, path: plist.file.path,
                    advice: "make the file and its directory writable, or change it there")))
    }

    func writable() {
        plist.lastFailure = nil
        guard case .readOnly? = plist.obstacle else { return }
        plist.obstacle = nil
        Log.notice("group \(identifier): the property list can be written again", about: subject)
    }

    func failed(_ problem: PlistWriteProblem) {
        plist.needsWrite = false
        switch problem {
        case .readOnly(_, let reason):
            meetReadOnly(reason)
        case .system(let error):
            Log.warning(
                "group \(identifier): the property list could not be written, and is as it was: \(error)",
                .storageFailed, about: subject)
            plist.lastFailure = error
            server.pollIsDue()
        case .unencodable(let reason):
            Log.error("group \(identifier): the property list could not be written: \(reason)", about: subject)
        }
    }
}
