import GroupCore
import GroupModel
import PropertyList
import TestSupport
import Testing

@Suite struct WatchStreamTests {
    private func stream(_ keys: [String]? = nil, limit: Int = 1 << 20) -> WatchStream {
        WatchStream([(Sample.group, KeyFilter(keys))], limit: limit)
    }

    @Test func aSnapshotShowsTheStateOfItsTurn() throws {
        let world = World()
        var stream = stream()
        stream.offerSnapshot(of: Sample.group, reason: .initial)
        stream.offer(try world.write([.set("a", .integer(1))]))
        guard case .snapshot(let snapshot)? = stream.next(in: world) else {
            Issue.record("no snapshot")
            return
        }
        #expect(snapshot.values == ["a": .integer(1)])
        #expect(snapshot.position == Position(epoch: Sample.epoch, revision: 1))
        #expect(snapshot.reason == .initial)
        #expect(!snapshot.isPartial)
        // The commit is in the snapshot: it is not said twice.
        #expect(stream.next(in: world) == nil)
        #expect(stream.isEmpty)
        #expect(stream.waitingSize == 0)
    }

    @Test func resumingSaysOnlyWhatCameAfter() throws {
        let world = World()
        let commits = try (1...3).map { try world.write([.set("a", .integer($0))]) }
        var stream = stream()
        stream.resume(Sample.group, after: 2)
        for commit in commits { stream.offer(commit) }
        guard case .recorded(let recorded)? = stream.next(in: world) else {
            Issue.record("no commit")
            return
        }
        #expect(recorded === commits[2])
        #expect(stream.next(in: world) == nil)
    }

    @Test func aCommitIsCutToTheWantedKeysAndLeftOutWithoutAny() throws {
        let world = World()
        var stream = stream(["a*"])
        stream.offer(try world.write([.set("b", .integer(1))]))
        #expect(stream.isEmpty)
        stream.offer(try world.write([.set("b", .integer(2)), .set("a.b", .integer(2))]))
        guard case .commit(let commit, coalesced: nil)? = stream.next(in: world) else {
            Issue.record("no commit")
            return
        }
        #expect(commit.revision == 2)
        #expect(commit.changes == [Change(key: "a.b", old: nil, new: .integer(2))])
        #expect(stream.next(in: world) == nil)
    }

    @Test func whatIsOfNoInterestIsDropped() throws {
        let world = World()
        let other = Sample.identifier("group.other")
        var stream = WatchStream([(other, .all)], limit: 10)
        stream.offer(try world.write([.set("a", .integer(1))]))
        stream.offerSnapshot(of: Sample.group, reason: .initial)
        stream.offerDeletion(of: Sample.group)
        #expect(stream.isEmpty)
        #expect(Array(stream.groups) == [other])
    }

    @Test func pastTheBoundChangesCollapseToTheNewestValue() throws {
        let world = World()
        var stream = stream(limit: 400)
        for number in 1...9 {
            stream.offer(try world.write([.set("a", .integer(Int64(number))), .set("b", .boolean(number % 2 == 0))]))
        }
        stream.offer(try world.write([.remove("b")]))
        guard case .commit(let commit, coalesced: 10)? = stream.next(in: world) else {
            Issue.record("not collapsed")
            return
        }
        #expect(commit.revision == 10)
        // b came back to its old value, "no such key".
        #expect(commit.changes == [Change(key: "a", old: nil, new: .integer(9))])
        #expect(stream.next(in: world) == nil)
        #expect(stream.waitingSize == 0)
    }

    @Test func anObserverThatKeepsUpGetsACommitLargerThanTheBound() throws {
        let world = World()
        try world.write([.set("a", .string(String(repeating: "x", count: 1000)))])
        var stream = stream(limit: 100)
        let commit = try world.write([.set("a", .string(String(repeating: "y", count: 1000)))])
        stream.offer(commit)
        guard case .recorded(let recorded)? = stream.next(in: world) else {
            Issue.record("not the commit")
            return
        }
        #expect(recorded === commit)
        #expect(stream.waitingSize == 0)
    }

    @Test func moreThanTheBoundOfOldValuesGivesASnapshot() throws {
        let world = World()
        for number in 0..<20 { try world.write([.set(Key("k\(number)"), .string(String(repeating: "x", count: 100)))]) }
        var stream = stream(limit: 1000)
        for number in 0..<20 { stream.offer(try world.write([.set(Key("k\(number)"), .integer(1))])) }
        #expect(stream.waitingSize == 0)
        guard case .snapshot(let snapshot)? = stream.next(in: world) else {
            Issue.record("no snapshot")
            return
        }
        #expect(snapshot.reason == .overflow)
        #expect(snapshot.values.count == 20)
        #expect(snapshot.position.revision == 40)
        #expect(stream.next(in: world) == nil)
    }

