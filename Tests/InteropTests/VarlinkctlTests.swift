import Foundation
import LinuxIO
import ServiceIO
import TestSupport
import Testing
import Varlink

@Suite("varlinkctl of systemd 257", .enabled(if: Varlinkctl.isAvailable, "not to be had; the output says why"))
struct VarlinkctlTests {
    static let interface = "io.appgroupd.Settings"
    static let group = "group.com.example.app"

    @Test("reads what the service is")
    func info() throws {
        let daemon = try RunningDaemon()
        let info = try Varlinkctl.run(["info", "-j", daemon.socket])
        #expect(info.code == 0 && info.errors.isEmpty, "\(info.errors)")
        let object = try JSON(parsing: info.output).objectValue
        #expect(object?["product"] == "appgroupd")
        let list = try Varlinkctl.run(["list-interfaces", daemon.socket])
        #expect(list.code == 0 && list.output == "io.appgroupd.Settings\norg.varlink.service\n", "\(list)")
        let methods = try Varlinkctl.run(["list-methods", daemon.socket, Self.interface])
        #expect(methods.code == 0, "\(methods.errors)")
        #expect(methods.output.split(separator: "\n").contains { $0.hasSuffix("Watch") })
    }

    @Test("understands both interfaces as they are served", arguments: [interface, "org.varlink.service"])
    func introspect(name: String) throws {
        let daemon = try RunningDaemon()
        let outcome = try Varlinkctl.run(["introspect", daemon.socket, name])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome.errors)")
        // It prints what it understood, in its own layout.
        #expect(try InterfaceDescription(parsing: outcome.output).name == name)
    }

    @Test("finds the .varlink file valid, without a word of complaint")
    func validate() throws {
        let file = RunDirectory.repository("Sources/GroupProtocol/io.appgroupd.Settings.varlink")
        let outcome = try Varlinkctl.run(["validate-idl", file])
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let broken = try Varlinkctl.run(["validate-idl"], input: text.replacing("method Read(", with: "method read("))
        #expect(broken.code != 0)
    }

    private func call(
        _ daemon: RunningDaemon, _ method: String, _ parameters: String, _ options: [String] = []
    ) throws -> ChildProcess.Outcome {
        try Varlinkctl.run(options + ["call", "-j", daemon.socket, "\(Self.interface).\(method)", parameters])
    }

    @Test("calls: Read, Write, and all the forms of a value")
    func calls() throws {
        let daemon = try RunningDaemon()
        let created = try call(daemon, "CreateGroup", #"{"group":"\#(Self.group)"}"#)
        #expect(created.code == 0 && created.errors.isEmpty, "\(created.errors)")
        let values = #"""
            {"":{"real":0.5},"data":{"data":"AAEC/w=="},"ü.b":{"array":[{"integer":-9223372036854775808},
            {"dictionary":{"a":{"boolean":false}}},{"number":"18446744073709551615"}]}}
            """#
        let edits = try #require(try JSON(parsing: values).objectValue).map { key, value in
            JSON.object(["key": .string(key), "value": value])
        }
        let parameters = JSON.object(["group": .string(Self.group), "edits": .array(edits)])
        let write = try call(daemon, "Write", parameters.description)
        #expect(write.code == 0 && write.errors.isEmpty, "\(write.errors)")
        let read = try call(daemon, "Read", #"{"group":"\#(Self.group)"}"#)
        let reply = try JSON(parsing: read.output).objectValue
        #expect(try reply?["values"] == JSON(parsing: values))
        #expect(reply?["position"]?.objectValue?["revision"] == 1)
    }

    @Test("ends with an error on an error reply, names it, and prints its parameters")
    func errors() throws {
        let daemon = try RunningDaemon()
        let missing = try call(daemon, "Read", #"{"group":"group.none"}"#)
        #expect(missing.code == 1)
        #expect(missing.errors.contains("io.appgroupd.Settings.NoSuchGroup"), "\(missing.errors)")
        #expect(try JSON(parsing: missing.output) == ["group": "group.none"])
        let graceful = ["--graceful=io.appgroupd.Settings.NoSuchGroup"]
        let wanted = try call(daemon, "Read", #"{"group":"group.none"}"#, graceful)
        #expect(wanted.code == 0, "\(wanted.errors)")
        let single = try call(daemon, "Watch", #"{"watches":[]}"#)
        #expect(single.code == 1 && single.errors.contains("ExpectedMore"), "\(single.errors)")
        let unknown = try call(daemon, "Nothing", "{}")
        #expect(unknown.code == 1 && unknown.errors.contains("MethodNotFound"), "\(unknown.errors)")
        let wrong = try call(daemon, "Read", #"{"group":5}"#)
        #expect(wrong.code == 1 && wrong.errors.contains("InvalidParameter"), "\(wrong.errors)")
    }

    @Test("--more follows a group as JSON-SEQ")
    func watch() throws {
        let daemon = try RunningDaemon()
        let client = try SettingsClient(daemon)
        try client.call("CreateGroup", ["group": .string(Self.group)])
        let watch = try Varlinkctl.start([
            "--more", "call", "-j", daemon.socket, "\(Self.interface).Watch",
            #"{"watches":[{"group":"\#(Self.group)"}]}"#,
        ])
        #expect(try next(of: watch)["snapshot"]?.objectValue?["reason"] == "initial")
        for number in 1...3 as ClosedRange<Int64> {
            try client.write(Self.group, [("n", ["integer": .integer(number)])])
            #expect(try next(of: watch)["commit"]?.objectValue?["revision"] == .integer(number))
        }
        watch.kill(SIGTERM)
    }

    private func next(of process: ChildProcess) throws -> JSONObject {
        let line = try #require(try process.readLine())
        #expect(line.first == "\u{1E}")
        return try #require(try JSON(parsing: String(line.dropFirst())).objectValue)
    }

    @Test("--oneway does it without a reply")
    func oneway() throws {
        let daemon = try RunningDaemon()
        let client = try SettingsClient(daemon)
        try client.call("CreateGroup", ["group": .string(Self.group)])
        let observer = try Observer(daemon, Self.group)
        let edits = #"{"group":"\#(Self.group)","edits":[{"key":"a","value":{"integer":1}}]}"#
        // It ends as soon as it has sent. Who is gone before the daemon looks cannot be told from an application in a sandbox
        // and is refused, so what it sends is passed on by one that stays.
        let relay = daemon.directory.file("relay")
        let listener = try ListeningSocket.bind(relay)
        let outcome = try Varlinkctl.run(["--oneway", "call", "-j", relay, "\(Self.interface).Write", edits])
        #expect(outcome.code == 0 && outcome.output.isEmpty && outcome.errors.isEmpty, "\(outcome)")
        let message = try Self.firstBytes(at: listener)
        let peer = try daemon.peer()
        try peer.send(message)
        #expect(try observer.next() == SeenCommit(revision: 1, kind: "client", changes: ["a": ["integer": 1]]))
        #expect(peer.isQuiet(milliseconds: 50))
    }

    /// What the first client sent before it ended.
    private static func firstBytes(at listener: ListeningSocket) throws -> [UInt8] {
        var message = [UInt8](repeating: 0, count: 4096)
        guard let client = try listener.accept(), case .bytes(let count) = try client.receive(into: &message) else {
            return []
        }
        return Array(message[..<count])
    }
}
