import Foundation
import TestSupport
import Testing

@Suite("What all examples have in common") struct CommandLineTests {
    let daemon: RunningDaemon

    init() throws {
        daemon = try RunningDaemon(isAtStandardPlace: true)
    }

    @Test("--help says how it is used", arguments: exampleNames)
    func help(_ name: String) throws {
        let outcome = try run(name, ["--help"], with: daemon)
        #expect(outcome.code == 0 && outcome.errors.isEmpty)
        #expect(outcome.output.hasPrefix("Usage: \(name) [--group GROUP] [COMMAND]\n"))
    }

    @Test("what it does not understand it says, and ends", arguments: exampleNames)
    func misuse(_ name: String) throws {
        #expect(try run(name, ["--wrong"], with: daemon).code == 64)
        #expect(try run(name, ["--group"], with: daemon).code == 64)
        let outcome = try run(name, ["frobnicate"], with: daemon)
        #expect(outcome.code == 1)
        #expect(outcome.errors == "error: what is \"frobnicate\"? --help lists the commands\n")
    }

    @Test("a wrong line is told, and the next one done")
    func wrongLine() throws {
        let widget = try RunningExample("theme-widget", with: daemon)
        widget.type("theme loud")
        #expect(try widget.process.readErrorLine() == "error: theme takes light, dark, sepia")
        widget.type("theme dark")
        try widget.expect("widgetTheme: light → dark")
    }

    @Test("groups are apart")
    func groups() throws {
        let here = try RunningExample("theme-widget", with: daemon, group: "group.com.example.here")
        let there = try RunningExample("theme-widget", with: daemon, group: "group.com.example.there")
        here.type("theme dark")
        there.type("theme sepia")
        try here.expect("widgetTheme: light → dark")
        try there.expect("widgetTheme: light → sepia")
    }

    @Test("without a daemon a command fails with the reason", arguments: exampleNames)
    func noDaemon(_ name: String) throws {
        try daemon.kill()
        let word = ["settings-panel": "show", "theme-widget": "show", "login": "in"][name, default: "show"]
        let outcome = try run(name, [word, "Ada"], with: daemon)
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(outcome.errors.hasPrefix("error: appgroupd cannot be reached at "), "\(outcome.errors)")
    }

    @Test("a daemon that comes back is followed on")
    func restart() throws {
        let panel = try RunningExample("settings-panel", with: daemon)
        let widget = try RunningExample("theme-widget", with: daemon)
        try daemon.kill()
        // It is set while nobody is there, seen at once here, and there when the daemon is back.
        panel.type("widget-theme dark")
        try panel.expect("widgetTheme: light → dark")
        try daemon.start()
        try widget.expect("widgetTheme: light → dark")
    }

    @Test("in a terminal the frame is drawn again when another program changes what it shows")
    func terminal() throws {
        // script(1) gives the program a terminal.
        let widget = try ChildProcess(
            "/usr/bin/script", ["-qefc", builtProgram("theme-widget"), "/dev/null"],
            environment: daemon.clientEnvironment.merging(["TERM": "xterm", "SHELL": "/bin/sh"]) { $1 },
            inheriting: false)
        try Self.waitForLine(of: widget, with: "light, blue")
        #expect(try run("settings-panel", ["widget-theme", "dark"], with: daemon).code == 0)
        try Self.waitForLine(of: widget, with: "dark, blue")
        widget.write("color red\n")
        try Self.waitForLine(of: widget, with: "dark, red")
        widget.write("quit\n")
        #expect(try widget.finish().code == 0)
    }

    private static func waitForLine(of program: ChildProcess, with text: String) throws {
        var seen = ""
        while let line = try? program.readLine(seconds: 20) {
            if line.contains(text) { return }
            seen += line + "\n"
        }
        Issue.record("no \(text) in \(seen)")
        throw RunningExample.Missing(line: text)
    }
}