    @Test func theBoundHoldsForAllGroupsTogether() throws {
        let names = (0..<20).map { Sample.identifier("group.\($0)") }
        let world = World(names)
        var stream = WatchStream(names.map { ($0, .all) }, limit: 1000)
        for name in names {
            try world.write([.set("a", .string(String(repeating: "x", count: 500)))], in: name)
        }
        for name in names {
            stream.offer(try world.write([.set("a", .integer(1))], in: name))
            stream.offer(try world.write([.set("a", .integer(2))], in: name))
            #expect(stream.waitingSize <= 1000)
        }
    }

    @Test func aLargeSnapshotComesInPartsOfOnePosition() throws {
        let world = World()
        for number in 0..<100 { try world.write([.set(Key("k\(number)"), .data(Array(repeating: 7, count: 100)))]) }
        try world.write([.set("large", .data(Array(repeating: 7, count: 2000)))])
        var stream = stream()
        stream.offerSnapshot(of: Sample.group, reason: .initial)
        var parts: [Snapshot] = []
        while let reply = stream.next(in: world, partSize: 1000) {
            // What comes meanwhile waits behind the parts.
            if parts.count == 3 { stream.offer(try world.write([.set("late", .integer(1))])) }
            guard case .snapshot(let part) = reply else { break }
            parts.append(part)
        }
        #expect(parts.map(\.isPartial) == Array(repeating: true, count: parts.count - 1) + [false])
        #expect(parts.allSatisfy { $0.position == parts[0].position && $0.reason == .initial })
        #expect(parts.allSatisfy { $0.values.count == 1 || $0.values.count < 10 })
        #expect(parts.reduce(0) { $0 + $1.values.count } == 101)
    }

    @Test func aSnapshotIsDividedByWhatItTakesInAMessage() throws {
        let world = World()
        // Two bytes each for the caps, and twenty-six in a message.
        for number in 0..<100 { try world.write([.set(Key("k\(number)"), .boolean(true))]) }
        var stream = stream()
        stream.offerSnapshot(of: Sample.group, reason: .initial)
        var parts: [Snapshot] = []
        while case .snapshot(let part)? = stream.next(in: world, partSize: 1000) { parts.append(part) }
        #expect(parts.count >= 3)
        #expect(parts.allSatisfy { $0.values.count <= 1000 / 24 })
        #expect(parts.reduce(0) { $0 + $1.values.count } == 100)
    }

    @Test func aCommitThatNoMessageHasRoomForIsToldAsTheState() throws {
        let world = World()
        try world.write([.set("a", .string("before")), .set("b", .integer(1))])
        var stream = stream()
        stream.resume(Sample.group, after: 1)
        stream.offer(try world.write([.set("a", .data(Array(repeating: 0, count: 900))), .set("b", .integer(2))]))
        stream.offer(try world.write([.set("b", .integer(3))]))
        guard case .snapshot(let snapshot)? = stream.next(in: world, commitSize: 800) else {
            Issue.record("no snapshot")
            return
        }
        #expect(snapshot.reason == .overflow)
        #expect(snapshot.position.revision == 3)
        #expect(snapshot.values["b"] == .integer(3))
        // The commit behind it is in the snapshot.
        #expect(stream.next(in: world, commitSize: 800) == nil)
        let next = try world.write([.set("b", .integer(4))])
        stream.offer(next)
        guard case .recorded(let told)? = stream.next(in: world, commitSize: 800) else {
            Issue.record("what follows is not told")
            return
        }
        #expect(told === next)
    }

    @Test func ofALargeCommitAnObserverOfFewKeysIsToldThose() throws {
        let world = World()
        var stream = stream(["b"])
        stream.offer(try world.write([.set("a", .data(Array(repeating: 0, count: 9000))), .set("b", .integer(2))]))
        guard case .commit(let commit, coalesced: nil)? = stream.next(in: world, commitSize: 8000) else {
            Issue.record("no commit")
            return
        }
        #expect(commit.changes == [Change(key: "b", old: nil, new: .integer(2))])
    }

    @Test func whatCollapsedToMoreThanAMessageIsToldAsTheState() throws {
        let world = World()
        // The bound counts what was there before; what is there now may be much more.
        var stream = stream(limit: 1000)
        for number in 0..<5 {
            stream.offer(try world.write([.set(Key("k\(number)"), .data(Array(repeating: 0, count: 900)))]))
        }
        #expect(stream.isBehind)
        guard case .snapshot(let snapshot)? = stream.next(in: world, commitSize: 3000) else {
            Issue.record("no snapshot")
            return
        }
        #expect(snapshot.reason == .overflow)
        #expect(snapshot.values.count == 5)
        #expect(stream.next(in: world, commitSize: 3000) == nil)
        #expect(stream.isEmpty)
    }

    @Test func anEmptyGroupHasAnEmptySnapshot() {
        let world = World()
        var stream = stream([])
        stream.offerSnapshot(of: Sample.group, reason: .otherEpoch)
        guard case .snapshot(let snapshot)? = stream.next(in: world) else {
            Issue.record("no snapshot")
            return
        }
        #expect(snapshot.values.isEmpty)
        #expect(!snapshot.isPartial)
    }

