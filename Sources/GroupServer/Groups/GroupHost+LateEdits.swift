import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import ServiceIO

/// Edits that slipped in between our last look at the file and its replacement: none is lost.
extension GroupHost {
    /// A program may have found the old file under its name and open it only now: it is looked at once more, when the next
    /// one has been replaced or a second has passed.
    func watchForLateEdit(of file: ReplacedFile?) {
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

    func lateLookEnded(_ reading: PlistReading?, _ entries: [Key: Value]) {
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
            let changes = try state.changes(
                for: edits.sorted { $0.key < $1.key }, from: .file, limits: server.configuration.limits)
            try schema?.check(changes)
            if !changes.isEmpty { commit(changes, origin: .file) }
        } catch {
            Log.error(
                "group \(identifier): an edit of the file that was just replaced is refused: \(error)", about: subject)
        }
        flush()
    }

    func recovered(_ result: Result<PlistLeftover?, PlistWriteProblem>) {
        plist.needsRecovery = false
        switch result {
        case .success(let leftover?): takeLeftover(leftover)
        case .success(nil): discarded(nil)
        case .failure(.system(let error)): leftoverIsStuck(error)
        case .failure(let problem):
            Log.warning("group \(identifier): leftovers of a projection: \(problem)", about: subject)
        }
    }

    /// Our exchange took out something that we did not know: an edit that was saved at the last moment.
    ///
    /// The projection counts as under way until the leftover is gone and the file is read again. Killed before that, we
    /// come upon the leftover once more, and must still know what the file had before: seen from our new text alone,
    /// all that the edit left as it was would look like edits that take our writes back.
    func takeForeign(_ leftover: PlistLeftover) {
        plist.needsRead = true
        takeLeftover(leftover)
    }

    /// A whole file that an interrupted exchange left: our own text, what was there before it, or an edit.
    func takeLeftover(_ leftover: PlistLeftover) {
        flush()
        switch leftover.reading {
        case .content(let content):
            let known = [plist.projectedDigest, plist.knownDigest, plist.ownText, plist.mergedLeftover]
            let isOurs = known.contains(content.digest)
            let edits = isOurs ? [] : plist.base.edits(from: content.entries, in: content.format, ours: state)
            take(edits, of: content, from: leftover, usesText: !isOurs)
        case .absent: discarded(nil)
        case .unreachable(_, let errno) where Self.passing.contains(errno):
            leftoverIsStuck(SystemError(errno: errno, call: "read", path: leftover.path))
        case .damaged, .unreachable: keepDamaged(leftover)
        }
    }

    /// Why a file cannot be read now, and perhaps can later.
    private static let passing: [Errno] = [
        .inputOutput, .stale, .timedOut, .noSpace, .quotaExceeded, .outOfMemory, .tooManyFiles, .tooManySystemFiles,
    ]

    func take(
        _ edits: [Edit], of content: PlistContent, from leftover: PlistLeftover, usesText: Bool = true
    ) {
        do throws(GroupError) {
            let changes = try state.changes(for: edits, from: .file, limits: server.configuration.limits)
            try schema?.check(changes)
            if !changes.isEmpty { commit(changes, origin: .file) }
        } catch {
            Log.error("group \(identifier): the edit kept in \(leftover.path) is refused: \(error)", about: subject)
            return keepDamaged(leftover)
        }
        // Only when the edit is in the journal may the file go that holds it.
        if let error = flush() { return leftoverIsStuck(error) }
        if usesText {
            // A binary text has nothing around its values that would be worth keeping.
            if content.format == .xml { plist.baseText = content.bytes }
            plist.needsWrite = true
        }
        discard(leftover)
    }

    /// The journal must be on stable storage first: a power cut must not take its record and leave the file removed.
    func discard(_ leftover: PlistLeftover) {
        let (file, handle) = (plist.file, journal.syncHandle)
        startPlistJob {
            do throws(SystemError) {
                try handle.sync().get()
                return .discarded(try file.discard(leftover))
            } catch {
                return .notDiscarded(leftover, error)
            }
        }
    }

    func discarded(_ changed: PlistLeftover?) {
        if let changed { return takeLeftover(changed) }
        plist.mergedLeftover = nil
        guard plist.isLeftoverStuck else { return }
        plist.isLeftoverStuck = false
        plist.lastFailure = nil
        plist.needsRead = true
    }

    func notDiscarded(_ leftover: PlistLeftover, _ error: SystemError) {
        plist.mergedLeftover = leftover.reading.digest
        leftoverIsStuck(error)
    }

    /// Tried again from time to time; until then nothing is written, since that would take its place.
    private func leftoverIsStuck(_ error: SystemError) {
        if !plist.isLeftoverStuck {
            Log.warning(
                "group \(identifier): what a projection left cannot be cleared up yet: \(error)", about: subject)
        }
        plist.isLeftoverStuck = true
        plist.lastFailure = error
        retryLater()
    }

    /// Something that was saved and cannot be understood is never thrown away: it is set aside beside the plist.
    func keepDamaged(_ leftover: PlistLeftover) {
        let newPath = "\(plist.file.path).damaged-\(server.fileTimeText)"
        do throws(SystemError) {
            try Files.renameNoReplace(leftover.path, to: newPath)
            Log.warning(
                "group \(identifier): a file saved during a projection cannot be read; it was kept as \(newPath)")
            discarded(nil)
        } catch {
            leftoverIsStuck(error)
        }
    }
}
