import GroupCore
import GroupModel
import PropertyList
import Testing

/// What one edit of one key does to the value that is there.
struct EditCase: Sendable, CustomTestStringConvertible {
    enum Outcome: Equatable, Sendable {
        case becomes(Value)
        case goes
        case same
        case wrongType(expected: String, found: String)
        case invalidValue
    }

    var current: Value?
    var operation: Edit.Operation
    var operand: Value?
    var outcome: Outcome

    init(_ current: Value?, _ operation: Edit.Operation, _ operand: Value?, _ outcome: Outcome) {
        self.current = current
        self.operation = operation
        self.operand = operand
        self.outcome = outcome
    }

    var testDescription: String {
        "\(operation) \(String(describing: operand)) on \(String(describing: current))"
    }
}

@Suite struct EditTests {
    private func outcome(_ entry: EditCase, among others: [Edit]) -> EditCase.Outcome {
        let key: Key = "k"
        let state = Sample.state(entry.current.map { [key: $0] } ?? [:])
        let edits = [Edit(key: key, operation: entry.operation, value: entry.operand)] + others
        do throws(GroupError) {
            let changes = try state.changes(for: edits, limits: Limits())
            guard let change = changes.first(where: { $0.key == key }) else { return .same }
            #expect(change.old == entry.current)
            #expect(change.old != change.new)
            return change.new.map(EditCase.Outcome.becomes) ?? .goes
        } catch {
            switch error {
            case .wrongType("k", let expected, let found): return .wrongType(expected: expected, found: found)
            case .invalidValue("k", _): return .invalidValue
            default:
                Issue.record("\(error)")
                return .same
            }
        }
    }

    private func check(_ entry: EditCase) {
        #expect(outcome(entry, among: []) == entry.outcome)
        // Several edits take another way through the code.
        #expect(outcome(entry, among: [.set("other", .integer(1))]) == entry.outcome)
    }

    @Test(arguments: [
        EditCase(nil, .set, .integer(1), .becomes(.integer(1))),
        EditCase(.integer(1), .set, .integer(1), .same),
        EditCase(.integer(1), .set, .real(1), .becomes(.real(1))),
        EditCase(.integer(1), .set, .boolean(true), .becomes(.boolean(true))),
        EditCase(.real(0), .set, .real(-0.0), .becomes(.real(-0.0))),
        EditCase(.real(.nan), .set, .real(-.nan), .same),
        EditCase(.string("\u{E9}"), .set, .string("e\u{301}"), .becomes(.string("e\u{301}"))),
        EditCase(.array([]), .set, .dictionary([:]), .becomes(.dictionary([:]))),
        EditCase(nil, .set, nil, .invalidValue),
        EditCase(.integer(1), .set, nil, .invalidValue),
        EditCase(nil, .remove, nil, .same),
        EditCase(.integer(1), .remove, nil, .goes),
        EditCase(.array([]), .remove, nil, .goes),
        EditCase(.integer(1), .remove, .integer(1), .invalidValue),
        EditCase(nil, .remove, .integer(1), .invalidValue),
    ])
    func setAndRemove(entry: EditCase) { check(entry) }

    @Test(arguments: [
        EditCase(nil, .append, .integer(1), .becomes(.array([.integer(1)]))),
        EditCase(.array([]), .append, .integer(1), .becomes(.array([.integer(1)]))),
        EditCase(.array([.integer(1)]), .append, .integer(1), .becomes(.array([.integer(1), .integer(1)]))),
        EditCase(.array([]), .append, .array([.integer(1)]), .becomes(.array([.array([.integer(1)])]))),
        EditCase(.string("a"), .append, .string("b"), .wrongType(expected: "array", found: "string")),
        EditCase(.dictionary([:]), .append, .string("b"), .wrongType(expected: "array", found: "dictionary")),
        EditCase(.data([]), .append, .data([]), .wrongType(expected: "array", found: "data")),
        EditCase(nil, .append, nil, .invalidValue),
        EditCase(.array([]), .append, nil, .invalidValue),
    ])
    func append(entry: EditCase) { check(entry) }

