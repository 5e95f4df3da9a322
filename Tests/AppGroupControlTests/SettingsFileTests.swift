import AppGroupControl
import GroupModel
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Files of settings")
struct SettingsFileTests {
    @Test("thousands of random groups come back exactly in every format", arguments: SettingsFile.Format.allCases)
    func roundTrip(_ format: SettingsFile.Format) throws {
        try SplitMix64.withSeed { random in
            for _ in 0..<1000 {
                let entries = Self.randomEntries(&random)
                let file = SettingsFile(format: format, entries: entries)
                let read = try SettingsFile(parsing: file.encoded, from: "file")
                #expect(read.format == format)
                // What XML cannot hold, and nothing else, is missing.
                #expect(read.entries == entries.mapValues { format.plist.projected($0) })
                #expect(file.lossCount == entries.filter { read.entries[$0.key] != $0.value }.count)
                #expect(
                    Plan(from: entries, to: read.entries, removesOthers: true, format: format.plist).isEmpty)
            }
        }
    }

    static func randomEntries(_ random: inout SplitMix64) -> [Key: Value] {
        let pairs = (0..<Int.random(in: 0..<8, using: &random)).map { number in
            (Key("\(number) " + text(&random)), carried(RenderingTests.randomValue(&random, depth: 3)))
        }
        return Dictionary(pairs) { $1 }
    }

    private static func text(_ random: inout SplitMix64) -> String {
        ["date", "", "é", "e\u{301}", "a\"b", "x/y.z", "\u{1F600}", "\r\n\t"].randomElement(using: &random) ?? ""
    }

    /// Without the control characters that no setting can have.
    private static func carried(_ value: Value) -> Value {
        switch value {
        case .string(let text): .string(text.replacing("\u{1}", with: "\r"))
        case .array(let elements): .array(elements.map(carried))
        case .dictionary(let entries):
            .dictionary(
                Dictionary(
                    entries.map { (Key($0.key.string.replacing("\u{1}", with: "\t")), carried($0.value)) },
                    uniquingKeysWith: { $1 }))
        default: value
        }
    }

    @Test("JSON has a line a key, sorted")
    func json() throws {
        let file = SettingsFile(
            format: .json, entries: ["b": .array([.integer(1), .real(1)]), "a\"": .data([0]), "": .boolean(true)])
        #expect(
            String(decoding: try file.encoded, as: UTF8.self) == """
                {
                  "": true,
                  "a\\"": {"data":"AA=="},
                  "b": [1,1.0]
                }

                """)
        #expect(try SettingsFile(format: .json, entries: [:]).encoded == Array("{}\n".utf8))
    }

    static let refused: [(String, String)] = [
        ("", "FILE is empty"),
        (" \n", "FILE is empty"),
        ("hello", "FILE is neither a property list (XML or binary) nor JSON"),
        ("[1]", "FILE holds no JSON object"),
        (#"{"a": null}"#, #"FILE: "a" cannot be a value: a property list has no null"#),
        (#"{"a": {"b": [1, null]}}"#, #"FILE: "a" → "b" → 1 cannot be a value: a property list has no null"#),
        (
            #"{"a": {"date": "yesterday"}}"#,
            #"FILE: "a" cannot be a value: {"date": …} takes a text such as "2026-11-30T09:00:00Z""#
        ),
        (
            #"{"a": {"number": "12e3"}}"#,
            #"FILE: "a" cannot be a value: {"number": …} takes "18446744073709551615", "nan", "+infinity" or "-infinity""#
        ),
        (
            "<plist><array/></plist>",
            "FILE is no property list: line 1, column 8: the property list holds a <array>, not a <dict>"
        ),
    ]

    @Test("what is no such file is refused with the reason", arguments: refused)
    func refuses(_ text: String, _ message: String) {
        let failure = #expect(throws: Failure.self) { try SettingsFile(parsing: Array(text.utf8), from: "FILE") }
        #expect(failure?.message == message)
        #expect(failure?.status == .refused)
    }
}

@Suite("Plans")
struct PlanTests {
    static let present: [Key: Value] = [
        "same": .integer(1), "changed": .integer(1), "gone": .boolean(true),
        "fraction": .date(Timestamp(microseconds: 1_500_000)),
    ]
    static let wanted: [Key: Value] = [
        "same": .integer(1), "changed": .real(1), "new": .string("x"),
        "fraction": .date(Timestamp(microseconds: 1_000_000)),
    ]

    @Test("only what differs, sorted; others go only where it is asked for")
    func lines() {
        let plan = Plan(from: Self.present, to: Self.wanted, removesOthers: true, format: .xml)
        #expect(plan.lines == ["changed: 1 → 1.0", "gone: true → absent", #"new: absent → "x""#])
        #expect(plan.summary == "2 keys set, 1 removed")
        #expect(plan.edits == [.set("changed", .real(1)), .remove("gone"), .set("new", .string("x"))])
        let kept = Plan(from: Self.present, to: Self.wanted, removesOthers: false)
        #expect(
            kept.lines == [
                "changed: 1 → 1.0", "fraction: date(1970-01-01T00:00:01.500000Z) → date(1970-01-01T00:00:01Z)",
                #"new: absent → "x""#,
            ])
        #expect(kept.without(["new", "fraction"]).edits == [.set("changed", .real(1))])
    }
}

