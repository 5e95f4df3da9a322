import GroupCore
import GroupModel
import PropertyList
import TestSupport
import Testing

/// Observers that build a replica from what they are told, at any pace, and must end with the groups' states.
@Suite struct WatchStreamModelTests {
    @Test func withoutOverflowEveryCommitComesExactlyOnceInOrder() {
        SplitMix64.withSeed { random in
            for _ in 0..<40 {
                var run = WatchRun(limit: 1 << 30, &random)
                for _ in 0..<200 where !run.observer.verdict.hasFailed { run.step(&random) }
                run.drain()
                run.observer.expect(run.observer.coalesced == 0, "nothing may collapse")
                run.observer.expectAllCommits(run.told)
            }
        }
    }

    @Test(arguments: [0, 150, 400, 2000])
    func withOverflowTheReplicaIsTheStateInTheEnd(limit: Int) {
        SplitMix64.withSeed { random in
            var coalesced = 0
            var overflows = 0
            for _ in 0..<60 {
                var run = WatchRun(limit: limit, &random)
                for _ in 0..<150 where !run.observer.verdict.hasFailed {
                    run.step(&random)
                    if run.pace > 60 { run.drain() }
                }
                run.drain()
                coalesced += run.observer.coalesced
                overflows += run.observer.overflows
            }
            #expect(coalesced > 0 || limit == 0, "nothing collapsed")
            #expect(overflows > 0 || limit > 1000, "nothing overflowed")
        }
    }
}

/// Three groups, one watch, and a pace that changes.
private struct WatchRun {
    static let names = ["group.a", "group.b", "group.c"].map(Sample.identifier)

    let world = World(names)
    let observer: NaiveObserver
    var stream: WatchStream
    let limit: Int
    var pace = 50
    var epochs: UInt64 = 100
    /// What the watch is to hear of: every commit since it began, cut to its keys.
    var told: [Commit] = []

    init(limit: Int, _ random: inout SplitMix64) {
        self.limit = limit
        var watches: [(group: GroupIdentifier, filter: KeyFilter)] = []
        for name in Self.names {
            watches.append((name, KeyFilter(random.pick([nil, nil, ["a*"], ["a", "b"], ["*"], [], ["?"]]))))
        }
        observer = NaiveObserver(watches)
        stream = WatchStream(watches, limit: limit)
        for _ in 0..<20 { _ = world.change(random.pick(Self.names), &random) }
        for name in Self.names {
            if random.chance(30), let state = world.groups[name] {
                stream.resume(name, after: state.revision)
                observer.start(name, with: state)
            } else {
                stream.offerSnapshot(of: name, reason: .initial)
            }
        }
    }

    mutating func step(_ random: inout SplitMix64) {
        if random.chance(5) { pace = random.pick([0, 10, 50, 70, 100]) }
        let name = random.pick(Self.names)
        if world.groups[name] == nil {
            if random.chance(30) { create(name) }
        } else if random.chance(2) {
            world.delete(name)
            stream.offerDeletion(of: name)
        } else if let recorded = world.change(name, &random) {
            let before = stream.waitingSize
            stream.offer(recorded)
            told += observer.wanted(recorded.commit)
            // One commit that waits alone may be larger than the bound.
            let bound = max(limit, before, recorded.encoded.count)
            observer.expect(stream.waitingSize <= bound, "waiting: \(stream.waitingSize), bound \(limit)")
        }
        if random.chance(pace) { read(Int.random(in: 1...4, using: &random), partSize: random.pick([1, 60, 1000])) }
    }

    private mutating func create(_ name: GroupIdentifier) {
        epochs += 1
        world.create(name, Epoch(high: epochs, low: 0))
        stream.offerSnapshot(of: name, reason: .otherEpoch)
    }

    private mutating func read(_ count: Int, partSize: Int) {
        for _ in 0..<count {
            guard let reply = stream.next(in: world, partSize: partSize) else { return }
            observer.hear(reply)
        }
    }

    mutating func drain() {
        while let reply = stream.next(in: world, partSize: 100) { observer.hear(reply) }
        observer.expect(stream.isEmpty && stream.waitingSize == 0, "drained and not empty: \(stream.waitingSize)")
        for name in Self.names { observer.expectReplica(of: name, isThat: world.groups[name]) }
    }
}

extension World {
    /// A random commit; a reset now and then.
    fileprivate func change(_ name: GroupIdentifier, _ random: inout SplitMix64) -> RecordedCommit? {
        guard let state = groups[name] else { return nil }
        if random.chance(3) { return commit(state.changesForReset(), in: name) }
        let changes = try? state.changes(for: random.edits(upTo: 3), limits: Limits())
        return changes.flatMap { commit($0, in: name) }
    }
}

