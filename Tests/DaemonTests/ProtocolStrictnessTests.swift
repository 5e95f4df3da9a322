import GroupModel
import GroupProtocol
import TestSupport
import Testing
import Varlink

/// Each row of the table of odd calls, on the real socket.
@Suite("What the protocol refuses")
struct ProtocolStrictnessTests {
    struct OddCall: CustomTestStringConvertible, Sendable {
        var name: String
        var message: String

        var testDescription: String { name }

        init(_ name: String, _ message: String) {
            self.name = name
            self.message = message
        }
    }

    static let info = #""method":"org.varlink.service.GetInfo""#

    static let violations = [
        OddCall("unknown header member", "{\(info),\"unknown\":1}"),
        OddCall("more and oneway", "{\(info),\"more\":true,\"oneway\":true}"),
        OddCall("more and upgrade", "{\(info),\"more\":true,\"upgrade\":true}"),
        OddCall("flag that is no boolean", "{\(info),\"more\":1}"),
        OddCall("flag that is null", "{\(info),\"oneway\":null}"),
        OddCall("parameters as an array", "{\(info),\"parameters\":[]}"),
        OddCall("parameters as a text", "{\(info),\"parameters\":\"\"}"),
        OddCall("no JSON", "hello"),
        OddCall("half of JSON", "{\(info)"),
        OddCall("something behind the object", "{\(info)}{}"),
        OddCall("top-level array", "[{\(info)}]"),
        OddCall("top-level text", "\"x\""),
        OddCall("duplicate member", "{\(info),\(info)}"),
        OddCall("duplicate member deep inside", "{\(info),\"parameters\":{\"a\":{\"b\":1,\"b\":1}}}"),
        OddCall("empty message", ""),
        OddCall("no method", "{}"),
        OddCall("method that is no text", #"{"method":1}"#),
        OddCall("lone surrogate", "{\(info),\"parameters\":{\"a\":\"\\ud800\"}}"),
        OddCall("raw line break in a text", "{\(info),\"parameters\":{\"a\":\"\n\"}}"),
        OddCall("nesting without end", String(repeating: "[", count: 100_000)),
    ]

    @Test("closes the connection without a reply, and serves others", arguments: violations)
    func violation(_ call: OddCall) throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer()
        try peer.sendMessage(call.message)
        // What follows is not served any more.
        try? peer.sendMessage("{\(Self.info)}")
        #expect(try peer.readToEnd() == [])
        _ = try SettingsPeer(daemon).status()
    }

    @Test("closes on bytes that are no UTF-8")
    func invalidUTF8() throws {
        let daemon = try RunningDaemon()
        for bytes in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            let peer = try daemon.peer()
            try peer.send(Array(#"{"method":""#.utf8) + bytes + Array("\"}\0".utf8))
            #expect(try peer.readToEnd() == [])
        }
    }

    @Test("replies that are due go out before the connection is closed")
    func repliesBeforeViolation() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer()
        try peer.send(Array("{\(Self.info)}\0nonsense\0".utf8))
        let reply = try Reply(parsing: try peer.readMessageBytes())
        #expect(reply.parameters["product"] == "appgroupd")
        #expect(try peer.readToEnd() == [])
    }

    static let accepted = [
        OddCall("vendor member with a dot", "{\(info),\"org.example\":{\"a\":1}}"),
        OddCall("parameters that are null", "{\(info),\"parameters\":null}"),
        OddCall("parameters that are empty", "{\(info),\"parameters\":{}}"),
        OddCall("white space", " \n\t{ \(info) , \"parameters\" : { } } \n"),
        OddCall("flags that are false", "{\(info),\"more\":false,\"oneway\":false,\"upgrade\":false}"),
        OddCall("more where nothing streams", "{\(info),\"more\":true}"),
        OddCall("upgrade where nothing upgrades", "{\(info),\"upgrade\":true}"),
        OddCall("escapes in the method", #"{"method":"org.varlink.service.\u0047etInfo"}"#),
    ]

    @Test("takes what is merely unusual, with a plain reply", arguments: accepted)
    func unusual(_ call: OddCall) throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        let reply = try peer.ask(call.message)
        #expect(reply.error == nil)
        #expect(!reply.continues)
        #expect(reply.parameters["product"] == "appgroupd")
        #expect(reply.parameters.count == 5)
        // And goes on speaking Varlink.
        #expect(try peer.groups() == [])
    }

    struct Refusal: Sendable {
        var method: String
        var parameters: String
        var error: String
        var field: (name: String, value: String)
    }

