import Foundation
import TestSupport

/// What a session with the tool looks like, as a text of commands and all that they print:
///
///     // what comes next, for who reads it
///     $ appgroupctl read $G name
///     plain
///     $ appgroupctl read $G nam
///     ! appgroupctl: group.com.example.app has no key "nam"
///     = 1
///
/// Behind `$` is a line of the shell; the lines after it are its standard output, with `!` its standard error, and with `=` its
/// status where that is not 0. `$G` is the group. What is another at each run is replaced: times, epochs, processes, the
/// directory of the test.
struct Transcript {
    static let group = "group.com.example.app"

    /// Of the store before the first command.
    private static let values = #"""
        {"flag": false, "list": ["Needle", 1], "n": 41, "name": "plain",
         "when": {"date": "1970-01-01T00:00:01.500000Z"}}
        """#

    private struct NoStore: Error {
        let reason: String
    }

    private let daemon: RunningDaemon
    private let environment: [String: String]

    init() throws {
        daemon = try RunningDaemon(isAtStandardPlace: true)
        let programs = daemon.directory.file("bin")
        try FileManager.default.createDirectory(atPath: programs, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(programs)/appgroupctl", withDestinationPath: builtProgram("appgroupctl"))
        environment = daemon.clientEnvironment.merging([
            "PATH": "\(programs):/usr/bin:/bin", "G": Self.group, "LC_ALL": "C.UTF-8", "TZ": "UTC",
            "XDG_CONFIG_HOME": daemon.directory.file("config"), "PLIST": daemon.plist(Self.group),
            "ADMINISTRATOR": daemon.configurationDirectory(.administrator),
        ]) { $1 }
        try daemon.directory.write("values.json", Self.values)
        let start = try run("appgroupctl import -q --create $G values.json && rm values.json")
        guard start.code == 0 else { throw NoStore(reason: start.errors) }
    }

    /// The text with what its commands print now.
    func replayed(_ text: String) throws -> String {
        var lines: [String] = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("//") { lines.append(String(line)) }
            guard line.hasPrefix("$ ") else { continue }
            lines.append(String(line))
            let outcome = try run(String(line.dropFirst(2)))
            lines += printed(outcome.output)
            lines += printed(outcome.errors).map { $0.isEmpty ? "!" : "! \($0)" }
            if outcome.code != 0 { lines.append("= \(outcome.code)") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func run(_ command: String) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            "/bin/sh", ["-c", "cd \(daemon.directory.path); \(command)"], environment: environment, inheriting: false)
    }

    private func printed(_ text: String) -> [String] {
        guard !text.isEmpty else { return [] }
        let lines = same(text).replacing("\0", with: "␀").replacing("\u{1E}", with: "␞")
            .split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return lines.last == "" ? lines.dropLast() : lines.dropLast() + ["\(lines.last ?? "")⏎̸"]
    }

    /// The same at every run.
    private func same(_ text: String) -> String {
        text.replacing(daemon.directory.path, with: "DIR")
            // The dates of values are of other years.
            .replacing(#/20[2-9]\d-?\d\d-?\d\dT\d\d:?\d\d:?\d\d(\.\d+)?Z/#, with: "TIME")
            .replacing(#/[0-9a-f]{32}/#, with: "EPOCH")
            // What a unit is called depends on who runs the tests.
            .replacing(#/ of [^ ]+\.(service|scope|slice)/#, with: "")
            .replacing(#/,"unit":"[^"]*"/#, with: "")
            .replacing(#/appgroupctl\[\d+\](  )? */#) { "appgroupctl[PID]\($0.output.1 ?? " ")" }
            .replacing("[PID] )", with: "[PID])").replacing("[PID] \n", with: "[PID]\n")
            .replacing("[PID] \t", with: "[PID]\t")
            .replacing(#/"processId":\d+/#, with: #""processId":PID"#)
            .replacing(#/"uptime":[0-9.]+/#, with: #""uptime":SECONDS"#).replacing(#/up \d+ s/#, with: "up SECONDS s")
            .replacing(#/in \d+ bytes/#, with: "in SIZE bytes")
            .replacing(", of \(NSUserName())", with: ", of USER")
            .replacing("\"user\":\"\(NSUserName())\"", with: #""user":"USER""#)
    }
}
