import GroupModel
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// What waits for a slow consumer, and who is resumed with it.
@Suite struct ChangesBufferTests {
    private func news(_ key: String, _ old: Int64?, _ new: Int64?, revision: Int64 = 1) -> NewsOfChanges {
        let step = ReplicaMachine.Step(revision: revision)
        let change = EffectiveChange(key: Key(key), old: old.map(Value.integer), new: new.map(Value.integer))
        return NewsOfChanges(
            changes: [GroupDefaults.Change(change, in: step, by: nil)], origin: nil, revision: Int(revision))
    }

    @Test func `the newest wins, with the oldest old`() {
        var pending = PendingChanges()
        for number in 1...100 { pending.add(news("k", Int64(number - 1), Int64(number), revision: Int64(number))) }
        let change = pending.take()
        #expect(change?.old?.integer == 0)
        #expect(change?.new?.integer == 100)
        #expect(change?.revision == 100)
        #expect(change?.coalesced == 100)
        #expect(pending.take() == nil)
    }

    @Test func `what has come back vanishes`() {
        var pending = PendingChanges()
        pending.add(news("k", 1, 2))
        pending.add(news("k", 2, 1))
        #expect(pending.take() == nil)
        pending.add(news("k", 1, nil))
        #expect(pending.take()?.new == nil)
    }

    @Test func `revisions ascend over all keys`() {
        var pending = PendingChanges()
        pending.add(news("a", 0, 1, revision: 1))
        pending.add(news("b", 0, 1, revision: 2))
        pending.add(news("a", 1, 2, revision: 3))
        #expect([pending.take()?.key, pending.take()?.key, pending.take()?.key] == ["b", "a", nil])
    }

    @Test func `an initial value takes in the changes and stays one`() {
        var pending = PendingChanges(initial: [GroupDefaults.Change(initial: "k", .integer(1))])
        pending.add(news("k", 1, 2))
        pending.add(news("k", 2, 1))
        let change = pending.take()
        #expect(change?.isInitial == true)
        #expect(change?.new?.integer == 1)
        #expect(change?.old == nil)
    }

    @Test func `a slow consumer of random changes ends with the same state`() {
        SplitMix64.withSeed { random in slowConsumer(&random) }
    }

    private func slowConsumer(_ random: inout SplitMix64) {
        var pending = PendingChanges()
        var truth: [String: Int64] = [:]
        var seen: [String: Int64] = [:]
        for revision in 1...20_000 {
            let key = "k\(Int.random(in: 0..<20, using: &random))"
            let new = Bool.random(using: &random) ? Int64.random(in: 0..<3, using: &random) : nil
            if truth[key] != new { pending.add(news(key, truth[key], new, revision: Int64(revision))) }
            truth[key] = new
            guard Int.random(in: 0..<5, using: &random) == 0, let change = pending.take() else { continue }
            #expect(seen[change.key] == change.old?.integer.map(Int64.init))
            seen[change.key] = change.new?.integer.map(Int64.init)
        }
        while let change = pending.take() { seen[change.key] = change.new?.integer.map(Int64.init) }
        #expect(seen == truth)
    }

    @Test func `commits wait one by one, and from a number on together`() {
        var pending = PendingCommits()
        for number in 1...100 { pending.add(news("k", Int64(number - 1), Int64(number), revision: Int64(number))) }
        var commits: [GroupDefaults.Commit] = []
        while let commit = pending.take() { commits.append(commit) }
        #expect(commits.count == PendingCommits.limit)
        #expect(commits.map(\.coalesced).reduce(0, +) == 100)
        #expect(commits.last?.changes.first?.new?.integer == 100)
        #expect(commits.last?.coalesced == 100 - PendingCommits.limit + 1)
    }

    @Test func `commits that were gathered lead to the same as all of them`() {
        var random = SplitMix64(seed: 7)
        var pending = PendingCommits()
        var truth: [String: Int64] = [:]
        var seen: [String: Int64] = [:]
        func take() -> Bool {
            guard let commit = pending.take() else { return false }
            for change in commit.changes {
                #expect(seen[change.key] == change.old?.integer.map(Int64.init))
                seen[change.key] = change.new?.integer.map(Int64.init)
            }
            return true
        }
        for revision in 1...20_000 {
            let key = "k\(Int.random(in: 0..<20, using: &random))"
            let new = Bool.random(using: &random) ? Int64.random(in: 0..<3, using: &random) : nil
            if truth[key] != new { pending.add(news(key, truth[key], new, revision: Int64(revision))) }
            truth[key] = new
            if Int.random(in: 0..<3, using: &random) == 0 { _ = take() }
        }
        while take() {}
        #expect(seen == truth)
    }

    @Test func `a commit costs a slow consumer the same, however many keys it has missed`() {
        func cost(ofMissing count: Int) -> Duration {
            let all = (0..<count).map { news("k\($0)", nil, Int64($0), revision: Int64($0)) }
            let durations = (0..<5).map { _ in
                var pending = PendingCommits()
                let start = threadTime()
                for news in all { pending.add(news) }
                return threadTime() - start
            }
            return (durations.min() ?? .zero) / count
        }
        let (few, many) = (cost(ofMissing: 250), cost(ofMissing: 2_000))
        // To go through what is gathered at each commit costs eight times as much.
        #expect(many < few * 6, "\(few) and \(many) a commit")
    }

    @Test func `of states the newest waits, and equal ones do not come`() {
        var pending = PendingLatest<Int>(initial: 1)
        #expect(pending.take() == 1)
        pending.add(1)
        #expect(pending.take() == nil)
        pending.add(2)
        pending.add(3)
        #expect(pending.take() == 3)
        pending.add(4)
        pending.add(3)
        #expect(pending.take() == nil)
    }

    @Test func `the consumer is resumed once, and with the end after the end`() {
        typealias Machine = DeliveryMachine<PendingQueue<Int>, String>
        var machine = Machine(PendingQueue())
        #expect(machine.add(1)?.waiter == nil)
        #expect(machine.wait("a").map { [$0.waiter: $0.element] } == [["a": 1]])
        #expect(machine.wait("b").isEmpty)
        #expect(machine.add(2)?.element == 2)
        #expect(machine.wait("c").isEmpty)
        // A second consumer ends the wait of the first.
        #expect(machine.wait("d").map(\.waiter) == ["c"])
        let end = machine.end()
        #expect(end?.waiter == "d")
        #expect(end.map { $0.element == nil } == true)
        #expect(machine.end()?.waiter == nil)
        #expect(machine.add(3)?.waiter == nil)
        #expect(machine.wait("e").map { [$0.waiter: $0.element] } == [["e": nil]])
    }

    @Test func `steps put together keep what counts`() {
        let first = ReplicaMachine.Step(
            changes: [.init(key: "a", old: nil, new: .integer(1)), .init(key: "b", old: nil, new: .integer(1))],
            number: 1)
        let second = ReplicaMachine.Step(
            changes: [
                .init(key: "a", old: .integer(1), new: nil), .init(key: "b", old: .integer(1), new: .integer(2)),
            ],
            number: 2)
        let both = first.followed(by: second)
        #expect(both.changes == [.init(key: "b", old: nil, new: .integer(2))])
        #expect(both.number == 2)
        #expect(both.coalesced == 2)
    }
}