    static let refusals = [
        Refusal(
            method: "org.varlink.service.GetInfo", parameters: #"{"zz":1}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "zz")),
        Refusal(
            method: "org.varlink.service.GetInterfaceDescription", parameters: "{}",
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "interface")),
        Refusal(
            method: "org.varlink.service.GetInterfaceDescription", parameters: #"{"interface":"com.example.no"}"#,
            error: "org.varlink.service.InterfaceNotFound", field: ("interface", "com.example.no")),
        Refusal(
            method: "org.varlink.service.Nope", parameters: "{}",
            error: "org.varlink.service.MethodNotFound", field: ("method", "org.varlink.service.Nope")),
        Refusal(
            method: "io.appgroupd.Settings.Nope", parameters: "{}",
            error: "org.varlink.service.MethodNotFound", field: ("method", "io.appgroupd.Settings.Nope")),
        Refusal(
            method: "io.appgroupd.Settings.read", parameters: "{}",
            error: "org.varlink.service.MethodNotFound", field: ("method", "io.appgroupd.Settings.read")),
        Refusal(
            method: "com.example.Other.Method", parameters: "{}",
            error: "org.varlink.service.InterfaceNotFound", field: ("interface", "com.example.Other")),
        Refusal(
            method: "NoDot", parameters: "{}", error: "org.varlink.service.InterfaceNotFound",
            field: ("interface", "")),
        Refusal(
            method: "io.appgroupd.Settings.Read", parameters: #"{"group":"a.b","zz":1}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "zz")),
        Refusal(
            method: "io.appgroupd.Settings.Read", parameters: "{}",
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "group")),
        Refusal(
            method: "io.appgroupd.Settings.Read", parameters: #"{"group":null}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "group")),
        Refusal(
            method: "io.appgroupd.Settings.Read", parameters: #"{"group":"a.b","keys":["x",1]}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "keys")),
        Refusal(
            method: "io.appgroupd.Settings.Write", parameters: #"{"group":"a.b"}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "edits")),
        Refusal(
            method: "io.appgroupd.Settings.Write",
            parameters: #"{"group":"a.b","edits":[{"key":"k","operation":"x"}]}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "edits")),
        Refusal(
            method: "io.appgroupd.Settings.Write", parameters: #"{"group":"a.b","edits":[],"ifUnchangedSince":1.0}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "ifUnchangedSince")),
        Refusal(
            method: "io.appgroupd.Settings.Write",
            parameters: #"{"group":"a.b","edits":[],"ifUnchangedSince":9223372036854775808}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "ifUnchangedSince")),
        Refusal(
            method: "io.appgroupd.Settings.History", parameters: #"{"group":"a.b","limit":-1}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "limit")),
        Refusal(
            method: "io.appgroupd.Settings.ListGroups", parameters: #"{"group":"a.b"}"#,
            error: "org.varlink.service.InvalidParameter", field: ("parameter", "group")),
    ]

    @Test("answers what it cannot serve with the right error", arguments: refusals)
    func refusal(_ row: Refusal) throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        let reply = try peer.ask(#"{"method":"\#(row.method)","parameters":\#(row.parameters)}"#)
        #expect(reply.error == row.error)
        #expect(reply.parameters == [row.field.name: .string(row.field.value)])
        #expect(try peer.groups() == [])
    }

    @Test("a name of any length is repeated in its error as far as somebody may mean it")
    func longNames() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let name = String(repeating: "x", count: 8_000_000)
        let calls = [
            #"{"method":"a.\#(name).B"}"#, #"{"method":"io.appgroupd.Settings.\#(name)"}"#,
            #"{"method":"io.appgroupd.Settings.Read","parameters":{"group":"\#(name)"}}"#,
            #"{"method":"io.appgroupd.Settings.ListGroups","parameters":{"\#(name)":1}}"#,
            #"{"method":"io.appgroupd.Settings.Write","parameters":{"group":"\#(GroupIdentifier.example)","edits":[{"key":"\#(name)","value":{"integer":1}}]}}"#,
        ]
        for call in calls {
            try peer.peer.sendMessage(call)
            let bytes = try peer.peer.readMessageBytes()
            #expect(bytes.count < 10_000, "\(call.prefix(60))")
            let texts = try Reply(parsing: bytes).parameters.compactMap(\.value.stringValue)
            #expect(texts.contains { $0.hasSuffix("xxx…") && $0.utf8.count > 4000 })
        }
    }

    @Test(
        "every group identifier that could leave the root is InvalidGroup",
        arguments: [
            "", ".", "..", ".trash", "-x", "a..b", "a/b", "/etc", "a b", "ä", "a\\u0000b",
            String(repeating: "x", count: 201),
        ])
    func invalidGroups(_ name: String) throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        for method in ["CreateGroup", "DeleteGroup", "Read", "Reset", "Synchronize", "Repair", "History"] {
            let reply = try peer.ask(method, #"{"group":"\#(name)"}"#)
            #expect(reply.error == "io.appgroupd.Settings.InvalidGroup", "\(method)")
            #expect(settingsInterface.matches(parameters: reply.parameters, error: "InvalidGroup"))
        }
    }
}
