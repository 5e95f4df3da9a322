import Foundation
import TestSupport
import Testing

/// An example that runs, with a pipe for its input and one for its lines. Used by one test.
struct RunningExample {
    let name: String
    let process: ChildProcess

    /// Starts it and waits until it follows the group: from then on it sees every change.
    init(_ name: String, with daemon: RunningDaemon, group: String? = nil) throws {
        self.name = name
        let options = group.map { ["--group", $0] } ?? []
        process = try ChildProcess(
            builtProgram(name), options, environment: daemon.clientEnvironment, inheriting: false)
        try expect("following \(group ?? "group.com.example.app")")
    }

    func type(_ line: String) {
        process.write(line + "\n")
    }

    /// Waits for a line, whatever comes before it.
    func expect(_ line: String, _ location: SourceLocation = #_sourceLocation) throws {
        try expect([line], location)
    }

    /// Waits for lines in this order, whatever comes between them.
    func expect(_ lines: [String], _ location: SourceLocation = #_sourceLocation) throws {
        var (seen, rest) = ([String](), lines[...])
        while let line = rest.first {
            guard let next = try? process.readLine(seconds: 20) else {
                Issue.record("\(name) did not say \(line), but \(seen)", sourceLocation: location)
                throw Missing(line: line)
            }
            seen.append(next)
            if next == line { rest.removeFirst() }
        }
    }

    /// The next line that is as it should be, whatever comes before it.
    func line(where isMeant: (String) -> Bool) throws -> String {
        while let line = try process.readLine(seconds: 20) {
            if isMeant(line) { return line }
        }
        throw Missing(line: "the end of \(name)")
    }

    struct Missing: Error {
        let line: String
    }

    /// Ends its input; gives what it has said since.
    func quit() throws -> ChildProcess.Outcome {
        process.closeInput()
        return try process.finish()
    }
}

/// Runs an example with a command, to its end.
func run(_ name: String, _ arguments: [String], with daemon: RunningDaemon) throws -> ChildProcess.Outcome {
    try ChildProcess.run(builtProgram(name), arguments, environment: daemon.clientEnvironment, inheriting: false)
}

let exampleNames = ["settings-panel", "theme-widget", "user-profile", "memo", "haptics", "login"]
