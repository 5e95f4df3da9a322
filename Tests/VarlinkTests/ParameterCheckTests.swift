import Testing
import Varlink

@Suite struct ParameterCheckTests {
    private static let interface = try? InterfaceDescription(
        parsing: """
            interface a.b
            type Value (integer: ?int, real: ?float, array: ?[]Value, dictionary: ?[string]Value)
            type Edit (key: string, operation: ?(set, remove), value: ?Value)
            method Write(group: string, edits: []Edit, durable: ?bool, raw: ?object) -> (revision: int, uptime: float)
            method Watch(watches: [](group: string, keys: ?[]string)) -> ()
            method Ping() -> ()
            error Bad (reason: string)
            """)

    private func parameters(_ text: String) throws -> JSONObject {
        try #require(try JSON(parsing: text).objectValue)
    }

    @Test(arguments: [
        ("Ping", "{}"),
        ("Write", #"{"group":"g","edits":[]}"#),
        ("Write", #"{"edits":[],"durable":null,"group":"","raw":{"x":[1]}}"#),
        ("Write", #"{"group":"g","edits":[{"key":"k"},{"key":"k","operation":null,"value":{"integer":1}}]}"#),
        ("Write", #"{"group":"g","edits":[{"key":"k","operation":"remove"}],"durable":false}"#),
        ("Write", #"{"group":"g","edits":[{"key":"k","value":{"real":1}},{"key":"k","value":{"real":1.5}}]}"#),
        ("Write", #"{"group":"g","edits":[{"key":"k","value":{"array":[{"dictionary":{"":{"array":[]}}}]}}]}"#),
        ("Watch", #"{"watches":[{"group":"g","keys":["*"]},{"group":"h"}]}"#),
    ])
    func takes(method: String, text: String) throws {
        let interface = try #require(Self.interface)
        #expect(interface.firstInvalidParameter(of: try parameters(text), method: method) == nil)
    }

    @Test(arguments: [
        ("Ping", #"{"zz":1}"#, "zz"),
        ("Ping", #"{"zz":null}"#, "zz"),
        ("Write", "{}", "group"),
        ("Write", #"{"group":"g"}"#, "edits"),
        ("Write", #"{"group":null,"edits":[]}"#, "group"),
        ("Write", #"{"group":1,"edits":[]}"#, "group"),
        ("Write", #"{"group":"g","edits":{}}"#, "edits"),
        ("Write", #"{"group":"g","edits":[null]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[],"durable":"true"}"#, "durable"),
        ("Write", #"{"group":"g","edits":[],"durable":1}"#, "durable"),
        ("Write", #"{"group":"g","edits":[],"raw":[]}"#, "raw"),
        ("Write", #"{"group":"g","edits":[],"Group":"g"}"#, "Group"),
        ("Write", #"{"group":"g","edits":[{}]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[{"key":"k","zz":1}]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[{"key":"k","operation":"Set"}]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[{"key":"k","operation":1}]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[{"key":"k","value":1}]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[{"key":"k","value":{"integer":1.0}}]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[{"key":"k","value":{"integer":18446744073709551615}}]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[{"key":"k","value":{"real":"1"}}]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[{"key":"k","value":{"dictionary":{"a":null}}}]}"#, "edits"),
        ("Write", #"{"group":"g","edits":[{"key":"k","value":{"array":[{"array":[{"integer":true}]}]}}]}"#, "edits"),
        ("Watch", #"{"watches":[{"group":"g","keys":[1]}]}"#, "watches"),
        ("Watch", #"{"watches":[{"keys":[]}]}"#, "watches"),
    ])
    func namesTheParameter(method: String, text: String, parameter: String) throws {
        let interface = try #require(Self.interface)
        #expect(interface.firstInvalidParameter(of: try parameters(text), method: method) == parameter)
    }

    @Test func checksOutputsAndErrors() throws {
        let interface = try #require(Self.interface)
        #expect(interface.matches(outputs: ["revision": 1, "uptime": 1], method: "Write"))
        #expect(!interface.matches(outputs: ["revision": 1], method: "Write"))
        #expect(!interface.matches(outputs: ["revision": 1, "uptime": 1, "zz": 1], method: "Write"))
        #expect(!interface.matches(outputs: [:], method: "NoSuchMethod"))
        #expect(interface.firstInvalidOutput(of: ["revision": 1.0], method: "Write") == "revision")
        #expect(interface.matches(parameters: ["reason": "x"], error: "Bad"))
        #expect(!interface.matches(parameters: [:], error: "Bad"))
        #expect(!interface.matches(parameters: [:], error: "NoSuchError"))
    }

    /// The Kelvin sign is canonically equivalent to K, which makes the two equal for Swift.
    @Test func namesAreComparedByteForByte() throws {
        let interface = try InterfaceDescription(
            parsing: "interface a.b\nmethod K(K: ?int) -> ()\ntype E (K, L)\nmethod M(e: E) -> ()\n")
        #expect(interface.method(named: "K") != nil)
        #expect(interface.method(named: "\u{212A}") == nil)
        #expect(interface.firstInvalidParameter(of: ["K": 1], method: "K") == nil)
        let invalid = try #require(interface.firstInvalidParameter(of: ["\u{212A}": 1], method: "K"))
        #expect(Array(invalid.utf8) == [0xE2, 0x84, 0xAA])
        #expect(interface.firstInvalidParameter(of: ["e": "\u{212A}"], method: "M") == "e")
    }

    @Test func recursionEndsWithTheValue() throws {
        let interface = try #require(Self.interface)
        var value: JSON = ["integer": 1]
        for _ in 0..<60 { value = ["array": [value]] }
        let edits: JSON = [["key": "k", "value": value]]
        #expect(interface.firstInvalidParameter(of: ["group": "g", "edits": edits], method: "Write") == nil)
    }

    @Test func manyElementsAndMembersAreCheckedOnce() throws {
        let interface = try #require(Self.interface)
        let map = JSONObject((0..<100_000).map { ("k\($0)", ["integer": 1]) })
        let edits: JSON = [["key": "k", "value": ["dictionary": .object(map)]]]
        #expect(interface.firstInvalidParameter(of: ["group": "g", "edits": edits], method: "Write") == nil)
        #expect(interface.firstInvalidParameter(of: map, method: "Write") == "k0")
    }
}