    @Test func aGroupMadeAnewBeforeItsFirstSnapshotShowsNothingOfTheOldOne() throws {
        let world = World()
        var stream = stream()
        stream.offerSnapshot(of: Sample.group, reason: .initial)
        for number: Int64 in 1...5 { stream.offer(try world.write([.set("a", .integer(number))])) }
        world.delete(Sample.group)
        stream.offerDeletion(of: Sample.group)
        world.create(Sample.group, Epoch(high: 9, low: 9))
        stream.offerSnapshot(of: Sample.group, reason: .otherEpoch)
        guard case .deleted(Sample.group)? = stream.next(in: world),
            case .snapshot(let snapshot)? = stream.next(in: world)
        else {
            Issue.record("not deleted, snapshot")
            return
        }
        #expect(snapshot.reason == .otherEpoch)
        #expect(snapshot.values.isEmpty)
        stream.offer(try world.write([.set("a", .integer(1))]))
        guard case .recorded? = stream.next(in: world) else {
            Issue.record("the first commit of the new epoch is missing")
            return
        }
        #expect(stream.isEmpty)
    }

    /// What its file holds is read, and is a commit, before anybody is told that it is there.
    @Test(arguments: [false, true])
    func aGroupMadeAnewWithAFileBeginsWithItsSnapshot(wasTold: Bool) throws {
        let world = World()
        var stream = stream()
        stream.offerSnapshot(of: Sample.group, reason: .initial)
        _ = stream.next(in: world)
        world.delete(Sample.group)
        stream.offerDeletion(of: Sample.group)
        if wasTold { _ = stream.next(in: world) }
        world.create(Sample.group, Epoch(high: 9, low: 9))
        stream.offer(try world.write([.set("a", .integer(1))]))
        stream.offerSnapshot(of: Sample.group, reason: .otherEpoch)
        if !wasTold { _ = stream.next(in: world) }
        guard case .snapshot(let snapshot)? = stream.next(in: world) else {
            Issue.record("no snapshot")
            return
        }
        #expect(snapshot.reason == .otherEpoch && snapshot.values == ["a": .integer(1)])
        let rest = stream.next(in: world)
        #expect(rest == nil)
    }

    @Test func anObserverThatIsAlwaysALittleBehindKeepsNothingOfWhatWasSaid() throws {
        let world = World()
        var stream = stream()
        var commits: [WeakCommit] = []
        for number: Int64 in 1...2000 {
            let commit = try world.write([.set("a", .integer(number))])
            commits.append(WeakCommit(commit))
            stream.offer(commit)
            if number > 1 { _ = stream.next(in: world) }
        }
        #expect(!stream.isEmpty)
        #expect(commits.count { $0.commit != nil } < 200)
    }

    @Test func whatTakesItsPlaceGoesOnWhereItStands() throws {
        let world = World()
        var stream = stream()
        let now: (GroupIdentifier) -> Int64? = { world.groups[$0]?.revision }
        stream.offerSnapshot(of: Sample.group, reason: .tooOld)
        #expect(stream.standings(now: now) == [Sample.group: .snapshot(.tooOld)])
        _ = stream.next(in: world)
        let first = try world.write([.set("a", .integer(1))])
        stream.offer(first)
        let second = try world.write([.set("a", .integer(2))])
        stream.offer(second)
        #expect(stream.standings(now: now) == [Sample.group: .at(first.commit.revision - 1)])
        _ = stream.next(in: world)
        #expect(stream.standings(now: now) == [Sample.group: .at(first.commit.revision)])
        _ = stream.next(in: world)
        #expect(stream.standings(now: now) == [Sample.group: .at(second.commit.revision)])
        stream.offerDeletion(of: Sample.group)
        #expect(stream.standings(now: now) == nil)
        _ = stream.next(in: world)
        #expect(stream.standings(now: now) == [Sample.group: .gone])
    }

    @Test func aCommitCostsAnObserverThatIsBehindTheSameHoweverManyKeysItHasMissed() throws {
        let (few, many) = (try costOfFallingBehind(by: 1_000), try costOfFallingBehind(by: 16_000))
        // What is looked at, or copied, at each commit costs sixteen times as much.
        #expect(many < few * 6, "\(few) and \(many) a commit")
    }

    /// Of each of so many commits of different keys, at best.
    private func costOfFallingBehind(by count: Int) throws -> Duration {
        let world = World()
        let commits = try (0..<count).map { try world.write([.set(Key("k\($0)"), .integer(Int64($0)))]) }
        // Less than the commits take, more than the keys do.
        let limit = count * 76
        let durations = (0..<3).map { _ in
            var stream = stream(limit: limit)
            let start = threadTime()
            for commit in commits { stream.offer(commit) }
            let end = threadTime()
            #expect(stream.isBehind && stream.waitingSize < limit && stream.waitingSize > count * 64)
            return end - start
        }
        return (durations.min() ?? .zero) / count
    }
}

private struct WeakCommit {
    weak var commit: RecordedCommit?

    init(_ commit: RecordedCommit) { self.commit = commit }
}
