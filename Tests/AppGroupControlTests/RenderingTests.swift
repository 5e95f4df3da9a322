import AppGroupControl
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Values printed")
struct RenderingTests {
    static let date = Timestamp(microseconds: 1_796_029_200_250_000)

    /// The value, as text in one line, and as JSON.
    static let values: [(Value, String, String)] = [
        (.string("text"), #""text""#, #""text""#),
        (.string(""), #""""#, #""""#),
        (.string("a\"b\\c\n\t\r"), #""a\"b\\c\n\t\r""#, #""a\"b\\c\u000a\u0009\u000d""#),
        (.string("Grüße 👩‍👩‍👧"), "\"Grüße 👩‍👩‍👧\"", "\"Grüße 👩‍👩‍👧\""),
        (.string("\u{1B}[31m\u{202E}"), #""\u{1b}[31m\u{202e}""#, "\"\\u001b[31m\u{202E}\""),
        (.integer(42), "42", "42"),
        (.integer(.min), "-9223372036854775808", "-9223372036854775808"),
        (.unsignedInteger(.max), "18446744073709551615", #"{"number":"18446744073709551615"}"#),
        (.real(1), "1.0", "1.0"),
        (.real(-0.0), "-0.0", "-0.0"),
        (.real(0.1), "0.1", "0.1"),
        (.real(1e300), "1e+300", "1e+300"),
        (.real(.nan), "nan", #"{"number":"nan"}"#),
        (.real(.infinity), "+infinity", #"{"number":"+infinity"}"#),
        (.real(-.infinity), "-infinity", #"{"number":"-infinity"}"#),
        (.boolean(true), "true", "true"),
        (.boolean(false), "false", "false"),
        (.date(date), "date(2026-11-30T09:00:00.250000Z)", #"{"date":"2026-11-30T09:00:00.250000Z"}"#),
        (.data([]), "data()", #"{"data":""}"#),
        (.data(Array("hello".utf8)), "data(aGVsbG8=)", #"{"data":"aGVsbG8="}"#),
        (.array([]), "[]", "[]"),
        (.array([.integer(1), .string("1"), .real(1), .boolean(true)]), #"[1, "1", 1.0, true]"#, #"[1,"1",1.0,true]"#),
        (.dictionary([:]), "{}", "{}"),
        (
            .dictionary(["b": .integer(2), "a c": .array([.dictionary([:])])]), #"{ "a c" = [{}], b = 2 }"#,
            #"{"a c":[{}],"b":2}"#
        ),
        // Unmistakable: a dictionary that looks like one of our objects.
        (
            .dictionary(["date": .string("x")]), #"{ date = "x" }"#, #"{"dictionary":{"date":"x"}}"#
        ),
        (
            .dictionary(["dictionary": .integer(1)]), #"{ dictionary = 1 }"#, #"{"dictionary":{"dictionary":1}}"#
        ),
        (.dictionary(["date": .integer(1), "data": .integer(2)]), "{ data = 2, date = 1 }", #"{"data":2,"date":1}"#),
    ]

    @Test("as text, each type looks different", arguments: values)
    func text(_ value: Value, _ text: String, _ json: String) {
        #expect(TextRendering.inline(value) == text)
    }

    @Test("as JSON", arguments: values)
    func json(_ value: Value, _ text: String, _ json: String) {
        #expect(JSONRendering.json(value).description == json)
    }

    @Test("JSON loses nothing", arguments: [UInt64](0..<200))
    func jsonIsLossless(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let value = Self.randomValue(&random, depth: 3)
        let text = JSONRendering.json(value).description
        #expect(try JSONReading.value(JSON(parsing: text)) == value, "seed \(seed): \(text)")
    }

    @Test("what is printed is read again, in one line and over several", arguments: [UInt64](0..<200))
    func notationIsLossless(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let value = Self.randomValue(&random, depth: 4)
        for text in [TextRendering.inline(value), TextRendering.block(value)] {
            #expect(try NotationReading.value(text) == value, "seed \(seed): \(text)")
        }
    }

    static let badNotations: [(String, Int, Int, String)] = [
        ("", 1, 1, #"a value such as "text", 42, 1.0, true, date(…), data(…), […] or {…}"#),
        ("1 2", 1, 3, "nothing after the value"), ("[1 2]", 1, 4, "a comma or ]"), ("[1,", 1, 4, "]"),
        ("{ a 1 }", 1, 5, "= after the key"), ("{ a = 1, a = 2 }", 1, 10, "a key that was not there before"),
        ("{ = 1 }", 1, 3, "a key"),
        ("{\n  a = x\n}", 2, 7, #"a value such as "text", 42, 1.0, true, date(…), data(…), […] or {…}"#),
        (#""a"#, 1, 3, #"" at the end of the text"#), (#""a\q""#, 1, 3, #"\", \\, \n, \r, \t or \u{…}"#),
        (#""\u{110000}""#, 1, 2, #"\", \\, \n, \r, \t or \u{…}"#), ("data(A)", 1, 6, "base64 with padding"),
        ("date(2026", 1, 10, ")"),
        ("text", 1, 1, #"a value such as "text", 42, 1.0, true, date(…), data(…), […] or {…}"#),
        (String(repeating: "[", count: 70), 1, 65, "no more than 64 levels"),
    ]

    @Test("what is no value is told with its place", arguments: badNotations)
    func badNotation(_ text: String, _ line: Int, _ column: Int, _ expected: String) {
        #expect(throws: NotationReading.Problem(line: line, column: column, expected: expected)) {
            try NotationReading.value(text)
        }
    }

    @Test("texts are measured in the columns of a terminal")
    func width() {
        #expect(["", "abc", "Grüße", "e\u{301}", "設定", "🎨"].map(\.displayWidth) == [0, 3, 5, 1, 4, 2])
        let table = Table(rows: [["設定", "1"], ["ab", "22"], ["c", "333"]], rightAligned: [1])
        #expect(table.lines(isPlain: false) == ["設定    1", "ab     22", "c     333"])
        #expect(table.lines(isPlain: true) == ["設定\t1", "ab\t22", "c\t333"])
    }

    @Test("a bar tells how far long work has come, on a terminal, and is gone in the end")
    func progress() {
        final class Screen { var text = "" }
        let screen = Screen()
        for isTerminal in [true, false] {
            let console = Console(showsProgress: isTerminal) { _, bytes in
                screen.text += String(decoding: bytes, as: UTF8.self)
                return nil
            }
            var time: Int64 = 0
            let progress = Progress("saving", of: 4, console) { time }
            for _ in 0..<4 {
                progress.advance()
                time += 200_000
            }
            progress.clear()
        }
        #expect(
            screen.text == "\rsaving [######################        ]  75%  3 of 4"
                + "\rsaving [##############################] 100%  4 of 4\r\u{1B}[K")
    }

    static let keys: [(Key, String)] = [
        ("theme", "theme"), ("ui.font-size_2", "ui.font-size_2"), ("", #""""#), ("a b", #""a b""#), ("@x", #""@x""#),
        ("ключ", #""ключ""#), ("a=b", #""a=b""#), ("a\nb", #""a\nb""#),
    ]

    @Test("keys are quoted where they could be mistaken", arguments: keys)
    func key(_ key: Key, _ text: String) {
        #expect(TextRendering.key(key) == text)
    }

    @Test("the value alone is bare")
    func bare() {
        #expect(TextRendering.bare(.string("a\nb")) == "a\nb")
        #expect(TextRendering.bare(.date(Self.date)) == "2026-11-30T09:00:00.250000Z")
        #expect(TextRendering.bare(.data([0])) == "AA==")
        #expect(TextRendering.bare(.array([.string("a")])) == #"["a"]"#)
    }

    @Test("what is too wide goes over several lines")
    func wide() {
        let long = Value.string(String(repeating: "x", count: 70))
        let value = Value.dictionary(["list": .array([long, .integer(1)]), "short": .array([.integer(1)])])
        #expect(
            TextRendering.entry("key", value) == """
                key = {
                    list = [
                        "\(String(repeating: "x", count: 70))",
                        1,
                    ]
                    short = [1]
                }
                """)
    }

    // MARK: - Random values

    static func randomValue(_ random: inout SplitMix64, depth: Int) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 10 : 8), using: &random) {
        case 0: .string(randomText(&random))
        case 1: .integer(Int64(bitPattern: random.next()))
        case 2: .unsigned(random.next())
        case 3: .real(Double(bitPattern: random.next()))
        case 4: .boolean(Bool.random(using: &random))
        case 5: .date(Timestamp(microseconds: Int64.random(in: 0..<4_000_000_000_000_000, using: &random)))
        case 6:
            .data((0..<Int.random(in: 0..<9, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) })
        case 7: .real([0, -0.0, 1, .nan, .infinity, -.infinity][Int.random(in: 0..<6, using: &random)])
        case 8: .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in randomValue(&random, depth: depth - 1) })
        default:
            .dictionary(
                Dictionary(
                    (0..<Int.random(in: 0..<4, using: &random)).map { _ in
                        (Key(randomText(&random)), randomValue(&random, depth: depth - 1))
                    }, uniquingKeysWith: { first, _ in first }))
        }
    }

    static func randomText(_ random: inout SplitMix64) -> String {
        let texts = ["date", "data", "number", "dictionary", "", "é", "e\u{301}", "a\"b", "\u{1}", "x"]
        return texts[Int.random(in: 0..<texts.count, using: &random)]
    }
}

@Suite("Changes printed")
struct ChangeRenderingTests {
    static func commit(_ origin: Origin) throws -> Commit {
        Commit(
            group: try GroupIdentifier("group.a"), revision: 12, time: Timestamp(microseconds: 1_796_029_200_000_001),
            origin: origin, changes: [])
    }

    static let full = Origin(kind: .client, client: "demo", processId: 123, unit: "demo.service", tag: "a b")

    static let lines: [(Change, Origin, Int64?, String)] = [
        (
            Change(key: "theme", old: .string("light"), new: .string("dark")),
            Origin(kind: .client, client: "demo", processId: 7),
            nil, #"theme: "light" → "dark"  (demo[7])"#
        ),
        (Change(key: "n", old: nil, new: .integer(1)), .file, nil, "n: absent → 1  (file)"),
        (Change(key: "n", old: .integer(1), new: nil), .file, 3, "n: 1 → absent  (file, stands for 3 revisions)"),
        (
            Change(key: "a b", old: .real(1), new: .boolean(true)), full, nil,
            #""a b": 1.0 → true  (demo[123] of demo.service "a b")"#
        ),
        (
            Change(key: "n", old: nil, new: .integer(1)), Origin(kind: .client, client: "\u{1B}[2J"), nil,
            #"n: absent → 1  ("\u{1b}[2J")"#
        ),
    ]

    @Test("one line a change", arguments: lines)
    func line(_ change: Change, _ origin: Origin, _ coalesced: Int64?, _ text: String) throws {
        let line = ChangeRendering.line(change, try Self.commit(origin), coalesced: coalesced)
        #expect(line == "2026-11-30T09:00:00.000001Z  r12  " + text)
    }

    @Test("colours only where they are asked for")
    func colours() throws {
        let change = Change(key: "n", old: nil, new: .integer(1))
        let line = ChangeRendering.line(change, try Self.commit(.file), usesColor: true)
        #expect(
            line == "\u{1B}[2m2026-11-30T09:00:00.000001Z\u{1B}[0m  r12  \u{1B}[1mn\u{1B}[0m: absent → 1  "
                + "\u{1B}[2m(file)\u{1B}[0m")
    }

    @Test("one object a change")
    func json() throws {
        let change = Change(key: "n", old: nil, new: .integer(1))
        #expect(
            ChangeRendering.json(change, try Self.commit(Self.full), coalesced: 2).description
                == #"{"group":"group.a","revision":12,"time":"2026-11-30T09:00:00.000001Z","origin":"#
                + #"{"kind":"client","client":"demo","processId":123,"unit":"demo.service","tag":"a b"},"#
                + #""key":"n","new":1,"coalesced":2}"#)
    }

    @Test("snapshots")
    func snapshots() throws {
        let position = Position(epoch: Epoch(high: 1, low: 2), revision: 3)
        let values: [Key: Value] = ["b": .integer(1), "a": .string("x")]
        #expect(
            ChangeRendering.lines(snapshot: values, at: position, reason: "initial")
                == ["snapshot at r3: 2 keys", #"  a = "x""#, "  b = 1"])
        #expect(
            ChangeRendering.lines(snapshot: [:], at: position, reason: "tooOld") == ["snapshot at r3 (tooOld): 0 keys"])
        #expect(
            ChangeRendering.json(snapshot: values, of: try GroupIdentifier("g"), at: position, reason: "initial")
                .description
                == #"{"group":"g","epoch":"00000000000000010000000000000002","revision":3,"reason":"initial","#
                + #""values":{"a":"x","b":1}}"#)
    }
}

@Suite("Status printed")
struct StatusRenderingTests {
    @Test("a table, then what is wrong")
    func table() throws {
        let damaged = Problem(
            reason: "a key without a value", path: "/x/group.long.name.plist", line: 4, column: 2,
            advice: "mend the file")
        let status = DaemonStatus(
            version: "0.1.0", uptime: 3725.5, durability: .process, clients: 1, watches: 2, commits: 1,
            groups: [
                try group("g", revision: 5, bytes: 2000, .clean),
                try group("group.long.name", revision: 12, bytes: 3, .damaged, damaged),
            ],
            problems: [Problem(reason: "no inotify watches left")], root: "/data/appgroups", state: "/state/appgroupd")
        #expect(
            StatusRendering.lines(status, isOneGroup: false).joined(separator: "\n") == """
                appgroupd 0.1.0, up 1 h 2 min, durability process
                1 client, 2 watches, 1 commit since the start
                containers in /data/appgroups
                journals in /state/appgroupd

                GROUP            REVISION  KEYS     SIZE  WATCHERS  PLIST    WATCHING
                g                       5     2  1.9 KiB         1  clean    inotify
                group.long.name        12     2      3 B         1  damaged  inotify

                appgroupd: no inotify watches left

                group.long.name: a key without a value
                  at /x/group.long.name.plist:4:2
                  mend the file
                """)
    }

    private func group(
        _ name: String, revision: Int64, bytes: Int, _ plist: PlistCondition, _ problem: Problem? = nil
    ) throws -> GroupStatus {
        GroupStatus(
            group: try GroupIdentifier(name), position: Position(epoch: Epoch(high: 0, low: 1), revision: revision),
            keys: 2, bytes: bytes, watchers: 1, plist: plist, watching: .inotify, problem: problem)
    }

    @Test(
        "durations",
        arguments: [
            (0.5, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3600, "1 h 0 min"), (90_000, "1 d 1 h"), (-1, "-1 s"),
            (.nan, "0 s"), (1e300, "0 s"),
        ])
    func durations(_ seconds: Double, _ text: String) {
        #expect(StatusRendering.duration(seconds) == text)
    }

    @Test("sizes", arguments: [(0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1_572_864, "1.5 MiB")])
    func sizes(_ bytes: Int, _ text: String) {
        #expect(StatusRendering.size(bytes) == text)
    }
}