    @Test(arguments: [
        EditCase(nil, .merge, .dictionary(["a": .integer(1)]), .becomes(.dictionary(["a": .integer(1)]))),
        EditCase(nil, .merge, .dictionary([:]), .becomes(.dictionary([:]))),
        EditCase(.dictionary([:]), .merge, .dictionary([:]), .same),
        EditCase(
            .dictionary(["a": .integer(1), "b": .integer(2)]), .merge,
            .dictionary(["b": .integer(3), "c": .integer(4)]),
            .becomes(.dictionary(["a": .integer(1), "b": .integer(3), "c": .integer(4)]))),
        EditCase(.dictionary(["a": .integer(1)]), .merge, .dictionary(["a": .integer(1)]), .same),
        // The entries are put in; dictionaries within are replaced.
        EditCase(
            .dictionary(["a": .dictionary(["x": .integer(1)])]), .merge, .dictionary(["a": .dictionary([:])]),
            .becomes(.dictionary(["a": .dictionary([:])]))),
        EditCase(
            .dictionary(["\u{E9}": .integer(1)]), .merge, .dictionary(["e\u{301}": .integer(2)]),
            .becomes(.dictionary(["\u{E9}": .integer(1), "e\u{301}": .integer(2)]))),
        EditCase(.array([]), .merge, .dictionary([:]), .wrongType(expected: "dictionary", found: "array")),
        EditCase(.integer(1), .merge, .dictionary([:]), .wrongType(expected: "dictionary", found: "integer")),
        EditCase(nil, .merge, nil, .invalidValue),
        EditCase(nil, .merge, .integer(1), .invalidValue),
        EditCase(.dictionary([:]), .merge, .array([]), .invalidValue),
    ])
    func merge(entry: EditCase) { check(entry) }

