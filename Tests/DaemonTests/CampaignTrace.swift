import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// What one observer of all keys of a group was told, checked as it comes: no gap, no double, each `old` what the
/// observer saw last. A plain value.
struct Trace: Sendable {
    private(set) var commits: [Int64: Commit] = [:]
    private(set) var position: Position?
    private(set) var replica: [Key: Value] = [:]
    /// How many commits came folded into one that stands for them.
    private(set) var foldedCount: Int64 = 0
    private(set) var snapshotReasons: [String] = []
    /// What was not as promised; empty is good.
    private(set) var problems: [String] = []
    private var isWithinSnapshot = false

    init(from position: Position? = nil, _ replica: [Key: Value] = [:]) {
        self.position = position
        self.replica = replica
    }

    mutating func take(_ event: WatchEvent) {
        switch event {
        case .established: break
        case .snapshot(let part): take(part)
        case .commit(let commit, let coalesced): take(commit, coalesced)
        case .deleted(let group): problems.append("deleted \(group)")
        }
    }

    private mutating func take(_ part: WatchEvent.SnapshotPart) {
        if !isWithinSnapshot {
            replica = [:]
            snapshotReasons.append(part.reason)
            if let position, part.position.epoch == position.epoch, part.position.revision < position.revision {
                problems.append("a snapshot of \(part.position.revision) after \(position.revision)")
            }
        }
        isWithinSnapshot = part.isPartial
        replica.merge(part.values) { $1 }
        position = part.position
    }

    private mutating func take(_ commit: Commit, _ coalesced: Int64?) {
        let before = position?.revision ?? 0
        if commit.revision != before + (coalesced ?? 1) {
            problems.append("revision \(commit.revision) (coalesced: \(coalesced ?? 0)) after \(before)")
        }
        for change in commit.changes {
            if replica[change.key] != change.old {
                problems.append("old value of \(change.key) in \(commit.revision)")
            }
            replica[change.key] = change.new
        }
        position?.revision = commit.revision
        foldedCount += coalesced ?? 0
        if coalesced == nil { commits[commit.revision] = commit }
    }

    /// Revisions of which the two were told different things.
    func contradictions(to other: [Int64: Commit]) -> [Int64] {
        commits.keys.filter { revision in other[revision].map { $0 != commits[revision] } ?? false }.sorted()
    }
}

extension SettingsPeer {
    /// All commits that are kept, by revision, asked for page by page.
    func wholeHistory(of group: GroupIdentifier) throws -> [Int64: Commit] {
        var commits: [Int64: Commit] = [:]
        var before: Int64?
        while true {
            let request = HistoryRequest(group: group, limit: 1000, before: before)
            let page = try call(.history(request))["commits"]?.arrayValue?.compactMap(Commit.init(wire:)) ?? []
            for commit in page { commits[commit.revision] = commit }
            guard let last = page.last else { return commits }
            before = last.revision
        }
    }
}
