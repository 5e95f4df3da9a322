import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Verbs that run commands")
struct ControlVerbTestsOfCommands {
    static let group = "group.com.example.app"

    private static func text(_ value: Value) -> String? {
        guard case .integer(let number) = value else { return nil }
        return String(number)
    }

    @Test("watch --exec gives the change in the environment: scalars bare, the rest as JSON")
    func environment() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        let names = ["GROUP", "KEY", "OLD", "NEW", "REVISION"]
        let command = names.map { "printf '%s\\n' \"\($0) [${APPGROUP_\($0)-unset}]\"" }.joined(separator: "; ")
        let tool = try daemon.startControl(["watch", Self.group, "--count", "4", "--exec", command])
        #expect(try tool.readErrorLine() == "appgroupctl: watching \(Self.group)")
        try peer.write(.example, [.set("n", .integer(42)), .set("fresh", .dictionary(["a b": .real(1)]))])
        try peer.write(.example, [.remove("name")])
        try peer.write(.example, [.set("line", .string("a\nb \"c\" $HOME"))])
        let run = try tool.finish()
        func lines(_ values: String...) -> String {
            zip(names, [Self.group] + values).map { "\($0) [\($1)]\n" }.joined()
        }
        #expect(
            run.output
                == lines("fresh", "unset", #"{"a b":1.0}"#, "2") + lines("n", "41", "42", "2")
                + lines("name", "plain", "unset", "3") + lines("line", "unset", "a\nb \"c\" $HOME", "4"))
        #expect(run.code == 0)
    }

    @Test("a command that fails is told, the watch goes on, and the status is 1")
    func failing() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        let tool = try daemon.startControl(
            ["watch", Self.group, "--count", "2", "--exec", "test $APPGROUP_KEY = n || exit 7"])
        #expect(try tool.readErrorLine() == "appgroupctl: watching \(Self.group)")
        try peer.write(.example, [.set("a", .integer(1)), .set("n", .integer(2))])
        let run = try tool.finish()
        #expect(
            run.errors == """
                appgroupctl: the command ended with status 7, for "a" of revision 2
                appgroupctl: 1 of the commands failed

                """)
        #expect(run.code == 1)
    }

    @Test(
        "with --state, over restarts of daemon and tool: each final value is handled, nothing twice, never two at once")
    func restarts() throws {
        let (daemon, _) = try ControlVerbTests.daemon()
        let log = daemon.directory.file("log")
        let lock = daemon.directory.file("lock")
        let command = """
            mkdir \(lock) || echo overlap >>\(log)
            echo "$APPGROUP_REVISION $APPGROUP_KEY $APPGROUP_NEW" >>\(log)
            rmdir \(lock)
            """
        let arguments = [
            "watch", Self.group, "k*", "--state", daemon.directory.file("state.json"), "--exec", command,
        ]
        var tool = try daemon.startControl(arguments)
        #expect(try tool.readErrorLine() == "appgroupctl: watching \(Self.group)")
        // The position is in the file before anything is handled.
        #expect(eventually { daemon.directory.exists("state.json") })
        for round in 1...5 {
            let peer = try SettingsPeer(daemon)
            for number in 1...200 {
                try peer.write(
                    .example,
                    [.set(Key("k\(number % 7)"), .integer(Int64(1000 * round + number))), .set("x", .real(1))])
            }
            if round.isMultiple(of: 2) {
                tool.kill(SIGTERM)
                _ = try tool.finish()
                tool = try daemon.startControl(arguments)
                #expect(try tool.readErrorLine() == "appgroupctl: watching \(Self.group)")
            }
            try daemon.kill()
            try daemon.start()
        }
        let values = try SettingsPeer(daemon).read(.example, keys: ["k*"]).values
        var lines: [String] = []
        let isDone = try eventually(seconds: 120) {
            lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
            let last = lines.reduce(into: [String: String]()) { last, line in
                let words = line.split(separator: " ").map(String.init)
                if words.count == 3 { last[words[1]] = words[2] }
            }
            return values.allSatisfy { last[$0.key.string] == Self.text($0.value) }
        }
        #expect(isDone)
        let handled = lines.map { $0.split(separator: " ").prefix(2).joined(separator: " ") }
        #expect(Set(handled).count == handled.count)
        #expect(!lines.contains("overlap"))
    }

    @Test("watch --exec --debounce runs once for a key when a burst is over, with what was before it and after it")
    func debounce() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        let tool = try daemon.startControl([
            "watch", Self.group, "--count", "2", "--debounce", "0.5", "--exec",
            "echo $APPGROUP_KEY $APPGROUP_OLD $APPGROUP_NEW",
        ])
        #expect(try tool.readErrorLine() == "appgroupctl: watching \(Self.group)")
        for number in 42...60 {
            try peer.write(.example, [.set("n", .integer(Int64(number))), .set("flag", .boolean(number % 2 == 0))])
            try peer.write(.example, [.set("name", .string("x"))])
            try peer.write(.example, [.set("name", .string("plain"))])
        }
        // The name is what it was.
        let run = try tool.finish()
        #expect(run.output == "flag false true\nn 41 60\n")
        #expect(run.code == 0)
        #expect(try daemon.control(["watch", Self.group, "--debounce", "1"]).code == 64)
        #expect(try daemon.control(["watch", Self.group, "--exec", "true", "--debounce", "no"]).code == 64)
    }

    @Test("a state file of something else is refused and left alone")
    func foreignState() throws {
        let (daemon, _) = try ControlVerbTests.daemon()
        let path = try daemon.directory.write("precious", "text")
        let run = try daemon.control(["watch", Self.group, "--exec", "true", "--state", path])
        #expect(run.code == 1)
        #expect(run.errors.contains("is no state of a watch"))
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
        #expect(try daemon.control(["watch", Self.group, "--state", path]).code == 64)
    }

    @Test("edit: what the editor changed goes in, what others wrote meanwhile stays")
    func edit() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        let editor = try daemon.directory.write(
            "editor",
            "sed -i -e 's/plain/edited/' -e '/\"flag\"/d' \"$1\"\n\(builtProgram("appgroupctl")) --socket "
                + "\(daemon.socket) write \(Self.group) n -int 50\n")
        let environment = ["EDITOR": "sh \(editor)", "TMPDIR": daemon.directory.path]
        let run = try daemon.control(["edit", Self.group, "--format", "json"], environment: environment)
        #expect(run.errors == "appgroupctl: \(Self.group): 1 key set, 1 removed\n")
        #expect(run.code == 0)
        let values = try peer.read(.example).values
        #expect(values["name"] == .string("edited"))
        #expect(values["flag"] == nil)
        #expect(values["n"] == .integer(50))
        let left = try FileManager.default.contentsOfDirectory(atPath: daemon.directory.path)
        #expect(!left.contains { $0.hasPrefix(Self.group) })
    }

    @Test("edit: a conflict or a text that does not parse changes nothing, and the copy is kept")
    func editRefused() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        let conflicting = try daemon.directory.write(
            "conflicting",
            "sed -i 's/41/42/' \"$1\"\n\(builtProgram("appgroupctl")) --socket \(daemon.socket) "
                + "write \(Self.group) n -int 50\n")
        var environment = ["EDITOR": "sh \(conflicting)", "TMPDIR": daemon.directory.path]
        let conflict = try daemon.control(["edit", Self.group], environment: environment)
        #expect(conflict.code == 1)
        #expect(conflict.errors.contains("changed meanwhile by others: \"n\"; nothing was written"))
        #expect(try peer.read(.example).values["n"] == .integer(50))
        environment["EDITOR"] = "sed -i 's/<dict>/<dyct>/'"
        let broken = try daemon.control(["edit", Self.group], environment: environment)
        #expect(broken.code == 1)
        #expect(broken.errors.contains("is no property list"))
        let copies = try FileManager.default.contentsOfDirectory(atPath: daemon.directory.path)
            .filter { $0.hasPrefix(Self.group) }
        #expect(copies.count == 2)
        environment["EDITOR"] = "false"
        #expect(try daemon.control(["edit", Self.group], environment: environment).code == 1)
        environment["EDITOR"] = "true"
        let unchanged = try daemon.control(["edit", Self.group], environment: environment)
        #expect(unchanged.errors == "appgroupctl: nothing changed\n")
        #expect(unchanged.code == 0)
    }
}
