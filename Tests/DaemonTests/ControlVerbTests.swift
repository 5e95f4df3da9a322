import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// The tool against the real daemon: what each verb prints, to the letter, and what it does.
@Suite("Verbs on values")
struct ControlVerbTests {
    static let group = "group.com.example.app"
    static let values: [Edit] = [
        .set("flag", .boolean(false)), .set("list", .array([.string("Needle"), .integer(1)])),
        .set("n", .integer(41)), .set("name", .string("plain")),
        .set("when", .date(Timestamp(microseconds: 1_500_000))),
    ]

    static func daemon() throws -> (daemon: RunningDaemon, peer: SettingsPeer) {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, values)
        return (daemon, peer)
    }

    @Test("read-type says the type of each")
    func readType() throws {
        let (daemon, _) = try Self.daemon()
        for (key, type) in [("flag", "boolean"), ("list", "array"), ("n", "integer"), ("when", "date")] {
            try daemon.expect(["read-type", Self.group, key], "Type is \(type)\n")
            try daemon.expect(["read-type", Self.group, key, "--json"], "\"\(type)\"\n")
        }
        try daemon.expect(
            ["read-type", Self.group, "nam"], code: 1, "",
            "appgroupctl: \(Self.group) has no key \"nam\"\n")
    }

    @Test("rename moves a value in one commit, and overwrites nothing")
    func rename() throws {
        let (daemon, peer) = try Self.daemon()
        let watcher = try daemon.watcher(of: .example)
        try daemon.expect(["rename", Self.group, "n", "number"], "")
        let commit = try watcher.nextCommit()
        #expect(Set(commit.keys) == ["n", "number"])
        try daemon.expect(
            ["rename", Self.group, "n", "x"], code: 1, "",
            "appgroupctl: \(Self.group) has no key \"n\"; nothing changed\n")
        try daemon.expect(
            ["rename", Self.group, "name", "flag"], code: 1, "",
            """
            appgroupctl: \(Self.group) has a key "flag" already; nothing changed
            appgroupctl: appgroupctl delete removes it

            """)
        #expect(try peer.read(.example).values["number"] == .integer(41))
        #expect(try daemon.control(["rename", Self.group, "name", "name"]).code == 64)
    }

    @Test("delete-all removes every key in one commit, as delete without KEY does; domains and remove are names, too")
    func deleteAll() throws {
        let (daemon, peer) = try Self.daemon()
        try daemon.expect(["domains"], "\(Self.group)\n")
        try daemon.expect(["remove", Self.group, "n"], "")
        #expect(try peer.read(.example).values["n"] == nil)
        try daemon.expect(["delete-all", Self.group, "--tag", "t"], "")
        #expect(try peer.read(.example).values.isEmpty)
        #expect(try peer.read(.example).position?.revision == 3)
    }

    @Test("find looks into names, keys and nested texts, without regard to case")
    func find() throws {
        let (daemon, _) = try Self.daemon()
        try daemon.expect(["find", "needle"], "\(Self.group) list = [\"Needle\", 1]\n")
        try daemon.expect(["find", "NA"], "\(Self.group) name = \"plain\"\n")
        try daemon.expect(
            ["find", "example", "--json"], "{\"group\":\"\(Self.group)\"}\n")
        try daemon.expect(
            ["find", "needle", "--json"],
            "{\"group\":\"\(Self.group)\",\"key\":\"list\",\"value\":[\"Needle\",1]}\n")
        try daemon.expect(["find", "zzz"], code: 1, "", "appgroupctl: nothing has \"zzz\" in it\n")
    }

    @Test("export in each format, import --replace gives the same again; XML says what it loses")
    func exportAndImport() throws {
        let (daemon, peer) = try Self.daemon()
        let before = try peer.read(.example).values
        try daemon.expect(
            ["export", Self.group, "-", "--format", "json"],
            """
            {
              "flag": false,
              "list": ["Needle",1],
              "n": 41,
              "name": "plain",
              "when": {"date":"1970-01-01T00:00:01.500000Z"}
            }

            """)
        let lossy = try daemon.control(["export", Self.group, "-"])
        #expect(lossy.output.hasPrefix("<?xml"))
        #expect(
            lossy.errors
                == "appgroupctl: an XML property list holds whole seconds: 1 of the values lost fractions\n")
        for format in ["xml", "binary", "json"] {
            let path = daemon.directory.file(format)
            #expect(try daemon.control(["export", Self.group, path, "--format", format]).code == 0)
            #expect(Plist.mode(path) == 0o600)
            // Nothing to do, whatever the format lost.
            try daemon.expect(
                ["import", Self.group, path, "--replace"], "", "appgroupctl: \(Self.group): 0 keys set, 0 removed\n")
            try peer.write(.example, [.remove("n"), .set("extra", .integer(1))])
            try daemon.expect(
                ["import", Self.group, path, "--replace", "--dry-run"], "extra: 1 → absent\nn: absent → 41\n")
            #expect(try peer.read(.example).values["extra"] == .integer(1))
            try daemon.expect(
                ["import", Self.group, path], "", "appgroupctl: \(Self.group): 1 key set, 0 removed\n")
            #expect(try peer.read(.example).values["extra"] == .integer(1))
            try daemon.expect(
                ["import", Self.group, path, "--replace"], "", "appgroupctl: \(Self.group): 0 keys set, 1 removed\n")
            #expect(try peer.read(.example).values == before)
        }
        #expect(try daemon.control(["import", Self.group, "-", "--merge", "--replace"]).code == 64)
        #expect(try daemon.control(["export", Self.group, "-", "--format", "yaml"]).code == 64)
    }

    @Test("a group that is too large for one reply is read, searched and exported like any other")
    func largeGroup() throws {
        let (daemon, peer) = try Self.daemon()
        // A line feed takes six bytes in a message.
        let lines = String(repeating: "\n", count: 750_000)
        for key in ["l1", "l2"] { try peer.write(.example, [.set(Key(key), .string(lines))]) }
        #expect(throws: GroupError.self) { try peer.read(.example) }
        let read = try daemon.control(["read", Self.group, "--json"])
        #expect(read.code == 0)
        let values = try JSON(parsing: Array(read.output.utf8).span).objectValue
        #expect(values?.map(\.name) == ["flag", "l1", "l2", "list", "n", "name", "when"])
        #expect(values?["l2"]?.stringValue == lines)
        try daemon.expect(["find", "plain"], "\(Self.group) name = \"plain\"\n")
        #expect(try daemon.control(["export", Self.group, "-"]).output.contains("<key>l2</key>"))
        try daemon.expect(
            ["read", "group.none", "--json"], code: 1, "",
            "appgroupctl: there is no group group.none\nappgroupctl: appgroupctl list shows the groups\n")
    }

    @Test("import makes a group, but not one whose name looks mistyped")
    func importMakes() throws {
        let (daemon, peer) = try Self.daemon()
        let path = try daemon.directory.write("in.json", #"{"a": 1}"#)
        try daemon.expect(
            ["import", "group.com.example.other", path], "",
            """
            appgroupctl: made the group group.com.example.other
            appgroupctl: group.com.example.other: 1 key set, 0 removed

            """)
        #expect(try peer.read(GroupIdentifier("group.com.example.other")).values == ["a": .integer(1)])
        #expect(try daemon.control(["import", "group.com.example.ap", path]).code == 1)
        #expect(try daemon.control(["import", "group.com.example.ap", path, "--create"]).code == 0)
        try daemon.expect(
            ["import", Self.group, daemon.directory.file("none")], code: 1, "",
            "appgroupctl: \(daemon.directory.file("none")) cannot be read: No such file or directory (ENOENT)\n")
    }

    @Test("apply prints the plan and does it, once; --check ends with 3; --prune removes")
    func apply() throws {
        let (daemon, peer) = try Self.daemon()
        let path = try daemon.directory.write("wanted.json", #"{"n": 41, "name": "new", "flag": true}"#)
        let plan = "flag: false → true\nname: \"plain\" → \"new\"\n"
        try daemon.expect(["apply", Self.group, path, "--check"], code: 3, plan)
        #expect(try peer.read(.example).position?.revision == 1)
        try daemon.expect(["apply", Self.group, path], plan)
        try daemon.expect(["apply", Self.group, path], "")
        try daemon.expect(["apply", Self.group, path, "--check"], "")
        #expect(try peer.read(.example).position?.revision == 2)
        try daemon.expect(
            ["apply", Self.group, path, "--prune", "--check", "--json"], code: 3,
            """
            {"group":"\(Self.group)","key":"list","old":["Needle",1]}
            {"group":"\(Self.group)","key":"when","old":{"date":"1970-01-01T00:00:01.500000Z"}}

            """)
        #expect(try daemon.control(["apply", Self.group, path, "--prune"]).code == 0)
        #expect(try peer.read(.example).values.keys.sorted() == ["flag", "n", "name"])
    }

    @Test("increment and toggle print what it is now; get-and-set what it was")
    func changing() throws {
        let (daemon, peer) = try Self.daemon()
        try daemon.expect(["increment", Self.group, "n"], "42\n")
        try daemon.expect(["increment", Self.group, "n", "-2"], "40\n")
        try daemon.expect(["increment", Self.group, "n", "0"], "40\n")
        try daemon.expect(["increment", Self.group, "new", "0.5", "--json"], "0.5\n")
        try daemon.expect(["toggle", Self.group, "flag"], "true\n")
        try daemon.expect(["toggle", Self.group, "flag"], "false\n")
        try daemon.expect(["get-and-set", Self.group, "n", "7"], "40\n")
        #expect(try peer.read(.example).values["n"] == .integer(7))
        try daemon.expect(["get-and-set", Self.group, "fresh", "-array", "a"], "")
        try daemon.expect(["get-and-set", Self.group, "fresh", "-array-add", "b", "--json"], "[\"a\"]\n")
        #expect(try peer.read(.example).values["fresh"] == .array([.string("a"), .string("b")]))
        try daemon.expect(["get-and-set", Self.group, "fresher", "x", "--json"], "null\n")
        try daemon.expect(
            ["toggle", Self.group, "name"], code: 1, "",
            """
            appgroupctl: the value of "name" is of type string, not boolean; nothing changed
            appgroupctl: appgroupctl delete removes it

            """)
        try daemon.expect(
            ["increment", Self.group, "n", "many"], code: 64, "",
            """
            appgroupctl: BY is a number such as 1, -5 or 0.5, not "many"
            appgroupctl: appgroupctl increment --help shows how

            """)
    }

    @Test("get-and-set in several tools at once: each value comes out once")
    func getAndSetRace() throws {
        let (daemon, peer) = try Self.daemon()
        try peer.write(.example, [.set("turn", .integer(0))])
        let tools = try (1...8).map { try daemon.startControl(["get-and-set", Self.group, "turn", "-int", "\($0)"]) }
        let olds = try tools.map { try $0.finish() }.map { $0.output.trimmingCharacters(in: .newlines) }
        guard case .integer(let last)? = try peer.read(.example).values["turn"] else {
            Issue.record("the key is no integer")
            return
        }
        #expect((olds + ["\(last)"]).sorted() == (0...8).map(String.init))
    }

    @Test("wait comes back at once, when the value comes, when the key goes, and not otherwise")
    func wait() throws {
        let (daemon, peer) = try Self.daemon()
        try daemon.expect(["wait", Self.group, "n", "-q"], "41\n")
        try daemon.expect(["wait", Self.group, "n", "41", "-q", "--json"], "41\n")
        try daemon.expect(["wait", Self.group, "none", "--absent", "-q"], "")
        for (arguments, edit, output) in [
            (["n", "42"], Edit.set("n", .integer(42)), "42\n"),
            (["name", "-string", "later"], .set("name", .string("later")), "later\n"),
            (["later"], .set("later", .boolean(true)), "true\n"),
            (["flag", "--absent"], .remove("flag"), ""),
        ] {
            let tool = try daemon.startControl(["wait", Self.group] + arguments)
            #expect(try tool.readErrorLine() == "appgroupctl: watching \(Self.group)")
            // Neither another key nor another value.
            try peer.write(.example, [.set("unrelated", .string(output)), .set("name", .string("else"))])
            try peer.write(.example, [edit])
            let run = try tool.finish()
            #expect(run.output == output)
            #expect(run.code == 0)
        }
        // Integer 42 is no text "42".
        try daemon.expect(
            ["wait", Self.group, "n", "-string", "42", "--timeout", "0.2", "-q"], code: 1, "",
            "appgroupctl: the time is over, and \"n\" is 42\n")
        #expect(try daemon.control(["wait", "no.such", "k"]).code == 1)
    }

    @Test("watch ends when nobody reads what it prints, and not only at the change after that")
    func watchWithoutReader() throws {
        let (daemon, _) = try Self.daemon()
        let arguments = ["--socket", daemon.socket, "watch", Self.group, "--initial"]
        let run = try ChildProcess.run(
            "/bin/sh", ["-c", "{ \"$0\" \"$@\"; echo $? >&2; } | head -n 1", builtProgram("appgroupctl")] + arguments,
            seconds: 10)
        #expect(run.output.hasPrefix("snapshot"))
        #expect(run.errors == "appgroupctl: watching \(Self.group)\n141\n")
    }

    @Test("wait outlives a restart of the daemon")
    func waitOverRestart() throws {
        let (daemon, _) = try Self.daemon()
        let tool = try daemon.startControl(["wait", Self.group, "n", "-int", "5"])
        #expect(try tool.readErrorLine() == "appgroupctl: watching \(Self.group)")
        try daemon.kill()
        #expect(try tool.readErrorLine() == "appgroupctl: appgroupd went away; waiting for it to come back")
        try daemon.start()
        try SettingsPeer(daemon).write(.example, [.set("n", .integer(5))])
        let run = try tool.finish()
        #expect(run.output == "5\n")
        #expect(run.code == 0)
    }
}

extension RunningDaemon {
    /// Runs the tool and holds all that it says against what is expected.
    func expect(
        _ arguments: [String], code: Int32 = 0, _ output: String, _ errors: String = "",
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let run = try control(arguments)
        #expect(run.output == output, sourceLocation: sourceLocation)
        #expect(run.errors == errors, sourceLocation: sourceLocation)
        #expect(run.code == code, sourceLocation: sourceLocation)
    }
}
