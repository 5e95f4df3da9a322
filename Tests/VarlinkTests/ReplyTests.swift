import Testing
import Varlink

@Suite struct ReplyTests {
    @Test(arguments: [
        (Reply(), "{}"),
        (Reply(continues: true), #"{"continues":true}"#),
        (Reply(parameters: ["x": 1]), #"{"parameters":{"x":1}}"#),
        (Reply(parameters: ["x": 1], continues: true), #"{"parameters":{"x":1},"continues":true}"#),
        (Reply(error: "a.b.Bad"), #"{"error":"a.b.Bad"}"#),
        (
            Reply(parameters: ["group": "g"], error: "a.b.NoSuchGroup"),
            #"{"error":"a.b.NoSuchGroup","parameters":{"group":"g"}}"#
        ),
    ])
    func hasTheseBytes(reply: Reply, text: String) throws {
        #expect(String(decoding: reply.bytes, as: UTF8.self) == text + "\u{0}")
        #expect(try Reply(parsing: reply.bytes.dropLast()) == reply)
    }

    @Test(arguments: [
        (#"{"x":1}"#, false, #"{"parameters":{"x":1}}"#),
        (#"{"x":1}"#, true, #"{"parameters":{"x":1},"continues":true}"#),
        ("{}", false, "{}"),
        ("{}", true, #"{"continues":true}"#),
        ("", false, "{}"),
    ])
    func splicesEncodedParameters(raw: String, continues: Bool, text: String) {
        let bytes = Reply.bytes(parameters: Array(raw.utf8), continues: continues)
        #expect(String(decoding: bytes, as: UTF8.self) == text + "\u{0}")
    }

    @Test func writesParametersMemberByMember() {
        let bytes = Reply.bytes(continues: true) { $0.member("commit", integer: 1) }
        #expect(String(decoding: bytes, as: UTF8.self) == #"{"parameters":{"commit":1},"continues":true}"# + "\u{0}")
    }

    @Test(arguments: [
        (#"{"parameters":null}"#, Reply()),
        (#"{"parameters":{}}"#, Reply()),
        (#"{"continues":false}"#, Reply()),
        (#"{"continues":false,"error":"a.b.Bad"}"#, Reply(error: "a.b.Bad")),
        (" {} \n", Reply()),
    ])
    func takes(text: String, reply: Reply) throws {
        #expect(try Reply(parsing: Array(text.utf8)) == reply)
    }

    @Test(
        arguments: [
            (#"{"unknown":1}"#, .unknownMember("unknown")),
            (#"{"org.example":{}}"#, .unknownMember("org.example")),
            (#"{"error":null}"#, .invalidMember("error")),
            (#"{"error":""}"#, .invalidMember("error")),
            (#"{"error":1}"#, .invalidMember("error")),
            (#"{"continues":null}"#, .invalidMember("continues")),
            (#"{"continues":1}"#, .invalidMember("continues")),
            (#"{"parameters":[]}"#, .invalidMember("parameters")),
            (#"{"continues":true,"error":"a.b.Bad"}"#, .errorContinues),
            ("[]", .notAnObject),
            ("", .notJSON(JSONError(.unexpectedEnd, at: 0))),
        ] as [(String, ProtocolViolation)])
    func closesOn(text: String, violation: ProtocolViolation) {
        #expect(throws: violation) { try Reply(parsing: Array(text.utf8)) }
    }
}

@Suite struct ServiceInterfaceTests {
    private static let errors: [ServiceError] = [
        .interfaceNotFound("a.b"), .methodNotFound("a.b.C"), .methodNotImplemented("a.b.C"),
        .invalidParameter("x"), .permissionDenied, .expectedMore, .expectedUpgrade,
    ]

    @Test(
        arguments: zip(
            errors,
            [
                #"{"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"a.b"}}"#,
                #"{"error":"org.varlink.service.MethodNotFound","parameters":{"method":"a.b.C"}}"#,
                #"{"error":"org.varlink.service.MethodNotImplemented","parameters":{"method":"a.b.C"}}"#,
                #"{"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"x"}}"#,
                #"{"error":"org.varlink.service.PermissionDenied"}"#,
                #"{"error":"org.varlink.service.ExpectedMore"}"#,
                #"{"error":"org.varlink.service.ExpectedUpgrade"}"#,
            ]))
    func errorsHaveTheseBytes(error: ServiceError, text: String) throws {
        #expect(String(decoding: error.replyBytes, as: UTF8.self) == text + "\u{0}")
        #expect(ServiceError(try Reply(parsing: error.replyBytes.dropLast())) == error)
    }

    @Test func everyErrorIsDescribed() throws {
        let interface = try InterfaceDescription(parsing: ServiceInterface.text)
        #expect(interface.errors.map { "org.varlink.service.\($0.name)" } == Self.errors.map(\.name))
        for (error, declaration) in zip(Self.errors, interface.errors) {
            #expect(interface.matches(parameters: error.parameters, error: declaration.name))
        }
    }

    @Test func repliesAreAsDescribed() throws {
        let interface = try InterfaceDescription(parsing: ServiceInterface.text)
        let info = ServiceInterface.Info(
            vendor: "v", product: "p", version: "1", url: "https://example.org", interfaces: [ServiceInterface.name])
        #expect(interface.name == ServiceInterface.name)
        #expect(interface.matches(outputs: info.parameters, method: "GetInfo"))
        let text =
            #"{"parameters":{"vendor":"v","product":"p","version":"1","url":"https://example.org","#
            + #""interfaces":["org.varlink.service"]}}"# + "\u{0}"
        #expect(String(decoding: info.replyBytes, as: UTF8.self) == text)
        let description = try Reply(parsing: ServiceInterface.descriptionReply(ServiceInterface.text).dropLast())
        #expect(interface.matches(outputs: description.parameters, method: "GetInterfaceDescription"))
        #expect(description.parameters["description"] == .string(ServiceInterface.text))
    }

    @Test func aReplyOfAnotherInterfaceIsNoServiceError() {
        #expect(ServiceError(Reply()) == nil)
        #expect(ServiceError(Reply(error: "a.b.PermissionDenied")) == nil)
    }
}
