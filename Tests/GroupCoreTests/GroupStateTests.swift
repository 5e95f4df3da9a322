import GroupCore
import GroupModel
import PropertyList
import TestSupport
import Testing

/// Random steps on a `GroupState` and on the naive model beside it.
@Suite struct GroupStateTests {
    @Test func agreesWithANaiveModel() {
        SplitMix64.withSeed { random in
            var run = ModelRun()
            for step in 0..<25_000 {
                // A new group now and then: the model's searches grow with its history.
                if run.model.states.count > 120 || random.chance(1) { run = ModelRun() }
                run.step(&random)
                run.check(&random)
                if run.verdict.hasFailed {
                    Issue.record("step \(step)")
                    return
                }
            }
        }
    }

    @Test func commitsTakenBackInReverseWereNever() throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<150 {
                var state = Sample.state(["a": random.value(), "b": random.value()], revision: 10)
                for _ in 0..<5 { _ = try? state.write(random.edits(upTo: 4)) }
                var undos: [GroupState.Undo] = []
                var views: [StateView] = []
                while undos.count < 12 {
                    let edits = random.edits(upTo: 4)
                    guard let changes = try? state.changes(for: edits, limits: Limits()) else { continue }
                    let list = random.chance(5) ? state.changesForReset() : changes
                    guard !list.isEmpty else { continue }
                    views.append(StateView(state))
                    undos.append(state.apply(Sample.commit(list, after: state)))
                }
                for (undo, view) in zip(undos, views).reversed() {
                    state.revert(undo)
                    #expect(StateView(state) == view)
                }
            }
        }
    }

    @Test func aStringReplacedAtOnceIsWhatAWriteMakesOfIt() throws {
        try SplitMix64.withSeed { random throws in
            var state = Sample.state(["a": .string("x"), "b": random.value()], revision: 10)
            var limits = Limits()
            limits.valueSize = 12
            for _ in 0..<4000 {
                if random.chance(30) { _ = try? state.write(random.edits(upTo: 2)) }
                limits.groupSize = state.size + Int.random(in: -2...6, using: &random)
                let (key, text) = (random.key(), random.pick(["", "x", "\u{E9}", "yy", "longer text", "\u{7}"]))
                let edits = [Edit.set(key, .string(text))]
                var other = state
                let changes = try? other.changes(for: edits, limits: limits)
                var seen: (old: String, revision: Int64)?
                let before = StateView(state)
                let replacement = state.replaceString(
                    of: key.string.utf8.span, with: text.utf8.span, limits: limits
                ) { seen = (String(copying: $0), $1) }
                guard let replacement else {
                    #expect(StateView(state) == before)
                    #expect(seen == nil)
                    continue
                }
                let change = try #require(changes?.first)
                #expect(change == Change(key: key, old: seen.map { .string($0.old) }, new: .string(text)))
                #expect(seen?.revision == replacement.lastRevision)
                other.apply([change], revision: other.revision + 1)
                #expect(StateView(state) == StateView(other))
                if random.chance(20) {
                    state.revert(replacement, of: change)
                    #expect(StateView(state) == before)
                }
            }
        }
    }

    @Test func aResetRemovesEveryKeyInTheirOrder() throws {
        var state = Sample.state()
        try state.write([.set("b", .integer(1)), .set("", .integer(2)), .set("a.b", .integer(3))])
        let changes = state.changesForReset()
        #expect(
            changes == [
                Change(key: "", old: .integer(2), new: nil), Change(key: "a.b", old: .integer(3), new: nil),
                Change(key: "b", old: .integer(1), new: nil),
            ])
        state.apply(Sample.commit(changes, after: state))
        #expect(state.count == 0)
        #expect(state.size == 0)
        #expect(state.changesForReset().isEmpty)
        #expect(state.changed(["a.b", "never"], since: 1) == ["a.b"])
    }

    @Test func aCommitOutOfOrderIsABug() async {
        await #expect(processExitsWith: .failure) {
            var state = Sample.state()
            var commit = Sample.commit([Change(key: "a", old: nil, new: .integer(1))], after: state)
            commit.revision = 2
            state.apply(commit)
        }
    }
}

/// All that can be observed of a group.
private struct StateView: Equatable {
    var position: Position
    var values: [Key: Value]
    var size: Int
    var count: Int
    var changedSince: [[Key]]

    init(_ state: GroupState) {
        position = state.position
        values = state.values
        size = state.size
        count = state.count
        changedSince = (0...state.revision + 1).map { state.changed(Sample.keys, since: $0) }
    }
}

