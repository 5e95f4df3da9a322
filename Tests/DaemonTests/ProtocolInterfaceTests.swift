import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("The interface as its text tells it")
struct ProtocolInterfaceTests {
    @Test("serves its own description, word for word")
    func description() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        let info = try peer.ask(#"{"method":"org.varlink.service.GetInfo"}"#)
        #expect(info.parameters["interfaces"] == ["org.varlink.service", "io.appgroupd.Settings"])
        for name in ["vendor", "product", "version", "url"] {
            #expect(info.parameters[name]?.stringValue?.isEmpty == false)
        }
        for (name, text) in [
            ("io.appgroupd.Settings", SettingsInterface.description), ("org.varlink.service", ServiceInterface.text),
        ] {
            let reply = try peer.ask(
                #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"\#(name)"}}"#)
            #expect(reply.parameters == ["description": .string(text)])
        }
    }

    /// One call of each method, as it is answered by a group that has seen everything.
    static let calls: [(method: String, parameters: String)] = [
        ("ListGroups", "{}"),
        ("CreateGroup", #"{"group":"group.com.example.app"}"#),
        ("Write", #"{"group":"group.com.example.app","edits":[{"key":"k","value":{"integer":1}}],"tag":"t"}"#),
        (
            "Write",
            #"{"group":"group.com.example.app","edits":[{"key":"k","operation":"increment","value":{"real":0.5}}]}"#
        ),
        ("Write", #"{"group":"group.com.example.app","edits":[{"key":"k","value":{"integer":2}}],"reset":true}"#),
        ("Read", #"{"group":"group.com.example.app"}"#),
        ("Read", #"{"group":"group.com.example.app","keys":["k*"]}"#),
        ("LogLevel", "{}"),
        ("Describe", #"{"group":"group.com.example.app"}"#),
        ("Describe", #"{"group":"group.com.example.app","key":"size"}"#),
        ("LogLevel", #"{"level":"debug"}"#),
        ("Explain", #"{"group":"group.com.example.app","key":"m"}"#),
        ("Explain", #"{"group":"group.com.example.app","key":"k"}"#),
        ("History", #"{"group":"group.com.example.app","limit":5,"before":100,"keys":["*"]}"#),
        ("Synchronize", "{}"),
        ("Synchronize", #"{"group":"group.com.example.app"}"#),
        ("Repair", #"{"group":"group.com.example.app"}"#),
        ("Status", "{}"),
        ("Status", #"{"observers":true}"#),
        ("Try", #"{"group":"group.com.example.app","edits":[{"key":"k","value":{"integer":7}}],"seconds":60}"#),
        ("EndTrial", #"{"group":"group.com.example.app","revision":1,"keep":true}"#),
        ("Reset", #"{"group":"group.com.example.app","tag":"again"}"#),
        ("DeleteGroup", #"{"group":"group.com.example.app"}"#),
    ]

    @Test("every reply is what the interface says")
    func outputs() throws {
        let daemon = try RunningDaemon { daemon in
            try daemon.put(.managed, ["m": "<true/>"])
            try daemon.put(.defaults, ["d": "<true/>"])
            try daemon.putSchema(SchemaTests.example.replacing("refuse", with: "allow"))
        }
        let peer = try SettingsPeer(daemon)
        for (method, parameters) in Self.calls {
            let reply = try peer.ask(method, parameters)
            #expect(reply.error == nil, "\(method): \(reply)")
            #expect(!reply.continues)
            #expect(
                settingsInterface.firstInvalidOutput(of: reply.parameters, method: method) == nil,
                "\(method): \(reply.parameters)")
        }
        let tested = Set(Self.calls.map(\.method)).union(["Watch", "WatchDocuments"])
        #expect(tested == Set(settingsInterface.methods.map(\.name)))
    }

    @Test("every reply of a watch is what the interface says")
    func watchOutputs() throws {
        let daemon = try RunningDaemon { daemon in
            try daemon.put(.managed, ["m": "<true/>"])
            try daemon.put(.defaults, ["k": "<true/>"])
        }
        let peer = try daemon.peer(with: .example)
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example)])
        var replies = [try watcher.receive()]
        try peer.write(.example, [.set("k", .string("v"))], tag: "t")
        replies.append(try watcher.receive())
        try peer.write(.example, [.remove("k")])
        replies.append(try watcher.receive())
        try peer.call(.deleteGroup(.example))
        replies.append(try watcher.receive())
        for reply in replies {
            #expect(reply.continues)
            #expect(reply.error == nil)
            #expect(settingsInterface.matches(outputs: reply.parameters, method: "Watch"), "\(reply.parameters)")
        }
        #expect(replies.map { $0.parameters.first?.name } == ["snapshot", "commit", "commit", "deleted"])
    }

    @Test("R81: the status tells what there is")
    func status() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .string("12345")), .set("b", .integer(1))])
        let watcher = try daemon.watcher(of: .example)
        try peer.synchronize()
        let status = try #require(try peer.status())
        #expect(status.root == daemon.root)
        #expect(status.state == daemon.state)
        #expect(status.durability == .process)
        #expect(status.uptime > 0)
        #expect(status.clients == 2)
        #expect(status.watches == 1)
        #expect(status.commits == 1)
        #expect(status.problems == [])
        let group = try #require(status.groups.first)
        #expect(status.groups.count == 1)
        #expect(group.keys == 2)
        #expect(group.bytes == 6 + 9)
        #expect(group.watchers == 1)
        #expect(group.plist == .clean)
        #expect(group.watching == .inotify)
        #expect(group.problem == nil)
        #expect(group.position == (try peer.read(.example).position))
        watcher.peer.close()
        // It learns of the end by an event of its own.
        #expect(try eventually { try peer.status()?.watches == 0 })
    }

    /// Calls that provoke each error that a user's daemon can give.
    static let refusals: [(error: String, method: String, parameters: String)] = [
        ("NoSuchGroup", "Read", #"{"group":"no.such"}"#),
        ("NoSuchGroup", "Write", #"{"group":"no.such","edits":[]}"#),
        ("NoSuchGroup", "Reset", #"{"group":"no.such"}"#),
        ("NoSuchGroup", "History", #"{"group":"no.such"}"#),
        ("NoSuchGroup", "Synchronize", #"{"group":"no.such"}"#),
        ("NoSuchGroup", "Repair", #"{"group":"no.such"}"#),
        ("NoSuchGroup", "DeleteGroup", #"{"group":"no.such"}"#),
        ("InvalidGroup", "CreateGroup", #"{"group":"a/b"}"#),
        ("InvalidKey", "Write", #"{"group":"group.com.example.app","edits":[{"key":"\u0001","value":{"integer":1}}]}"#),
        ("InvalidValue", "Write", #"{"group":"group.com.example.app","edits":[{"key":"k","value":{}}]}"#),
        ("WrongType", "Write", #"{"group":"group.com.example.app","edits":[{"key":"s","operation":"toggle"}]}"#),
        (
            "Conflict", "Write",
            #"{"group":"group.com.example.app","edits":[{"key":"s"}],"ifUnchangedSince":0}"#
        ),
        (
            "TooLarge", "Write",
            #"{"group":"group.com.example.app","edits":[{"key":"s","value":{"string":"0123456789"}}]}"#
        ),
    ]

    @Test("every error carries what the interface says", arguments: refusals)
    func refusal(_ row: (error: String, method: String, parameters: String)) throws {
        let daemon = try RunningDaemon(configuration: ["MaxValueSize=10"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("s", .string("x"))])
        let reply = try peer.ask(row.method, row.parameters)
        #expect(reply.error == "io.appgroupd.Settings.\(row.error)")
        #expect(settingsInterface.matches(parameters: reply.parameters, error: row.error), "\(reply.parameters)")
        // Nothing is half done, and nothing was created.
        #expect(try peer.read(.example).values == ["s": .string("x")])
        #expect(try peer.groups() == ["group.com.example.app"])
        #expect(!FileManager.default.fileExists(atPath: "\(daemon.root)/no.such"))
        #expect(!FileManager.default.fileExists(atPath: daemon.journal("no.such")))
    }

    @Test("Watch of an unknown group is NoSuchGroup, and the connection goes on")
    func watchUnknown() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        #expect(try peer.refusal(of: .watch([WatchedGroup(group: .example)])) == .noSuchGroup("group.com.example.app"))
        #expect(try peer.groups() == [])
    }

    @Test("Watch without more is ExpectedMore, and the connection goes on")
    func watchWithoutMore() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let reply = try peer.ask("Watch", #"{"watches":[{"group":"group.com.example.app"}]}"#)
        #expect(reply.error == "org.varlink.service.ExpectedMore")
        #expect(reply.parameters.isEmpty)
        #expect(try peer.groups() == ["group.com.example.app"])
    }

    @Test("the same group twice in one Watch is InvalidParameter")
    func watchTwice() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.watch([WatchedGroup(group: .example), WatchedGroup(group: .example)])
        let reply = try peer.receive()
        #expect(reply.error == "org.varlink.service.InvalidParameter")
        #expect(reply.parameters == ["parameter": "watches"])
    }
}