    @Test func `a merge says what the key gets where it holds no dictionary`() throws {
        let edit = Edit(
            key: "k", operation: .merge, value: .dictionary(["a": .integer(1)]),
            otherwise: .dictionary(["a": .integer(1), "b": .integer(2)]))
        let held = Value.dictionary(["a": .integer(0), "c": .integer(3)])
        #expect(try edit.evaluated(on: held) == .dictionary(["a": .integer(1), "c": .integer(3)]))
        #expect(try edit.evaluated(on: nil) == edit.otherwise)
        #expect(try edit.evaluated(on: .string("text")) == edit.otherwise)
        for operation in Edit.Operation.allCases where operation != .merge {
            let edit = Edit(key: "k", operation: operation, value: .integer(1), otherwise: .integer(2))
            #expect(throws: GroupError.self) { try edit.evaluated(on: .integer(1)) }
        }
        let state = Sample.state([:])
        let bad = Edit(key: "k", operation: .merge, value: .dictionary([:]), otherwise: .string("\u{0}"))
        #expect(throws: GroupError.self) { try state.changes(for: [bad], limits: Limits()) }
        #expect(throws: GroupError.self) {
            try state.changes(for: [.set("k", .dictionary([:])), bad], limits: Limits())
        }
    }

    @Test(arguments: [
        EditCase(nil, .toggle, nil, .becomes(.boolean(true))),
        EditCase(.boolean(true), .toggle, nil, .becomes(.boolean(false))),
        EditCase(.boolean(false), .toggle, nil, .becomes(.boolean(true))),
        EditCase(.integer(0), .toggle, nil, .wrongType(expected: "boolean", found: "integer")),
        EditCase(.string("YES"), .toggle, nil, .wrongType(expected: "boolean", found: "string")),
        EditCase(.boolean(true), .toggle, .boolean(true), .invalidValue),
        EditCase(nil, .toggle, .integer(1), .invalidValue),
    ])
    func toggle(entry: EditCase) { check(entry) }

    private static let aboveInt64 = Value.unsignedInteger(UInt64(Int64.max) + 1)

    @Test(arguments: [
        EditCase(nil, .increment, .integer(5), .becomes(.integer(5))),
        EditCase(nil, .increment, .integer(0), .becomes(.integer(0))),
        EditCase(nil, .increment, .real(0.5), .becomes(.real(0.5))),
        EditCase(nil, .increment, .unsignedInteger(.max), .becomes(.unsignedInteger(.max))),
        EditCase(.integer(1), .increment, .integer(0), .same),
        EditCase(.integer(1), .increment, .integer(2), .becomes(.integer(3))),
        EditCase(.integer(1), .increment, .integer(-2), .becomes(.integer(-1))),
        EditCase(.integer(.max), .increment, .integer(1), .becomes(aboveInt64)),
        EditCase(aboveInt64, .increment, .integer(-1), .becomes(.integer(.max))),
        EditCase(.integer(.max), .increment, .integer(.max), .becomes(.unsignedInteger(.max - 1))),
        EditCase(.unsignedInteger(.max - 1), .increment, .integer(1), .becomes(.unsignedInteger(.max))),
        EditCase(.unsignedInteger(.max), .increment, .integer(0), .same),
        EditCase(.unsignedInteger(.max), .increment, .integer(1), .invalidValue),
        EditCase(.unsignedInteger(.max), .increment, .unsignedInteger(.max), .invalidValue),
        EditCase(.unsignedInteger(.max), .increment, .integer(.min), .becomes(.integer(.max))),
        EditCase(.integer(-1), .increment, .unsignedInteger(.max), .becomes(.unsignedInteger(.max - 1))),
        EditCase(.integer(.min), .increment, .unsignedInteger(.max), .becomes(.integer(.max))),
        EditCase(.integer(.min), .increment, .integer(-1), .invalidValue),
        EditCase(.integer(.min), .increment, .integer(.min), .invalidValue),
        EditCase(.integer(.min), .increment, .integer(.max), .becomes(.integer(-1))),
        EditCase(.integer(.min + 1), .increment, .integer(-1), .becomes(.integer(.min))),
    ])
    func incrementIsExactOverInt64AndUInt64(entry: EditCase) { check(entry) }

    @Test(arguments: [
        EditCase(.real(0.5), .increment, .real(0.25), .becomes(.real(0.75))),
        EditCase(.real(0.5), .increment, .integer(1), .becomes(.real(1.5))),
        EditCase(.integer(1), .increment, .real(0.5), .becomes(.real(1.5))),
        EditCase(.integer(1), .increment, .real(0), .becomes(.real(1))),
        EditCase(.real(1), .increment, .integer(0), .same),
        // 2⁵³ is a Double, 2⁵³ + 1 is none: it is not silently rounded.
        EditCase(.integer(9_007_199_254_740_992), .increment, .real(0), .becomes(.real(9_007_199_254_740_992))),
        EditCase(.integer(9_007_199_254_740_993), .increment, .real(0), .invalidValue),
        EditCase(.real(0), .increment, .integer(.max), .invalidValue),
        EditCase(.real(0), .increment, .integer(.min), .becomes(.real(-9_223_372_036_854_775_808))),
        EditCase(.real(0), .increment, .unsignedInteger(.max), .invalidValue),
        EditCase(.real(.infinity), .increment, .integer(1), .same),
        EditCase(.real(.nan), .increment, .real(1), .same),
    ])
    func incrementOfReals(entry: EditCase) { check(entry) }

    @Test(arguments: [
        EditCase(.boolean(true), .increment, .integer(1), .wrongType(expected: "number", found: "boolean")),
        EditCase(.string("1"), .increment, .integer(1), .wrongType(expected: "number", found: "string")),
        EditCase(
            .date(Timestamp(microseconds: 0)), .increment, .integer(1), .wrongType(expected: "number", found: "date")),
        EditCase(.array([]), .increment, .real(1), .wrongType(expected: "number", found: "array")),
        EditCase(nil, .increment, nil, .invalidValue),
        EditCase(.integer(1), .increment, nil, .invalidValue),
        EditCase(.integer(1), .increment, .boolean(true), .invalidValue),
        EditCase(nil, .increment, .string("1"), .invalidValue),
        EditCase(nil, .increment, .array([.integer(1)]), .invalidValue),
    ])
    func incrementTakesNumbersOnly(entry: EditCase) { check(entry) }
}
