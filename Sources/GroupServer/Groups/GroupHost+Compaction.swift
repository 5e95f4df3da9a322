import GroupCore
import GroupFiles
import GroupModel
import LinuxIO
import PropertyList
import ServiceIO

/// A rewrite of the journal that is under way.
struct CompactionTracking {
    /// What was appended to the old journal and is not in the new file yet, and whether that is a commit.
    var tail: [(payload: [UInt8], isCommit: Bool)] = []
    /// What the old journal had, in bytes, when the new file began to catch up with it: no sync goes beyond that until it is
    /// replaced, so that nothing is told to be on stable storage which the new file has not on it.
    var catchUpStart: UInt64?
    /// The newest revision that is not kept.
    var horizon: Int64

    /// - Parameter syncedSize: how far the old journal is on stable storage, in bytes.
    /// - Returns: whether it may have been told to be there further than the new file is.
    func needsCatchUp(syncedSize: UInt64) -> Bool {
        guard !tail.isEmpty else { return false }
        guard let catchUpStart else { return true }
        return syncedSize > catchUpStart
    }
}

/// How often a journal that is merely long is rewritten: in a rush of writes that would be ten times a second, and the
/// rewriting the most of the work. One that is too large never waits.
struct CompactionPace {
    /// When the rewrite under way began, in microseconds of the monotonic clock.
    var began: Int64 = 0
    private(set) var notBefore: Int64 = 0

    /// Of ten parts of the time one at most goes into rewriting.
    mutating func ended(at time: Int64) {
        notBefore = time + 9 * (time - began)
    }
}

extension GroupHost {
    /// How much history is kept at most, in bytes, however few commits that are.
    static let historySize = 16 << 20
    /// Below this size a journal is not worth rewriting, in bytes.
    private static let smallJournal: UInt64 = 4 << 20
    /// To replay more than this takes longer than a start should, in bytes.
    private static let longReplay: UInt64 = 256 << 10

    /// Starts a rewrite when the journal holds twice the history that is to be kept, or twice the bytes.
    func compactIfNeeded() {
        let isLong =
            index.entries.count > 2 * server.configuration.historyCommits
            && ProcessFacts.monotonicMicroseconds() >= pace.notBefore
        // What the last rewrite left is what there must be: a text of many small values is far larger than they are.
        let least = max(compactedSize, UInt64(Self.historySize + 2 * state.size))
        let isLarge = journal.size > max(Self.smallJournal, 2 * least)
        if isLong || isLarge { startCompaction() }
    }

    /// When the daemon ends: what the next start would replay commit by commit becomes a snapshot, if it is much.
    func compactForStart() {
        // The workers have ended: what was under way comes to nothing, and its file is written over.
        compaction = nil
        guard journal.size - snapshotEnd > Self.longReplay else { return }
        startCompaction()
    }

    func startCompaction() {
        guard compaction == nil, !isClosed else { return }
        flush()
        let configuration = server.configuration
        let oldest = Timestamp(microseconds: server.now.microseconds - configuration.historyAge)
        let kept = index.kept(count: configuration.historyCommits, size: Self.historySize, since: oldest)
        pace.began = ProcessFacts.monotonicMicroseconds()
        compaction = CompactionTracking(horizon: state.revision - Int64(kept))
        let job = Compaction(
            path: journal.path, journal: journal.syncHandle, reliedOn: journal.reliedOn,
            history: index.entries.suffix(kept).map(\.offset), state: state,
            plist: JournalEntry.plist(digest: plist.knownDigest, differences: plist.base.possibleDifferences),
            projection: plist.projectedDigest.map { .projection(digest: $0, differences: plist.base.differences) },
            room: server.isStopping ? 0 : journal.roomForNext)
        server.runFileJob(on: self) { .compacted(job.rewrite()) }
    }

    func compactionEnded(_ outcome: Result<CompactedJournal, JournalUseFailure>) {
        guard compaction != nil else { return }
        do throws(JournalUseFailure) {
            let compacted = try outcome.get()
            // What is applied and not journaled yet belongs to the tail.
            flush()
            if compaction?.needsCatchUp(syncedSize: journal.syncedSize) == true { return catchUp(compacted) }
            pace.ended(at: ProcessFacts.monotonicMicroseconds())
            try adopt(compacted)
            sync.isAwaitingPlace = false
            resumeSyncs()
            // What came in meanwhile may be too much again, and perhaps nothing follows that would look.
            compactIfNeeded()
        } catch {
            pace.ended(at: ProcessFacts.monotonicMicroseconds())
            compaction = nil
            refuseWaiters(because: error)
            resumeSyncs()
            // As long as there is no new file nothing counts as durable.
            if journal.syncFailure != nil { server.pollIsDue() }
            Log.warning(
                "group \(identifier): the journal could not be compacted, and is kept as it is: \(error)",
                about: subject)
        }
    }

    private func catchUp(_ compacted: CompactedJournal) {
        let tail = compaction?.tail ?? []
        compaction?.tail = []
        compaction?.catchUpStart = journal.size
        // Where no other file holds it up: syncs wait for it.
        server.runSync(on: self) { .compacted(compacted.appending(tail)) }
    }

    private func adopt(_ compacted: CompactedJournal) throws(JournalUseFailure) {
        guard let tracking = compaction else { return }
        compaction = nil
        let adopted: Journal.Adopted
        do throws(SystemError) {
            adopted = try journal.adopt(compacted.rewrite, tail: tracking.tail.map(\.payload))
        } catch {
            throw .system(error)
        }
        // To close a deleted file frees its blocks, which takes milliseconds: the worker has the time.
        let old = journal.syncHandle
        journal = adopted.journal
        server.release(old)
        snapshotEnd = adopted.offsets[compacted.snapshotEnd]
        reindex(adopted.offsets, areCommits: compacted.areCommits + tracking.tail.map(\.isCommit))
        ledger.state.forgetRemovals(upTo: tracking.horizon)
        compactedSize = journal.size
    }

