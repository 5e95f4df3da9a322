import GroupCore
import GroupFiles
import GroupModel
import LinuxIO
import PropertyList

/// A rewrite of the journal that is under way.
struct CompactionTracking {
    /// What was appended to the old journal since it began, and whether that is a commit.
    var tail: [(payload: [UInt8], isCommit: Bool)] = []
    /// The newest revision that is not kept.
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
        compaction = CompactionTracking(horizon: state.revision - Int64(kept))
        let job = Compaction(
            path: journal.path, history: index.entries.suffix(kept).map(\.offset), state: state,
            plist: JournalEntry.plist(digest: plist.knownDigest, differences: plist.base.possibleDifferences),
            projection: plist.projectedDigest.map { .projection(digest: $0, differences: plist.base.differences) })
        server.runFileJob(on: self) { .compacted(job.rewrite()) }
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

/// The slow part of a compaction, on the worker: reads the commits that are kept from the old journal, and writes the new
/// one beside it. Nothing is parsed: the commits are copied as they are, and the state is the daemon's own.
struct Compaction: Sendable {
    var path: String
    /// Where the commits are that are kept, oldest first.
    var history: [UInt64]
    /// The state that they led to.
    var state: GroupState
    /// What is known of the plist, seen from that state.
    var plist: JournalEntry
    var projection: JournalEntry?

    func rewrite() -> Result<CompactedJournal, JournalUseFailure> {
        do throws(JournalUseFailure) {
            let commits = try keptCommits()
            let header = JournalEntry.header(
                group: state.identifier.string, epoch: state.position.epoch, history: commits.count)
            let snapshot = JournalEntry.snapshot(revision: state.revision, values: state.values)
            let rest = [snapshot, plist] + (projection.map { [$0] } ?? [])
            let payloads = [header.encoded] + commits + rest.map(\.encoded)
            let areCommits = [false] + commits.map { _ in true } + rest.map { _ in false }
            do throws(SystemError) {
                return .success(
                    CompactedJournal(
                        rewrite: try JournalRewrite.write(for: path, payloads: payloads), areCommits: areCommits))
            } catch {
                throw .system(error)
            }
        } catch {
            return .failure(error)
        }
    }

    private func keptCommits() throws(JournalUseFailure) -> [[UInt8]] {
        guard !history.isEmpty else { return [] }
        let wanted = Set(history)
        let records: [Journal.StoredRecord]
        do throws(JournalError) {
            records = try Journal.soundRecords(path).filter { wanted.contains($0.offset) }
        } catch {
            throw .journal(error)
        }
        guard records.count == history.count else {
            throw .replay(.nonsense("it has \(records.count) of the \(history.count) commits that are kept"))
        }
        return records.map { Array($0.payload) }
    }
}
