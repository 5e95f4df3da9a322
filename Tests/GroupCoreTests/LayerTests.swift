import GroupCore
import GroupModel
import PropertyList
import TestSupport
import Testing

/// Administrators' layers over and under a group, held against the plain rule: the first hit counts.
@Suite struct LayerTests {
    /// What a reader sees of everything.
    private static func effective(_ state: GroupState) -> [Key: Value] {
        state.layers.defaults.merging(state.values) { $1 }.merging(state.layers.managed) { $1 }
    }

    @Test func theFirstHitCounts() throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<500 {
                var state = Sample.state(random.some())
                state.layers = GroupLayers(managed: random.some(), defaults: random.some())
                let expected = Self.effective(state)
                #expect(state.effectiveValues(matching: .all) == expected)
                for key in Sample.keys { #expect(state.effective(key).value == expected[key]) }
                #expect(Set(state.keys(from: .managed, matching: .all)) == Set(state.layers.managed.keys))
            }
        }
    }

    @Test func whatReadersSeeOfACommitIsWhatIsDifferentAndReadsBack() throws {
        try SplitMix64.withSeed { random throws in
            var state = Sample.state(random.some())
            for _ in 0..<1000 {
                state.layers = GroupLayers(managed: random.some(), defaults: random.some())
                let before = Self.effective(state)
                guard let own = try? state.changes(for: random.edits(upTo: 4), from: .file, limits: Limits()) else {
                    continue
                }
                let changes = state.effectiveChanges(of: own)
                #expect(state.ownChanges(of: changes, isAdministrator: false) == own)
                state.apply(own, revision: state.revision + 1)
                let after = Self.effective(state)
                let visible = changes.filter { !$0.isHidden }
                for change in visible {
                    #expect(change.old == before[change.key] && change.new == after[change.key])
                    #expect(change.layer == state.effective(change.key).layer || change.new == nil)
                }
                let different = Sample.keys.filter { before[$0] != after[$0] }
                #expect(Set(visible.map(\.key)) == Set(different))
            }
        }
    }

    @Test func newLayersAreToldAsWhatReadersSeeChange() throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<500 {
                var state = Sample.state(random.some())
                state.layers = GroupLayers(managed: random.some(), defaults: random.some())
                let next = GroupLayers(managed: random.some(), defaults: random.some())
                let (before, changes) = (Self.effective(state), state.changes(to: next))
                state.layers = next
                var told = before
                for change in changes {
                    #expect(change.old == before[change.key])
                    told[change.key] = change.new
                }
                #expect(told == Self.effective(state))
                #expect(state.ownChanges(of: changes, isAdministrator: true).isEmpty)
            }
        }
    }

    @Test func forcedKeysAreRefusedAndEditsStartFromTheDefault() throws {
        var state = Sample.state(["a": .integer(1)])
        state.layers = GroupLayers(managed: ["a": .integer(2), "b": .integer(3)], defaults: ["a.b": .boolean(true)])
        #expect(throws: GroupError.forced(keys: ["a", "b"])) {
            try state.changes(for: [.set("b", .integer(1)), .remove("a"), .set("*", .integer(1))], limits: Limits())
        }
        let toggled = try state.changes(for: [Edit(key: "a.b", operation: .toggle, value: nil)], limits: Limits())
        #expect(toggled == [Change(key: "a.b", old: nil, new: .boolean(false))])
    }
}

extension SplitMix64 {
    fileprivate mutating func some() -> [Key: Value] {
        var values: [Key: Value] = [:]
        for _ in 0..<Int.random(in: 0...4, using: &self) { values[key()] = value() }
        return values
    }
}
