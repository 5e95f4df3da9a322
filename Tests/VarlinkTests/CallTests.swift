import Testing
import Varlink

@Suite struct CallTests {
    @Test(arguments: [
        (Call(method: "org.varlink.service.GetInfo"), #"{"method":"org.varlink.service.GetInfo"}"#),
        (Call(method: "a.b.C", mode: .oneway), #"{"method":"a.b.C","oneway":true}"#),
        (
            Call(method: "a.b.C", parameters: ["x": [1, 1.0], "y": .null], mode: .more),
            #"{"method":"a.b.C","parameters":{"x":[1,1.0],"y":null},"more":true}"#
        ),
        (Call(method: "a.b.C", parameters: [:], mode: .upgrade), #"{"method":"a.b.C","upgrade":true}"#),
    ])
    func hasTheseBytes(call: Call, text: String) throws {
        #expect(String(decoding: call.bytes, as: UTF8.self) == text + "\u{0}")
        #expect(try Call(parsing: call.bytes.dropLast()) == call)
    }

    @Test func splicesEncodedParameters() {
        let bytes = Call.bytes(method: "a.b.C", mode: .more, parameters: Array(#"{"k":1}"#.utf8))
        #expect(
            String(decoding: bytes, as: UTF8.self) == #"{"method":"a.b.C","parameters":{"k":1},"more":true}"# + "\u{0}")
    }

    @Test(arguments: [
        ("org.varlink.service.GetInfo", "org.varlink.service", "GetInfo"),
        ("a.B", "a", "B"),
        ("Nope", "", "Nope"),
        ("a.", "a", ""),
        (".", "", ""),
        ("", "", ""),
        ("é.ü.Ä", "é.ü", "Ä"),
    ])
    func dividesTheMethodAtTheLastDot(method: String, interface: String, member: String) {
        #expect(Call(method: method).interface == interface)
        #expect(Call(method: method).member == member)
    }

    /// The strict column, row by row: what is taken.
    @Test(arguments: [
        (#"{"method":"a.b.C"}"#, Call(method: "a.b.C")),
        (" {\"method\" : \"a.b.C\"}\r\n\t ", Call(method: "a.b.C")),
        (#"{"method":"a.b.C","parameters":null}"#, Call(method: "a.b.C")),
        (#"{"method":"a.b.C","parameters":{}}"#, Call(method: "a.b.C")),
        (#"{"parameters":{"x":null},"method":"a.b.C"}"#, Call(method: "a.b.C", parameters: ["x": .null])),
        (#"{"method":"a.b.C","org.example":{"x":[1]}}"#, Call(method: "a.b.C")),
        (#"{"method":"a.b.C","org.example":null}"#, Call(method: "a.b.C")),
        (#"{"method":"a.b.C","more":false,"oneway":false,"upgrade":false}"#, Call(method: "a.b.C")),
        (#"{"method":"a.b.C","more":true,"oneway":false}"#, Call(method: "a.b.C", mode: .more)),
        (#"{"method":"a.b.C","oneway":true}"#, Call(method: "a.b.C", mode: .oneway)),
        (#"{"method":"a.b.C","upgrade":true}"#, Call(method: "a.b.C", mode: .upgrade)),
        (#"{"method":""}"#, Call(method: "")),
    ])
    func takes(text: String, call: Call) throws {
        #expect(try Call(parsing: Array(text.utf8)) == call)
    }

    /// The strict column, row by row: what closes the connection.
    @Test(
        arguments: [
            (#"{"method":"a.b.C","unknown":1}"#, .unknownMember("unknown")),
            (#"{"method":"a.b.C","Method":"a.b.C"}"#, .unknownMember("Method")),
            (#"{"method":"a.b.C","":1}"#, .unknownMember("")),
            (#"{"method":"a.b.C","continues":true}"#, .unknownMember("continues")),
            (#"{"method":"a.b.C","more":true,"oneway":true}"#, .severalFlags),
            (#"{"method":"a.b.C","more":true,"upgrade":true}"#, .severalFlags),
            (#"{"oneway":true,"upgrade":true,"method":"a.b.C"}"#, .severalFlags),
            (#"{"method":"a.b.C","more":1}"#, .invalidMember("more")),
            (#"{"method":"a.b.C","more":"true"}"#, .invalidMember("more")),
            (#"{"method":"a.b.C","oneway":null}"#, .invalidMember("oneway")),
            (#"{"method":"a.b.C","upgrade":{}}"#, .invalidMember("upgrade")),
            (#"{"method":"a.b.C","parameters":[]}"#, .invalidMember("parameters")),
            (#"{"method":"a.b.C","parameters":"x"}"#, .invalidMember("parameters")),
            (#"{"method":"a.b.C","parameters":false}"#, .invalidMember("parameters")),
            (#"{"method":1}"#, .invalidMember("method")),
            (#"{"method":null}"#, .invalidMember("method")),
            ("{}", .missingMethod),
            (#"{"parameters":{}}"#, .missingMethod),
            (#"[{"method":"a.b.C"}]"#, .notAnObject),
            (#""a.b.C""#, .notAnObject),
            ("null", .notAnObject),
            ("GET / HTTP/1.1", .notJSON(JSONError(.unexpectedByte, at: 0))),
            (#"{"method":"a.b.C"} {}"#, .notJSON(JSONError(.trailingBytes, at: 19))),
            (#"{"method":"a.b.C","method":"a.b.C"}"#, .notJSON(JSONError(.duplicateMember, at: 18))),
            (#"{"method":"a.b.C","parameters":{"x":1,"x":1}}"#, .notJSON(JSONError(.duplicateMember, at: 38))),
            (#"{"method":"a.b.C","org.example":{"x":1,"x":1}}"#, .notJSON(JSONError(.duplicateMember, at: 39))),
        ] as [(String, ProtocolViolation)])
    func closesOn(text: String, violation: ProtocolViolation) {
        #expect(throws: violation) { try Call(parsing: Array(text.utf8)) }
    }

    @Test func closesOnInvalidUTF8() {
        let bytes = Array(#"{"method":"a.b."#.utf8) + [0xFF] + Array(#""}"#.utf8)
        #expect(throws: ProtocolViolation.notJSON(JSONError(.invalidUTF8, at: 15))) { try Call(parsing: bytes) }
    }

    @Test func everyPrefixIsAViolation() {
        let bytes = Call(method: "a.b.C", parameters: ["x": [1, "é\n"]], mode: .more).bytes.dropLast()
        for end in 0..<bytes.count {
            #expect(throws: ProtocolViolation.self) { try Call(parsing: bytes[..<end]) }
        }
    }

    @Test func flippedBytesNeverTrap() {
        let seed = TestRandom.printedSeed()
        var random = TestRandom(seed: seed)
        let bytes = Call(method: "a.b.C", parameters: ["x": [1, "é\n"]], mode: .more).bytes.dropLast()
        for _ in 0..<20_000 {
            var damaged = Array(bytes)
            damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = try? Call(parsing: damaged)
            _ = try? Reply(parsing: damaged)
        }
    }
}
