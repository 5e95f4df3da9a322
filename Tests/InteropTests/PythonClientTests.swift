import Foundation
import TestSupport
import Testing
import Varlink

@Suite("Python's varlink as a client of the daemon")
struct PythonClientTests {
    static let group = "group.com.example.app"

    /// The scenarios stand in client.py, as a Python program would be written.
    @Test(
        "through its library",
        arguments: ["info", "introspection", "read_and_write", "watch", "errors", "oneway"])
    func library(scenario: String) throws {
        let daemon = try RunningDaemon()
        let outcome = try PythonVarlink.run([RunDirectory.fixture("client.py"), "unix:\(daemon.socket)", scenario])
        #expect(outcome.code == 0, "\(outcome.errors)")
    }

    private func commandLine(_ daemon: RunningDaemon, _ arguments: [String]) throws -> ChildProcess.Outcome {
        try PythonVarlink.run(["-m", "varlink.cli"] + arguments)
    }

    @Test("its command line: info and help")
    func information() throws {
        let daemon = try RunningDaemon()
        let info = try commandLine(daemon, ["info", "unix:\(daemon.socket)"])
        #expect(info.code == 0 && info.errors.isEmpty, "\(info.errors)")
        #expect(info.output.contains("Product: appgroupd\n"))
        #expect(info.output.contains("   io.appgroupd.Settings\n"))
        let help = try commandLine(daemon, ["help", "unix:\(daemon.socket)/io.appgroupd.Settings"])
        #expect(help.code == 0 && help.errors.isEmpty, "\(help.errors)")
        #expect(help.output.contains("method Watch(") && help.output.contains("# Settings shared by programs, live."))
    }

    @Test("its command line: call, its errors, and call -m")
    func calls() throws {
        let daemon = try RunningDaemon()
        let prefix = "unix:\(daemon.socket)/io.appgroupd.Settings."
        let client = try SettingsClient(daemon)
        try client.call("CreateGroup", ["group": .string(Self.group)])
        let edits = #"{"group":"\#(Self.group)","edits":[{"key":"theme","value":{"string":"dark"}}]}"#
        let write = try commandLine(daemon, ["call", prefix + "Write", edits])
        #expect(write.code == 0 && write.errors.isEmpty, "\(write.errors)")
        let reply = try JSON(parsing: write.output).objectValue
        #expect(reply?["changed"] == ["theme"])
        let missing = try commandLine(daemon, ["call", prefix + "Read", #"{"group":"group.none"}"#])
        #expect(missing.errors.contains("io.appgroupd.Settings.NoSuchGroup"))

        let watch = try PythonVarlink.start(
            ["-m", "varlink.cli", "call", "-m", prefix + "Watch", #"{"watches":[{"group":"\#(Self.group)"}]}"#])
        #expect(try nextObject(of: watch)["snapshot"]?.objectValue?["reason"] == "initial")
        try client.write(Self.group, [("theme", ["string": "light"])])
        #expect(try nextObject(of: watch)["commit"]?.objectValue?["revision"] == 2)
        watch.kill(SIGKILL)
    }

    /// Indented JSON, so an object ends with a brace at the beginning of a line.
    private func nextObject(of process: ChildProcess) throws -> JSONObject {
        var text = ""
        while let line = try process.readLine() {
            text += line + "\n"
            if line == "}" { break }
        }
        return try #require(try JSON(parsing: text).objectValue)
    }
}
