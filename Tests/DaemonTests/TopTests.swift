import Foundation
import GroupModel
import PropertyList
import TestSupport
import Testing

/// `appgroupctl top` in a real terminal, which tmux plays.
@Suite("top in a terminal")
struct TopTests {
    /// A terminal with the shell's line after the tool's.
    private final class TerminalWindow {
        private let daemon: RunningDaemon
        private let server: String

        init(_ daemon: RunningDaemon, columns: Int, rows: Int, _ arguments: String = "") throws {
            self.daemon = daemon
            server = daemon.directory.file("tmux")
            let tool = "\(builtProgram("appgroupctl")) --socket \(daemon.socket) top \(arguments)"
            let modes = "stty -a | tr ';' '\\n' | grep -wE 'icanon|-icanon|echo|-echo'"
            let shell = "\(tool); status=$?; \(modes); echo ended $status; cat"
            try run(["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "sh", "-c", shell])
        }

        deinit { _ = try? run(["kill-server"]) }

        @discardableResult
        func run(_ arguments: [String]) throws -> String {
            let environment = [
                "HOME": daemon.directory.path, "LANG": "C.UTF-8", "PATH": "/usr/bin:/bin", "TERM": "xterm",
            ]
            let run = try ChildProcess.run(
                "/usr/bin/env", ["tmux", "-f", "/dev/null", "-S", server, "-u"] + arguments, environment: environment)
            try #require(run.code == 0, "\(arguments) \(run.errors)")
            return run.output
        }

        var screen: String { (try? run(["capture-pane", "-p"])) ?? "" }

        /// Waits until the screen has it.
        func expect(_ text: String, _ location: SourceLocation = #_sourceLocation) {
            let isThere = eventually(seconds: 60) { screen.contains(text) }
            #expect(isThere, "\(text) in:\n\(screen)", sourceLocation: location)
        }

        func press(_ keys: String...) throws { try run(["send-keys"] + keys) }

        /// The normal screen, a cursor, lines and echo, as before.
        func expectRestored(status: Int, _ location: SourceLocation = #_sourceLocation) throws {
            expect("ended \(status)", location)
            #expect(
                try run(["display-message", "-p", "#{alternate_on} #{cursor_flag}"]) == "0 1\n",
                sourceLocation: location)
            let modes = screen.split(whereSeparator: \.isWhitespace)
            #expect(modes.contains("icanon") && modes.contains("echo"), "\(screen)", sourceLocation: location)
        }
    }

    private static let group = "group.com.example.app"

    @Test("shows, follows, edits, undoes, resizes, and gives the terminal back", arguments: [(80, 24), (200, 50)])
    func use(_ columns: Int, _ rows: Int) throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        let window = try TerminalWindow(daemon, columns: columns, rows: rows)
        window.expect("\"plain\"")
        window.expect("q quit")
        try peer.write(.example, [.set("n", .integer(4242))])
        window.expect("4242")
        try window.press("/")
        try window.press("n", "a", "m", "Enter")
        window.expect("1 by name, filter \"nam\"")
        try window.press("e")
        window.expect("name = \"plain\"")
        try window.press("C-u")
        try window.press("\"設定\"", "Enter")
        window.expect("\"設定\"")
        #expect(eventually { (try? peer.read(.example).values["name"]) == .string("設定") })
        try window.press("u")
        window.expect("took back name: \"plain\"")
        #expect(try peer.read(.example).values["name"] == .string("plain"))
        try window.run(["resize-window", "-x", "40", "-y", "10"])
        try window.press("3")
        window.expect("BEHIND")
        window.expect("q quit  ? help  / filter  s sort  e edi…")
        try daemon.kill()
        window.expect("appgroupd is not running")
        try daemon.start()
        window.expect("up ")
        try window.press("q")
        try window.expectRestored(status: 0)
    }

    @Test("a signal ends it, and gives the terminal back", arguments: [("TERM", 143), ("INT", 130), ("HUP", 129)])
    func signals(_ signal: String, _ status: Int) throws {
        let (daemon, _) = try ControlVerbTests.daemon()
        let window = try TerminalWindow(daemon, columns: 80, rows: 24)
        window.expect("q quit")
        let pid = try #require(try window.run(["display-message", "-p", "#{pane_pid}"]).split(separator: "\n").first)
        let kill = try ChildProcess.run("/bin/sh", ["-c", "kill -\(signal) $(cat /proc/\(pid)/task/\(pid)/children)"])
        #expect(kill.errors == "")
        try window.expectRestored(status: status)
    }

    @Test("into a pipe it prints lines")
    func lines() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        let tool = try daemon.startControl(["top", "--count", "1"])
        for expected in [
            "flag\tfalse", "list\t[\"Needle\", 1]", "n\t41", "name\t\"plain\"",
            "when\tdate(1970-01-01T00:00:01.500000Z)",
        ] {
            #expect(try tool.readLine() == "\(Self.group)\t\(expected)")
        }
        try peer.write(.example, [.set("n", .integer(42))])
        let fields = try #require(try tool.readLine()).split(separator: "\t").map(String.init)
        #expect([fields[0]] + fields[2...5] == [Self.group, "2", "n", "41", "42"])
        #expect(try tool.finish().code == 0)
    }
}