    /// The commits of the new file are the newest ones of the old, in the same order at other places.
    private func reindex(_ offsets: [UInt64], areCommits: [Bool]) {
        let places = zip(offsets, areCommits).filter(\.1).map(\.0)
        let kept = index.entries.suffix(places.count)
        let entries = zip(kept, places).map { entry, offset in
            CommitIndex.Entry(offset: offset, size: entry.size, time: entry.time)
        }
        index = CommitIndex(entries, newest: index.newest)
    }
}

/// A rewritten journal, with what each of its records is.
struct CompactedJournal: Sendable {
    var rewrite: JournalRewrite
    var areCommits: [Bool]
    /// The place, among the records, of the first one behind the snapshot.
    var snapshotEnd: Int

    /// With what came since; for the worker.
    func appending(_ tail: [(payload: [UInt8], isCommit: Bool)]) -> Result<CompactedJournal, JournalUseFailure> {
        do throws(SystemError) {
            let rewrite = try rewrite.appending(tail.map(\.payload))
            return .success(
                CompactedJournal(
                    rewrite: rewrite, areCommits: areCommits + tail.map(\.isCommit), snapshotEnd: snapshotEnd))
        } catch {
            return .failure(.system(error))
        }
    }
}

/// Why the records of a journal could not be used.
enum JournalUseFailure: Error {
    case journal(JournalError)
    case replay(Replay.Failure)
    case system(SystemError)

    /// 0 where no call failed.
    var errno: Int32 {
        if case .system(let error) = self { error.errno.rawValue } else { 0 }
    }
}

/// The slow part of a compaction, on the worker: reads the commits that are kept from the old journal, and writes the new
/// one beside it. Nothing is parsed: the commits are copied as they are, and the state is the daemon's own.
struct Compaction: Sendable {
    var path: String
    /// The old one, which need not be under its path any more.
    var journal: Journal.SyncHandle
    /// The plist of which the journal tells more than may be on stable storage.
    var reliedOn: PlistFile?
    /// Where the commits are that are kept, oldest first.
    var history: [UInt64]
    /// The state that they led to.
    var state: GroupState
    /// What is known of the plist, seen from that state.
    var plist: JournalEntry
    var projection: JournalEntry?
    /// How much room the new journal shall have from the beginning on, in bytes.
    var room = 0

    /// A part of the snapshot, in bytes of keys and values: what is in memory of it at a time, here and when it is read.
    private static let partSize = 64 << 10

    /// What follows the snapshot.
    private var behindSnapshot: [JournalEntry] {
        let layers = state.layers.isEmpty ? nil : JournalEntry.layers(state.layers, revision: state.revision)
        let beginning = JournalEntry.epoch(state.position.epoch, boot: ProcessFacts.bootID)
        return [beginning, layers, plist, projection].compactMap { $0 }
    }

    func rewrite() -> Result<CompactedJournal, JournalUseFailure> {
        var failure: JournalUseFailure?
        var count = 0
        reliedOn?.makeDurable()
        do throws(SystemError) {
            let rewrite = try JournalRewrite.write(for: path, room: room) { (records) throws(SystemError) in
                let header = JournalEntry.header(
                    group: state.identifier.string, epoch: state.position.epoch, history: history.count)
                try records.append(header.encoded)
                do throws(JournalUseFailure) {
                    try copyHistory(to: &records)
                } catch {
                    failure = error
                    throw SystemError(errno: .inputOutput, call: "read", path: path)
                }
                count = try writeSnapshot(to: &records)
                for entry in behindSnapshot { try records.append(entry.encoded) }
            }
            let rest = count + behindSnapshot.count
            let areCommits = [false] + history.map { _ in true } + [Bool](repeating: false, count: rest)
            return .success(
                CompactedJournal(
                    rewrite: rewrite, areCommits: areCommits, snapshotEnd: 1 + history.count + count))
        } catch {
            return .failure(failure ?? .system(error))
        }
    }

    private func copyHistory(to records: inout RecordWriter) throws(JournalUseFailure) {
        guard let first = history.first else { return }
        var left = history[...]
        var failure: SystemError?
        do throws(JournalError) {
            try Journal.readSoundRecords(of: journal, path: path, from: first) { payload, offset in
                guard failure == nil, offset == left.first else { return }
                left.removeFirst()
                do throws(SystemError) {
                    try records.append([UInt8](copying: payload))
                } catch {
                    failure = error
                }
            }
        } catch {
            throw .journal(error)
        }
        if let failure { throw .system(failure) }
        guard left.isEmpty else {
            throw .replay(.nonsense("it has not \(left.count) of the \(history.count) commits that are kept"))
        }
    }

    /// - Returns: in how many records.
    private func writeSnapshot(to records: inout RecordWriter) throws(SystemError) -> Int {
        var part: [Key: Value] = [:]
        var size = 0
        var count = 0
        func write(to records: inout RecordWriter, isPartial: Bool) throws(SystemError) {
            let extent = JournalEntry.SnapshotExtent(keys: state.count, size: state.storedSize)
            let entry = JournalEntry.snapshot(
                revision: state.revision, values: part, isPartial: isPartial, extent: count == 0 ? extent : nil)
            try records.append(entry.encoded)
            part.removeAll(keepingCapacity: true)
            size = 0
            count += 1
        }
        for (key, value) in state.pairs {
            if size >= Self.partSize { try write(to: &records, isPartial: true) }
            part[key] = value
            size += key.string.utf8.count + value.encodedSize
        }
        try write(to: &records, isPartial: false)
        return count
    }
}
