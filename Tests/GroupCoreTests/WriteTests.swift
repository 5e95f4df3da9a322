import GroupCore
import GroupModel
import PropertyList
import Testing

@Suite struct WriteTests {
    @Test func twoEditsOfOneKeyGiveOneChangeWithFirstOldAndLastNew() throws {
        let state = Sample.state(["a": .integer(1)])
        let changes = try state.changes(
            for: [.set("a", .integer(2)), .set("b", .integer(1)), .set("a", .integer(3))], limits: Limits())
        #expect(
            changes == [
                Change(key: "a", old: .integer(1), new: .integer(3)), Change(key: "b", old: nil, new: .integer(1)),
            ])
    }

    @Test func editsApplyInOrderToWhatTheOnesBeforeLeft() throws {
        let increment = Edit(key: "n", operation: .increment, value: .integer(1))
        let toggle = Edit(key: "t", operation: .toggle, value: nil)
        let state = Sample.state(["n": .integer(40), "t": .boolean(true)])
        let changes = try state.changes(for: [increment, toggle, increment, toggle], limits: Limits())
        #expect(changes == [Change(key: "n", old: .integer(40), new: .integer(42))])
        let again = try state.changes(for: [.remove("n"), increment], limits: Limits())
        #expect(again == [Change(key: "n", old: .integer(40), new: .integer(1))])
    }

    @Test func r45EqualValueGivesNoChange() throws {
        let state = Sample.state(["a": .integer(1)])
        #expect(try state.changes(for: [.set("a", .integer(1))], limits: Limits()).isEmpty)
        #expect(try state.changes(for: [.set("a", .integer(2)), .set("a", .integer(1))], limits: Limits()).isEmpty)
        #expect(try state.changes(for: [.set("b", .integer(2)), .remove("b")], limits: Limits()).isEmpty)
        #expect(try state.changes(for: [.remove("b")], limits: Limits()).isEmpty)
        #expect(try state.changes(for: [], limits: Limits()).isEmpty)
    }

    @Test func r69ComposedAndDecomposedKeysAreEditedApart() throws {
        var state = Sample.state()
        try state.write([.set("caf\u{E9}", .integer(1)), .set("cafe\u{301}", .integer(2))])
        #expect(state.count == 2)
        #expect(state["caf\u{E9}"] == .integer(1))
        #expect(state["cafe\u{301}"] == .integer(2))
        #expect(state.values(matching: KeyFilter(["cafe\u{301}"])) == ["cafe\u{301}": .integer(2)])
    }

    @Test func anErrorInTheThirdEditChangesNothing() throws {
        var state = Sample.state(["a": .integer(1), "s": .string("x")])
        let edits = [
            Edit.set("a", .integer(2)), .remove("a"), Edit(key: "s", operation: .toggle, value: nil),
            .set("b", .real(1)),
        ]
        #expect(throws: GroupError.wrongType(key: "s", expected: "boolean", found: "string")) { try state.write(edits) }
        #expect(state.values == ["a": .integer(1), "s": .string("x")])
        #expect(state.revision == 0)
    }

    @Test(arguments: [
        Value.string("a\u{0}b"), .string("\u{1B}"), .array([.string("\u{1}")]), .dictionary(["\u{2}": .integer(1)]),
        .dictionary(["a": .array([.string("\u{FFFF}")])]),
    ])
    func whatXMLCannotCarryIsRefused(value: Value) {
        for others in [[], [Edit.set("b", .integer(1))]] {
            let error = #expect(throws: GroupError.self) {
                try Sample.state().changes(for: [.set("a", value)] + others, limits: Limits())
            }
            guard case .invalidValue("a", _) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func keysAreValidatedInEveryEdit() {
        let long = Key(String(repeating: "k", count: 1025))
        for edits in [[Edit.remove(long)], [.set("a", .integer(1)), .remove(long)], [.set("a\u{1}", .integer(1))]] {
            let error = #expect(throws: GroupError.self) { try Sample.state().changes(for: edits, limits: Limits()) }
            guard case .invalidKey = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }

    @Test func nestingIsTakenUpToTheLimit() throws {
        func nested(_ depth: Int) -> Value {
            (0..<depth).reduce(.integer(1)) { inner, _ in .array([inner]) }
        }
        _ = try Sample.state().changes(for: [.set("a", nested(Value.depthLimit))], limits: Limits())
        let error = #expect(throws: GroupError.self) {
            try Sample.state().changes(for: [.set("a", nested(Value.depthLimit + 1))], limits: Limits())
        }
        guard case .invalidValue = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}

@Suite struct CompareAndSetTests {
    @Test func aKeyThatChangedLaterIsAConflict() throws {
        var state = Sample.state()
        try state.write([.set("a", .integer(1))])
        try state.write([.set("b", .integer(1))])
        try state.write([.set("a", .integer(2))])
        #expect(throws: GroupError.conflict(keys: ["a"], revision: 3)) {
            try state.changes(
                for: [.set("b", .integer(2)), .set("a", .integer(3))], unchangedSince: 2, limits: Limits())
        }
        try state.write([.set("b", .integer(2))], unchangedSince: 2)
        try state.write([.set("a", .integer(3))], unchangedSince: 3)
        #expect(state.revision == 5)
    }

    @Test func aConflictNamesEachKeyOnce() throws {
        var state = Sample.state()
        try state.write([.set("a", .integer(1)), .set("b", .integer(1))])
        let edits = [Edit.set("b", .integer(2)), .set("a", .integer(3)), .remove("b")]
        #expect(throws: GroupError.conflict(keys: ["b", "a"], revision: 1)) {
            try state.changes(for: edits, unchangedSince: 0, limits: Limits())
        }
    }

    @Test func aConflictComesEvenWhereNothingWouldChange() throws {
        var state = Sample.state()
        try state.write([.set("a", .integer(1))])
        #expect(throws: GroupError.conflict(keys: ["a"], revision: 1)) {
            try state.changes(for: [.set("a", .integer(1))], unchangedSince: 0, limits: Limits())
        }
    }

    @Test func aRemovedKeyHasChanged() throws {
        var state = Sample.state(["a": .integer(1)], revision: 5)
        try state.write([.remove("a")])
        #expect(throws: GroupError.conflict(keys: ["a"], revision: 6)) {
            try state.changes(for: [.set("a", .integer(2))], unchangedSince: 5, limits: Limits())
        }
        try state.write([.set("a", .integer(2))], unchangedSince: 6)
    }

    @Test func aKeyThatNeverWasIsUnchanged() throws {
        var state = Sample.state()
        try state.write([.set("a", .integer(1))])
        try state.write([.set("b", .integer(1))], unchangedSince: 0)
    }

    @Test func forgottenRemovalsCountAsChanges() throws {
        var state = Sample.state()
        try state.write([.set("a", .integer(1))])
        try state.write([.remove("a")])
        try state.write([.set("b", .integer(1))])
        try state.write([.remove("b")])
        #expect(state.changed(["a"], since: 2).isEmpty)
        state.forgetRemovals(upTo: 3)
        #expect(state.changed(["a", "b", "never"], since: 2) == ["a", "b", "never"])
        #expect(state.changed(["a", "b", "never"], since: 3) == ["b"])
        #expect(state.changed(["a", "b", "never"], since: 4).isEmpty)
    }

    @Test func aGroupReadFromASnapshotKnowsNothingBeforeIt() {
        let state = Sample.state(["a": .integer(1)], revision: 7)
        #expect(state.changed(["a", "b"], since: 6) == ["a", "b"])
        #expect(state.changed(["a", "b"], since: 7).isEmpty)
        #expect(state.changed(["a", "b"], since: .max).isEmpty)
        #expect(state.changed(["a"], since: .min) == ["a"])
    }
}