/// One group and its model, and what may be done to both.
private struct ModelRun {
    var state = Sample.state()
    var model = NaiveGroup()
    var horizon: Int64 = 0
    var undos: [GroupState.Undo] = []
    let verdict = Verdict()

    mutating func step(_ random: inout SplitMix64) {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<3: reset()
        case 3..<12: takeBack()
        case 12..<14: forget(&random)
        case 14..<40: write(random.edits(upTo: 4), Int64.random(in: -1...state.revision + 1, using: &random), &random)
        default: write(random.edits(upTo: 4), nil, &random)
        }
    }

    private func expect(_ holds: Bool, _ what: @autoclosure () -> String) { verdict.expect(holds, what()) }

    private mutating func write(_ edits: [Edit], _ since: Int64?, _ random: inout SplitMix64) {
        var limits = Limits()
        if random.chance(20) { limits.valueSize = Int.random(in: 1...40, using: &random) }
        if random.chance(20) { limits.groupSize = Int.random(in: 1...100, using: &random) }
        if random.chance(20) { limits.keysPerGroup = Int.random(in: 1...6, using: &random) }
        let isReset = random.chance(5)
        // Then every key is one that the write names.
        let named = (isReset ? model.present.map(\.key) : []) + edits.map(\.key)
        do throws(GroupError) {
            let changes = try state.changes(for: edits, isReset: isReset, unchangedSince: since, limits: limits)
            if let since { expectNoConflict(named, since) }
            guard let entries = model.written(edits, isReset: isReset, limits: limits) else {
                return expect(false, "\(edits) should be refused")
            }
            commit(changes, entries)
        } catch .conflict(let keys, let revision) {
            expectConflict(keys, revision, named, since ?? .max)
        } catch {
            expect(model.written(edits, isReset: isReset, limits: limits) == nil, "\(edits): \(error)")
        }
    }

    private mutating func commit(_ changes: [Change], _ entries: NaiveGroup.Entries) {
        expect(Set(changes.map(\.key)).count == changes.count, "one change a key: \(changes)")
        var expected = model.present
        for change in changes {
            expect(change.old == NaiveGroup.look(change.key, in: expected), "old of \(change)")
            expect(change.old != change.new, "a change that is none: \(change)")
            expected = NaiveGroup.put(change.new, for: change.key, in: expected)
        }
        expect(NaiveGroup.isSame(expected, entries), "\(changes) make \(expected), not \(entries)")
        guard !changes.isEmpty else { return }
        undos.append(state.apply(Sample.commit(changes, after: state)))
        model.states.append(entries)
    }

    private mutating func expectNoConflict(_ keys: [Key], _ since: Int64) {
        for key in keys { expect(!model.hasChanged(key, since: since), "\(key) changed after \(since)") }
    }

    private mutating func expectConflict(_ keys: [String], _ revision: Int64, _ named: [Key], _ since: Int64) {
        expect(revision == model.revision, "the revision of a conflict")
        for key in Set(named) {
            let isNamed = keys.contains { $0.isIdentical(to: key.string) }
            let isForgotten = NaiveGroup.look(key, in: model.present) == nil && since < horizon
            expect(isNamed == model.hasChanged(key, since: since) || (isNamed && isForgotten), "\(key) since \(since)")
        }
    }

    private mutating func reset() {
        let changes = state.changesForReset()
        expect(changes.map(\.key) == model.present.map(\.key).sorted(), "the keys of a reset")
        commit(changes, [])
    }

    private mutating func takeBack() {
        guard let undo = undos.popLast() else { return }
        state.revert(undo)
        model.states.removeLast()
    }

    private mutating func forget(_ random: inout SplitMix64) {
        let upTo = Int64.random(in: 0...state.revision, using: &random)
        state.forgetRemovals(upTo: upTo)
        horizon = max(horizon, upTo)
        undos = []
    }

    mutating func check(_ random: inout SplitMix64) {
        expect(state.revision == model.revision, "revision \(state.revision), \(model.revision)")
        expect(state.count == model.present.count, "count")
        expect(state.size == NaiveGroup.size(model.present), "size \(state.size)")
        let key = random.key()
        expect(state[key] == NaiveGroup.look(key, in: model.present), "value of \(key)")
        let patterns = random.pick([nil, [], ["a"], ["a*"], ["*"], ["?", "\\*"], ["\\*", "b"], ["\u{E9}"], [""]])
        let read = state.values(matching: KeyFilter(patterns))
        let filter = KeyFilter(patterns)
        let expected = model.present.filter { filter.includes($0.key) }
        expect(NaiveGroup.isSame(read.map { ($0.key, $0.value) }, expected), "read of \(String(describing: patterns))")
    }
}