/// What a client does with the replies, and what it may rely on.
private final class NaiveObserver {
    private struct Replica {
        var values: [Key: Value] = [:]
        var position: Position
        /// Parts of a snapshot that is not complete.
        var parts: [Key: Value]?
    }

    let verdict = Verdict()
    private let filters: [GroupIdentifier: KeyFilter]
    private var replicas: [GroupIdentifier: Replica] = [:]
    private var heard: [Commit] = []
    private var begins: [(GroupIdentifier, Position, heard: Int)] = []
    private(set) var coalesced = 0
    private(set) var overflows = 0

    init(_ watches: [(group: GroupIdentifier, filter: KeyFilter)]) {
        filters = Dictionary(uniqueKeysWithValues: watches.map { ($0.group, $0.filter) })
    }

    func expect(_ holds: Bool, _ what: @autoclosure () -> String) { verdict.expect(holds, what()) }

    private func wants(_ key: Key, in group: GroupIdentifier) -> Bool { filters[group]?.includes(key) ?? false }

    /// The commit as this observer is to hear of it; none where it touches no wanted key.
    func wanted(_ commit: Commit) -> [Commit] {
        var cut = commit
        cut.changes.removeAll { !wants($0.key, in: commit.group) }
        return cut.changes.isEmpty ? [] : [cut]
    }

    func start(_ group: GroupIdentifier, with state: GroupState) {
        let values = state.values.filter { wants($0.key, in: group) }
        replicas[group] = Replica(values: values, position: state.position)
    }

    func hear(_ reply: WatchReply) {
        switch reply {
        case .snapshot(let part): hear(part)
        case .recorded(let recorded): hear(recorded.commit, nil)
        case .commit(let commit, let count): hear(commit, count)
        case .deleted(let group): replicas[group] = nil
        }
    }

    private func hear(_ part: Snapshot) {
        expect(part.values.keys.allSatisfy { wants($0, in: part.group) }, "an unwanted key in a snapshot")
        var replica = replicas[part.group] ?? Replica(position: part.position)
        // A part of another position begins a snapshot that supersedes an unfinished one.
        if replica.parts == nil || replica.position != part.position { replica.parts = [:] }
        replica.position = part.position
        replica.parts?.merge(part.values) { $1 }
        if part.reason == .overflow { overflows += 1 }
        if !part.isPartial, let values = replica.parts {
            replica.values = values
            replica.parts = nil
        }
        replicas[part.group] = replica
    }

    private func hear(_ commit: Commit, _ count: Int?) {
        guard var replica = replicas[commit.group] else {
            return expect(false, "a commit before a snapshot: \(commit)")
        }
        expect(replica.parts == nil, "a commit within a snapshot")
        expect(commit.revision > replica.position.revision, "revision \(commit.revision) after \(replica.position)")
        expect(!commit.changes.isEmpty, "an empty commit")
        expect(count ?? 1 > 0, "a commit that stands for none")
        if count != nil { coalesced += 1 }
        for change in commit.changes {
            expect(wants(change.key, in: commit.group), "an unwanted key: \(change.key)")
            expect(change.old != change.new, "a change that is none")
            expect(replica.values[change.key] == change.old, "old of \(change) is not what was seen last")
            replica.values[change.key] = change.new
        }
        replica.position.revision = commit.revision
        replicas[commit.group] = replica
        heard.append(commit)
    }

    func expectReplica(of group: GroupIdentifier, isThat state: GroupState?) {
        guard let state else { return expect(replicas[group] == nil, "\(group) is deleted") }
        guard let replica = replicas[group] else { return expect(false, "nothing of \(group)") }
        expect(replica.parts == nil, "an unfinished snapshot")
        expect(replica.position.epoch == state.position.epoch, "the epoch of \(group)")
        expect(replica.position.revision <= state.revision, "a revision that is not yet")
        expect(replica.values == state.values.filter { wants($0.key, in: group) }, "the values of \(group)")
    }

    /// What was heard is what was told, but for what a snapshot covered: in order, and none twice.
    func expectAllCommits(_ told: [Commit]) {
        for (group, _) in filters {
            var rest = told.filter { $0.group == group }[...]
            for commit in heard where commit.group == group {
                // Only commits before a snapshot may be passed over; the replica's old values show that none else is.
                while let next = rest.first, next != commit { rest.removeFirst() }
                expect(rest.popFirst() == commit, "a commit that was not told, or told twice: \(commit)")
            }
        }
    }
}