@Suite("Taking back")
struct UndoingTests {
    static func commit(_ revision: Int64, by client: String = "a", _ changes: Change...) throws -> Commit {
        Commit(
            group: try GroupIdentifier("group.a"), revision: revision, time: Timestamp(microseconds: revision),
            origin: Origin(kind: .client, client: client), changes: changes)
    }

    private static func integer(_ number: Int?) -> Value? { number.map { .integer(Int64($0)) } }

    private static func change(_ key: Key, _ old: Int?, _ new: Int?) -> Change {
        Change(key: key, old: integer(old), new: integer(new))
    }

    @Test("one revision: changed, made and removed keys go back")
    func one() throws {
        let commits = [
            try Self.commit(2, Self.change("a", 1, 2), Self.change("b", nil, 5), Self.change("c", 7, nil))
        ]
        let undoing = Undoing(commits) { $0.revision == 2 }
        #expect(undoing.plan.lines == ["a: 2 → 1", "b: 5 → absent", "c: absent → 7"])
        #expect(undoing.conflicts.isEmpty)
    }

    @Test("a later change of the same key is a conflict, with the newest; of another key it is none")
    func conflict() throws {
        let commits = [
            try Self.commit(5, Self.change("other", nil, 1)), try Self.commit(4, Self.change("a", 3, 4)),
            try Self.commit(3, Self.change("a", 2, 3)),
            try Self.commit(2, Self.change("a", 1, 2), Self.change("b", 1, 2)),
        ]
        let undoing = Undoing(commits) { $0.revision == 2 }
        #expect(undoing.conflicts.map(\.key) == ["a"])
        #expect(undoing.conflicts.map(\.revision) == [4])
    }

    @Test("several: back to before the newest unbroken run")
    func run() throws {
        let commits = [
            try Self.commit(4, Self.change("a", 3, 4)), try Self.commit(3, Self.change("a", 2, 3)),
            try Self.commit(2, by: "b", Self.change("a", 1, 2)), try Self.commit(1, Self.change("a", nil, 1)),
        ]
        #expect(Undoing(commits) { $0.origin.client == "a" }.plan.lines == ["a: 4 → 2"])
        #expect(Undoing(commits) { $0.revision >= 2 }.plan.lines == ["a: 4 → 1"])
        #expect(Undoing(commits) { _ in true }.plan.lines == ["a: 4 → absent"])
        #expect(Undoing(commits) { $0.origin.client == "b" }.conflicts.map(\.revision) == [4])
    }

    @Test("random histories: undoing all after a point gives the state at that point")
    func random() throws {
        try SplitMix64.withSeed { random in
            for _ in 0..<300 {
                var states: [[Key: Value]] = [[:]]
                var commits: [Commit] = []
                for revision in 1...Int64.random(in: 1...20, using: &random) {
                    var state = states[states.count - 1]
                    let key = Key(["a", "b", "c"].randomElement(using: &random) ?? "a")
                    let old = state[key]
                    state[key] = Bool.random(using: &random) ? .integer(revision) : nil
                    guard old != state[key] else { break }
                    states.append(state)
                    commits.insert(
                        try Self.commit(revision, Change(key: key, old: old, new: state[key])), at: 0)
                }
                let point = Int.random(in: 0..<states.count, using: &random)
                var state = states[states.count - 1]
                for edit in Undoing(commits, choosing: { $0.revision > point }).plan.edits {
                    state[edit.key] = edit.value
                }
                #expect(state == states[point])
            }
        }
    }
}
