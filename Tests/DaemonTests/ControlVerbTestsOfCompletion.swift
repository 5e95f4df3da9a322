import Foundation
import GroupModel
import PropertyList
import TestSupport
import Testing

@Suite("Completion")
struct ControlVerbTestsOfCompletion {
    static let group = "group.com.example.app"

    static let cases: [([String], [String])] = [
        (["bl"], ["blame"]),
        (["re"], ["read", "read-type", "rename", "restore", "repair"]),
        (["read", "gr"], [group]),
        (["read", group, "n"], ["n", "name"]),
        (["--timeout", "5", "read", group, "na"], ["name"]),
        (["read", "--glob", group, "f"], ["flag"]),
        (["export", group, "x", "--format", ""], ["xml", "binary", "json"]),
        (["export", group, "x", "--fo"], ["--format"]),
        (["write", group, "flag", ""], ["false", "true"]),
        (["write", group, "n", ""], ["41"]),
        (["write", group, "n", "-i"], ["-int"]),
        (["show", group, ""], ["1"]),
        (["help", "und"], ["undo"]),
        (["completions", ""], ["bash", "zsh", "fish"]),
        (["import", group, ""], []),
        (["read", "no.such", ""], []),
        (["list", ""], []),
    ]

    @Test("from the table and from the live daemon")
    func candidates() throws {
        let (daemon, _) = try ControlVerbTests.daemon()
        for (words, candidates) in Self.cases {
            let run = try daemon.control(["complete", "--"] + words)
            #expect(run.output.split(separator: "\n").map(String.init) == candidates, "\(words)")
            #expect(run.code == 0)
        }
    }

    @Test("without a daemon the table alone is there, and nothing is said")
    func alone() throws {
        let directory = try TemporaryDirectory()
        for (words, output) in [(["bla"], "blame\n"), (["read", ""], "")] {
            let run = try ChildProcess.run(
                builtProgram("appgroupctl"), ["--socket", directory.file("none"), "complete", "--"] + words)
            #expect(run.output == output)
            #expect(run.errors == "")
            #expect(run.code == 0)
        }
    }

    @Test("in bash")
    func bash() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        try peer.write(.example, [.set("a key", .integer(1))])
        let tool = try Self.tool(daemon)
        let script = """
            eval "$(\(tool) completions bash)"
            try() {
                COMP_WORDS=(\(tool) "$@"); COMP_CWORD=$(($# ))
                _appgroupctl
                printf '<%s>' "${COMPREPLY[@]}"; echo
            }
            try bla
            try read group
            try read \(Self.group) a
            try write \(Self.group) flag ''
            complete -p appgroupctl
            """
        let run = try ChildProcess.run("/bin/bash", ["-c", script])
        #expect(
            run.output == """
                <blame>
                <\(Self.group)>
                <a\\ key>
                <false><true>
                complete -o default -F _appgroupctl appgroupctl

                """)
        #expect(run.errors == "")
    }

    @Test("in zsh")
    func zsh() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        try peer.write(.example, [.set("a key", .integer(1))])
        let tool = try Self.tool(daemon)
        let file = daemon.directory.file("_appgroupctl")
        // What zsh does when a word is to be completed, with its builtin for candidates and its files made visible.
        let script = """
            \(tool) completions zsh >\(file)
            compadd() { [[ $1 == -a ]] && printf '<%s>' ${(@P)2}; echo }
            _files() { echo files }
            try() { local words=(\(tool) "$@") CURRENT=$(($# + 1)); source \(file) }
            try bla
            try read group
            try read \(Self.group) a
            try write \(Self.group) flag ''
            try import \(Self.group) ''
            """
        let run = try ChildProcess.run("/usr/bin/zsh", ["-f", "-c", script])
        #expect(run.output == "<blame>\n<\(Self.group)>\n<a key>\n<false><true>\nfiles\n")
        #expect(run.errors == "")
        try parses("/usr/bin/zsh", "zsh")
    }

    @Test("in fish")
    func fish() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        try peer.write(.example, [.set("a key", .integer(1))])
        let tool = try Self.tool(daemon)
        let script = """
            set -x PATH \(daemon.directory.path) $PATH
            \(tool) completions fish | source
            for words in 'bla' 'read group' 'read \(Self.group) a' 'write \(Self.group) flag '
                complete -C "appgroupctl $words"
            end
            """
        let run = try ChildProcess.run(
            "/usr/bin/fish", ["--no-config", "-c", script],
            environment: ["HOME": daemon.directory.path, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"])
        #expect(run.output == "blame\n\(Self.group)\na key\nfalse\ntrue\n")
        #expect(run.errors == "")
        try parses("/usr/bin/fish", "fish")
    }

    /// What the shell calls has no --socket: the tool finds the daemon by itself.
    private static func tool(_ daemon: RunningDaemon) throws -> String {
        let tool = try daemon.directory.write(
            "appgroupctl", "#!/bin/sh\nexec \(builtProgram("appgroupctl")) --socket \(daemon.socket) \"$@\"\n")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: tool)
        return tool
    }

    private func parses(_ shell: String, _ name: String) throws {
        let script = try ChildProcess.run(builtProgram("appgroupctl"), ["completions", name]).output
        let directory = try TemporaryDirectory()
        let run = try ChildProcess.run(shell, ["-n", try directory.write("script", script)])
        #expect(run.errors == "")
        #expect(run.code == 0)
    }
}