@Suite struct LimitTests {
    private func limits(value: Int = 1 << 20, group: Int = 4 << 20, keys: Int = 1_000_000) -> Limits {
        var limits = Limits()
        limits.valueSize = value
        limits.groupSize = group
        limits.keysPerGroup = keys
        return limits
    }

    private func subject(_ state: GroupState, _ edits: [Edit], _ limits: Limits) -> String? {
        do throws(GroupError) {
            _ = try state.changes(for: edits, limits: limits)
            return nil
        } catch {
            guard case .tooLarge(let subject, let limit, let size) = error else { return "\(error)" }
            #expect(size > limit)
            return subject
        }
    }

    @Test(arguments: [[], [Edit.set("other", .boolean(true))]])
    func valueSize(others: [Edit]) {
        let limits = limits(value: 10)
        let state = Sample.state(["list": .array([.integer(1)])])
        #expect(subject(state, [.set("a", .string("123456789"))] + others, limits) == nil)
        #expect(subject(state, [.set("a", .string("1234567890"))] + others, limits) == "value of a")
        let append = Edit(key: "list", operation: .append, value: .boolean(true))
        #expect(subject(state, [append] + others, limits) == "value of list")
        // It is there already: nothing changes, nothing is refused.
        let large = Sample.state(["a": .string("1234567890")])
        #expect(subject(large, [.set("a", .string("1234567890"))] + others, limits) == nil)
        #expect(subject(large, [.remove("a")] + others, limits) == nil)
    }

