import GroupCore
import GroupFiles
import GroupModel
import LinuxIO
import PropertyList

/// A rewrite of the journal that is under way.
struct CompactionTracking {
    /// What was appended to the old journal since it began, and whether that is a commit.
    var tail: [(payload: [UInt8], isCommit: Bool)] = []
    /// The newest revision that the rewrite leaves in its snapshot.
    var horizon: Int64
}

extension GroupHost {
    /// How much history is kept at most, in bytes, however few commits that are.
    static let historySize = 16 << 20
    /// Below this size a journal is not worth rewriting, in bytes.
    private static let smallJournal: UInt64 = 4 << 20

    /// Starts a rewrite when the journal holds twice the history that is to be kept, or twice the bytes.
    func compactIfNeeded() {
        let configuration = server.configuration
        let isLong = index.entries.count > 2 * configuration.historyCommits
        // What the last rewrite left is what there must be: a text of many small values is far larger than they are.
        let least = max(compactedSize, UInt64(Self.historySize + 2 * state.size))
        let isLarge = journal.size > max(Self.smallJournal, 2 * least)
        if isLong || isLarge { startCompaction() }
    }

    func startCompaction() {
        guard compaction == nil, !isClosed else { return }
        flush()
        let configuration = server.configuration
        let oldest = Timestamp(microseconds: server.now.microseconds - configuration.historyAge)
        let kept = index.kept(count: configuration.historyCommits, size: Self.historySize, since: oldest)
        let horizon = state.revision - Int64(kept)
        compaction = CompactionTracking(horizon: horizon)
        let (path, group, size) = (journal.path, identifier, journal.size)
        server.runFileJob(on: self) {
            .compacted(Compaction.rewrite(path, upTo: size, of: group, horizon: horizon))
        }
    }

    func compactionEnded(_ outcome: Result<CompactedJournal, JournalUseFailure>) {
        guard let tracking = compaction else { return }
        do throws(JournalUseFailure) {
            let compacted = try outcome.get()
            // What is applied and not journaled yet belongs to the tail.
            flush()
            let tail = compaction?.tail ?? []
            compaction = nil
            let adopted: Journal.Adopted
            do throws(SystemError) {
                adopted = try journal.adopt(compacted.rewrite, tail: tail.map(\.payload))
            } catch {
                throw .system(error)
            }
            journal = adopted.journal
            reindex(adopted.offsets, areCommits: compacted.areCommits + tail.map(\.isCommit))
            state.forgetRemovals(upTo: tracking.horizon)
            compactedSize = journal.size
            // What came in meanwhile may be too much again, and perhaps nothing follows that would look.
            compactIfNeeded()
        } catch {
            compaction = nil
            Log.warning("group \(identifier): the journal could not be compacted, and is kept as it is: \(error)")
        }
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
}

/// Why the records of a journal could not be used.
enum JournalUseFailure: Error {
    case journal(JournalError)
    case replay(Replay.Failure)
    case system(SystemError)
}

/// The slow part of a compaction, on the worker: reads the old journal and writes the new one beside it.
enum Compaction {
    static func rewrite(
        _ path: String, upTo size: UInt64, of group: GroupIdentifier, horizon: Int64
    ) -> Result<CompactedJournal, JournalUseFailure> {
        do throws(JournalUseFailure) {
            let records = try records(path, upTo: size, of: group, horizon: horizon)
            do throws(SystemError) {
                let rewrite = try JournalRewrite.write(for: path, payloads: records.map(\.payload))
                return .success(CompactedJournal(rewrite: rewrite, areCommits: records.map(\.isCommit)))
            } catch {
                throw .system(error)
            }
        } catch {
            return .failure(error)
        }
    }

    /// Header, snapshot at the horizon, what was known of the plist there, and all records after it as they are.
    private static func records(
        _ path: String, upTo size: UInt64, of group: GroupIdentifier, horizon: Int64
    ) throws(JournalUseFailure) -> [(payload: [UInt8], isCommit: Bool)] {
        let records: [Journal.StoredRecord]
        do throws(JournalError) {
            // What was appended since is in the tail already.
            records = try Journal.soundRecords(path).filter { $0.offset < size }
        } catch {
            throw .journal(error)
        }
        guard let header = records.first else { throw .replay(.nonsense("it has no header")) }
        do throws(Replay.Failure) {
            var replay = try Replay(group, header: header.payload)
            var rest = records.dropFirst()
            while replay.state.revision < horizon, let record = rest.popFirst() {
                try replay.add(record.payload, at: record.offset)
            }
            // The snapshot itself may stand at the horizon already.
            if let first = rest.first, case .snapshot? = JournalEntry(first.payload) {
                try replay.add(first.payload, at: first.offset)
                rest = rest.dropFirst()
            }
            let entries = [
                JournalEntry.snapshot(revision: replay.state.revision, values: replay.state.values),
                .plist(digest: replay.knownDigest, differences: replay.base.possibleDifferences),
            ]
            let projection =
                replay.projectedDigest.map {
                    [JournalEntry.projection(digest: $0, differences: replay.base.differences).encoded]
                } ?? []
            let head = [Array(header.payload)] + entries.map(\.encoded) + projection
            return head.map { ($0, false) } + rest.map { (Array($0.payload), JournalEntry.isCommit($0.payload)) }
        } catch {
            throw .replay(error)
        }
    }
}
