import AppGroupControl
import TestSupport
import Testing

@Suite("Errors")
struct ErrorTests {
    @Test("wrong usage: 64, and where to read how")
    func usage() {
        let run = CapturedRun("write", "g", "k", "-int", "abc")
        #expect(run.status == 64)
        #expect(run.output == "")
        #expect(
            run.error == """
                appgroupctl: -int takes an integer such as 42, not "abc"
                appgroupctl: appgroupctl write --help shows how

                """)
    }

    @Test("no verb: 64")
    func noVerb() {
        let run = CapturedRun()
        #expect(run.status == 64)
        #expect(run.error == "appgroupctl: no verb is given\nappgroupctl: appgroupctl --help shows how\n")
    }

    @Test(
        "R41: without a runtime directory: 2, and never /tmp",
        arguments: [[:], ["XDG_RUNTIME_DIR": ""], ["XDG_RUNTIME_DIR": "run"]])
    func noRuntimeDirectory(_ environment: [String: String]) {
        for arguments in [["list"], ["backup", "group.com.example.app", "-"]] {
            let run = CapturedRun(arguments, environment: environment)
            #expect(run.status == 2)
            #expect(
                run.error == """
                    appgroupctl: XDG_RUNTIME_DIR is not set, so there is no place to look for appgroupd's socket
                    appgroupctl: log in as the user (su and sudo do not set it), or say --socket PATH

                    """)
        }
    }

    @Test("R80: an absent socket: 2, the path, and how to start the daemon")
    func absentSocket() throws {
        let directory = try TemporaryDirectory()
        let run = CapturedRun(["list"], environment: ["XDG_RUNTIME_DIR": directory.path])
        #expect(run.status == 2)
        #expect(
            run.error == """
                appgroupctl: appgroupd is not running: there is no socket \(directory.path)/appgroupd/io.appgroupd.Settings
                appgroupctl: start it: systemctl --user start appgroupd.socket, or without systemd: appgroupd &

                """)
    }

    @Test("R80: a stale socket: 2, and that nobody listens")
    func staleSocket() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        // Python leaves the socket behind when it ends, as a daemon that was killed does.
        let script = "import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])"
        #expect(try ChildProcess.run("/usr/bin/python3", ["-c", script, path]).code == 0)
        let run = CapturedRun("list", "--socket", path)
        #expect(run.status == 2)
        #expect(
            run.error == """
                appgroupctl: appgroupd is not running any more: nobody listens at the socket \(path)
                appgroupctl: start it: systemctl --user start appgroupd.socket, or without systemd: appgroupd &

                """)
    }

    static let numbers: [([String], String)] = [
        (["watch", "g", "--count", "x"], #"--count takes a whole number, not "x""#),
        (["watch", "g", "--count", "-1"], #"--count takes a whole number, not "-1""#),
        (["watch", "g", "--timeout", "0"], #"--timeout takes a number of seconds above 0, not "0""#),
        (["watch", "g", "--timeout", "nan"], #"--timeout takes a number of seconds above 0, not "nan""#),
        (
            ["list", "--socket", "/nowhere", "--timeout", "-1"],
            #"--timeout takes a number of seconds above 0, not "-1""#
        ),
        (["write", "g", "k", "v", "--if-unchanged-since", ""], #"--if-unchanged-since takes a whole number, not """#),
    ]

    @Test(
        "names that are no groups are refused before anything is asked",
        arguments: ["", "..", "a/b", "-x", ".a", "a..b"])
    func groupNames(_ name: String) {
        let run = CapturedRun("read", "--", name)
        #expect(run.status == 1)
        #expect(run.error.hasPrefix("appgroupctl: \"\(name)\" is no name of a group: "))
    }
}

@Suite("Habits of other tools")
struct HabitTests {
    @Test(
        "what gsettings, dconf and others call a verb leads to ours",
        arguments: [("get", "read"), ("SET", "write"), ("monitor", "watch"), ("reset", "delete"), ("wach", "watch")])
    func habits(_ name: String, _ verb: String) {
        for arguments in [[name, "group.com.example.app", "key"], ["help", name]] {
            let run = CapturedRun(arguments)
            #expect(run.status == 64)
            #expect(run.error.hasPrefix("appgroupctl: there is no verb \"\(name)\"; did you mean \"\(verb)\"?\n"))
        }
        #expect(Verb.habits.keys.allSatisfy { Verb.named($0) == nil })
    }

    @Test("a file of JSON that is none is told with line and column")
    func place() {
        #expect(throws: Failure(.refused, "FILE:2:7: this is no JSON: an unexpected character here")) {
            try SettingsFile(parsing: Array("{\"a\": 1,\n \"b\": x}".utf8), from: "FILE")
        }
        #expect(throws: Failure(.refused, "FILE:1:2: this is no JSON: the text ends too early, here")) {
            try SettingsFile(parsing: Array("{".utf8), from: "FILE")
        }
    }
}