    @Test func groupSize() {
        let limits = limits(group: 18)
        #expect(subject(Sample.state(), [.set("a", .integer(1)), .set("b", .integer(1))], limits) == nil)
        let full = Sample.state(["a": .integer(1), "b": .integer(1)])
        #expect(full.size == 18)
        #expect(subject(full, [.set("c", .boolean(true))], limits) == "group group.test")
        #expect(subject(full, [.set("a", .integer(2))], limits) == nil)
        #expect(subject(full, [.set("c", .integer(1)), .remove("a")], limits) == nil)
    }

    @Test func aGroupAboveItsCapMayShrink() {
        let limits = limits(group: 5, keys: 1)
        let over = Sample.state(["a": .integer(1), "b": .integer(1), "c": .integer(1)])
        #expect(subject(over, [.remove("a")], limits) == nil)
        #expect(subject(over, [.set("a", .boolean(true))], limits) == nil)
        #expect(subject(over, [.set("a", .integer(5))], limits) == nil)
        #expect(subject(over, [.set("a", .string("123456789"))], limits) == "group group.test")
        #expect(subject(over, [.remove("a"), .set("d", .boolean(true))], limits) == nil)
        #expect(
            subject(over, [.set("a", .boolean(true)), .set("d", .boolean(true))], limits) == "keys of group group.test")
    }

    @Test func keys() {
        let limits = limits(keys: 2)
        let full = Sample.state(["a": .integer(1), "b": .integer(1)])
        #expect(subject(full, [.set("c", .integer(1))], limits) == "keys of group group.test")
        #expect(subject(full, [.set("c", .integer(1)), .remove("a")], limits) == nil)
        #expect(subject(Sample.state(), [.set("c", .integer(1)), .set("d", .integer(1))], limits) == nil)
    }

    @Test func aValueThatNoMessageHasRoomForIsTooLarge() throws {
        let state = Sample.state()
        var limits = Limits()
        limits.valueSize = 2 << 20
        // A line feed is one byte for the caps, and six in a message.
        let value = Value.string(String(repeating: "\n", count: 1_500_000))
        for source: Origin.Kind in [.client, .file] {
            let error = #expect(throws: GroupError.self) {
                try state.changes(for: [.set("k", value)], from: source, limits: limits)
            }
            guard case .tooLarge(_, Int64(Limits.valueMessageSize), let size)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            #expect(size > Limits.valueMessageSize)
        }
    }
}
