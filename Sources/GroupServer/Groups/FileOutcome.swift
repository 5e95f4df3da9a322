import GroupFiles
import LinuxIO
import PropertyList

/// What a job on a worker thread comes back with.
enum FileOutcome: Sendable {
    case recovered(Result<PlistLeftover?, PlistWriteProblem>)
    case read(PlistReading, places: PlistPlaces, isWritable: Bool)
    /// The file holds the text that is known already.
    case same(places: PlistPlaces, isWritable: Bool)
    case prepared(PlistPreparation)
    /// A repair, with the path of the copy of what was damaged.
    case repairPrepared(copy: String?, PlistPreparation)
    case committed(PlistCommit)
    /// The journal could not be made durable first, so the plist was left alone.
    case commitAbandoned(SystemError)
    /// Nil: it is gone. Otherwise it had changed since it was read.
    case discarded(PlistLeftover?)
    case notDiscarded(PlistLeftover, SystemError)
    /// What somebody wrote into a file after it was replaced, and what the file held before.
    case lateLook(PlistReading?, was: [Key: Value])
    case compacted(Result<CompactedJournal, JournalUseFailure>)
    case synced(Journal.SyncHandle, Result<Void, SystemError>, isInPlace: Bool)
}

extension FileOutcome {
    /// One look at a plist, and at where it is. A text that is known already is not parsed again.
    static func look(at file: PlistFile, knowing known: Digest?) -> FileOutcome {
        let reading = file.read(unless: known)
        let resolution = file.resolve()
        guard let reading else { return .same(places: resolution.places, isWritable: isWritable(resolution.target)) }
        let target = reading.content?.targetPath
        return .read(reading, places: resolution.places, isWritable: target.map(isWritable) ?? true)
    }

    /// The same without waiting for a disk or a server; nil where that cannot be.
    static func quickLook(at file: PlistFile, knowing known: Digest?) -> FileOutcome? {
        guard let look = file.readAtOnce(unless: known) else { return nil }
        guard let reading = look.reading else {
            return .same(places: look.places, isWritable: isWritable(look.target))
        }
        let isWritable = reading.content == nil || isWritable(look.target)
        return .read(reading, places: look.places, isWritable: isWritable)
    }

    /// What we own but may not write to is somebody's decision: a read-only mount, a managed configuration. Not so what was
    /// renamed away since we read it.
    private static func isWritable(_ target: String) -> Bool {
        !Files.isWriteProtected(Files.parent(of: target))
    }
}
