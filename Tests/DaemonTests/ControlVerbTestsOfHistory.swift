import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Verbs on the history")
struct ControlVerbTestsOfHistory {
    static let group = "group.com.example.app"

    /// r1: a = 1, b = "x"; r2: a = 2, tagged; r3: b removed, c made.
    static func daemon(_ configuration: [String] = []) throws -> (daemon: RunningDaemon, peer: SettingsPeer) {
        let daemon = try RunningDaemon(configuration: configuration)
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1)), .set("b", .string("x"))])
        try peer.write(.example, [.set("a", .integer(2))], tag: "second")
        try peer.write(.example, [.remove("b"), .set("c", .boolean(true))])
        return (daemon, peer)
    }

    private static func commits(_ peer: SettingsPeer) throws -> [Commit] {
        let reply = try peer.call(.history(HistoryRequest(group: .example)))
        return try #require(reply["commits"]?.arrayValue).compactMap { Commit(wire: $0) }
    }

    private static func head(_ commit: Commit) -> String {
        let tag = commit.origin.tag.map { " \"\($0)\"" } ?? ""
        let unit = commit.origin.unit.map { " of \($0)" } ?? ""
        return "r\(commit.revision)  \(commit.time.rfc3339Microseconds)  "
            + "\(commit.origin.client ?? "")[\(commit.origin.processId ?? 0)]\(unit)\(tag)"
    }

    @Test("history and log leave nothing out where large commits make replies short, and say which is too large")
    func largeCommits() throws {
        let (daemon, peer) = try Self.daemon()
        // A line feed takes six bytes in a message, so that a reply has room for one of these.
        let lines = String(repeating: "\n", count: 750_000)
        try peer.write(.example, [.set("l1", .string(lines))])
        try peer.write(.example, [.set("l2", .string(lines))])
        for verb in ["history", "log"] {
            let run = try daemon.control([verb, Self.group, "--json"])
            #expect(run.code == 0, "\(run.errors)")
            for revision in 1...5 { #expect(run.output.contains("\"revision\":\(revision)")) }
        }
        #expect(try daemon.control(["history", Self.group, "--limit", "4"]).output.contains("c: absent → true"))
        try peer.write(.example, [.remove("l1"), .remove("l2")])
        for verb in ["history", "log"] {
            let run = try daemon.control([verb, Self.group])
            #expect(run.code == 1)
            #expect(run.errors.contains("commit 6"))
            #expect(try daemon.control([verb, Self.group, "a", "b"]).code == 0)
        }
    }

    @Test("log and show print a paragraph a revision")
    func log() throws {
        let (daemon, peer) = try Self.daemon()
        let commits = try Self.commits(peer)
        let second = "\(Self.head(commits[1]))\n    a: 1 → 2\n"
        try daemon.expect(
            ["log", Self.group],
            """
            \(Self.head(commits[0]))
                b: "x" → absent
                c: absent → true
            \(second)\(Self.head(commits[2]))
                a: absent → 1
                b: absent → "x"

            """)
        try daemon.expect(
            ["log", Self.group, "a"], "\(second)\(Self.head(commits[2]))\n    a: absent → 1\n")
        try daemon.expect(["log", Self.group, "a", "--limit", "1"], second)
        try daemon.expect(["show", Self.group, "2"], second)
        try daemon.expect(["show", Self.group, "r2"], second)
        let json = try daemon.control(["show", Self.group, "2", "--json"]).output
        let object = try #require(try JSON(parsing: json).objectValue)
        #expect(object["revision"] == 2)
        #expect(object["changes"] == [["key": "a", "old": 1, "new": 2]])
        #expect(object["origin"]?.objectValue?["tag"] == "second")
        try daemon.expect(
            ["show", Self.group, "9"], code: 1, "", "appgroupctl: \(Self.group) has no revision 9, it is at 3\n")
        #expect(try daemon.control(["show", Self.group, "last"]).code == 64)
    }

    @Test("blame names the change that gave each key its value")
    func blame() throws {
        let (daemon, peer) = try Self.daemon()
        let commits = try Self.commits(peer)
        let heads = [Self.head(commits[1]), Self.head(commits[0])]
        let width = heads.map(\.count).max() ?? 0
        let lines = zip(heads, ["a = 2", "c = true"]).map { head, entry in
            head + String(repeating: " ", count: width - head.count) + "  \(entry)\n"
        }
        try daemon.expect(["blame", Self.group], lines.joined())
        try daemon.expect(["blame", Self.group, "a"], "\(heads[0])  a = 2\n")
        let json = try daemon.control(["blame", Self.group, "c", "--json"]).output
        #expect(json.hasPrefix("{\"group\":\"\(Self.group)\",\"key\":\"c\",\"value\":true,\"revision\":3,\"time\":"))
        try daemon.expect(["blame", Self.group, "b"], code: 1, "", "appgroupctl: \(Self.group) has no key \"b\"\n")
    }

    @Test("diff, forwards and backwards, and to the present")
    func diff() throws {
        let (daemon, _) = try Self.daemon()
        try daemon.expect(["diff", Self.group, "1", "3"], "a: 1 → 2\nb: \"x\" → absent\nc: absent → true\n")
        try daemon.expect(["diff", Self.group, "1"], "a: 1 → 2\nb: \"x\" → absent\nc: absent → true\n")
        try daemon.expect(["diff", Self.group, "2", "1"], "a: 2 → 1\n")
        try daemon.expect(["diff", Self.group, "0", "1"], "a: absent → 1\nb: absent → \"x\"\n")
        try daemon.expect(["diff", Self.group, "2", "2"], "")
        try daemon.expect(
            ["diff", Self.group, "1", "2", "--json"],
            "{\"group\":\"\(Self.group)\",\"key\":\"a\",\"old\":1,\"new\":2}\n")
    }

    @Test("read --at: every revision as it was, and times")
    func readAt() throws {
        let (daemon, peer) = try Self.daemon()
        try daemon.expect(["read", Self.group, "--at", "0"], "")
        try daemon.expect(["read", Self.group, "--at", "1"], "a = 1\nb = \"x\"\n")
        try daemon.expect(["read", Self.group, "--at", "r2", "b"], "x\n")
        try daemon.expect(["read", Self.group, "--at=3"], "a = 2\nc = true\n")
        let time = try Self.commits(peer)[1].time.rfc3339Microseconds
        try daemon.expect(["read", Self.group, "--at", time], "a = 2\nb = \"x\"\n")
        try daemon.expect(["read", Self.group, "--at", "2001-01-01"], "")
        try daemon.expect(
            ["read", Self.group, "--at", "4"], code: 1, "",
            "appgroupctl: \(Self.group) has no revision 4, it is at 3\n")
        #expect(try daemon.control(["read", Self.group, "--at", "yesterday"]).code == 64)
    }

    @Test("what is not kept any more is an error that says where the history begins")
    func shortHistory() throws {
        let (daemon, peer) = try Self.daemon(["HistoryCommits=2"])
        // A journal is rewritten when it holds twice what is to be kept.
        for number in 1...50 { try peer.write(.example, [.set("a", .integer(Int64(100 + number)))]) }
        var oldest: Int64 = 1
        #expect(
            try eventually {
                oldest = try Self.commits(peer).last?.revision ?? 1
                return oldest > 3
            })
        let run = try daemon.control(["read", Self.group, "--at", "1"])
        #expect(run.code == 1)
        #expect(run.output == "")
        #expect(run.errors.contains("the history of \(Self.group) does not reach back to revision "))
        #expect(run.errors.contains("HistoryCommits="))
        #expect(try daemon.control(["undo", Self.group, "1"]).code == 1)
        let blame = try daemon.control(["blame", Self.group, "c"])
        #expect(blame.output == "-  -  -  c = true\n")
    }

    @Test("undo takes a revision back as a new one; keys changed since are told, and nothing is done")
    func undo() throws {
        let (daemon, peer) = try Self.daemon()
        try daemon.expect(["undo", Self.group, "3", "--dry-run"], "b: absent → \"x\"\nc: true → absent\n")
        try daemon.expect(
            ["undo", Self.group, "1"], code: 1, "",
            """
            appgroupctl: changed again since: "a" in revision 2, "b" in revision 3; nothing was undone
            appgroupctl: undo that first, or write the value: appgroupctl log \(Self.group) "a"

            """)
        #expect(try peer.read(.example).position?.revision == 3)
        try daemon.expect(["undo", Self.group, "3"], "", "appgroupctl: \(Self.group): 1 key set, 1 removed\n")
        #expect(try peer.read(.example).values == ["a": .integer(2), "b": .string("x")])
        // The undoing can be undone.
        try daemon.expect(["undo", Self.group, "4"], "", "appgroupctl: \(Self.group): 1 key set, 1 removed\n")
        try daemon.expect(["read", Self.group], "a = 2\nc = true\n")
        try daemon.expect(
            ["undo", Self.group, "77"], code: 1, "", "appgroupctl: \(Self.group) has no revision 77, it is at 5\n")
    }

    @Test("undo by who and since when")
    func undoSelection() throws {
        let (daemon, peer) = try Self.daemon()
        try daemon.expect(
            ["undo", Self.group, "--by", "second"], "",
            "appgroupctl: \(Self.group): 1 key set, 0 removed\n")
        #expect(try peer.read(.example).values == ["a": .integer(1), "c": .boolean(true)])
        try daemon.expect(
            ["undo", Self.group, "--since", "1"], "",
            "appgroupctl: \(Self.group): 1 key set, 1 removed\n")
        #expect(try peer.read(.example).values == ["a": .integer(1), "b": .string("x")])
        try daemon.expect(
            ["undo", Self.group, "--by", "nobody"], code: 1, "",
            "appgroupctl: the history has nothing by \"nobody\"\n")
        #expect(try daemon.control(["undo", Self.group]).code == 64)
        #expect(try daemon.control(["undo", Self.group, "1", "--since", "1"]).code == 64)
    }

    @Test("watch --since tells what was missed, then goes on")
    func watchSince() throws {
        let (daemon, peer) = try Self.daemon()
        let tool = try daemon.startControl(["watch", Self.group, "--since", "1", "--count", "4", "--json"])
        for (key, revision) in [("a", 2), ("b", 3), ("c", 3)] as [(String, Int64)] {
            let line = try #require(try tool.readLine())
            let object = try #require(try JSON(parsing: line).objectValue)
            #expect(object["key"] == .string(key))
            #expect(object["revision"] == .integer(revision))
        }
        try peer.write(.example, [.set("d", .integer(1))])
        #expect(try tool.finish().output.contains("\"key\":\"d\",\"new\":1"))
    }
}
