import Testing
import Varlink

@Suite struct IDLParserTests {
    typealias TypeExpression = InterfaceDescription.TypeExpression

    private static let head = "interface a.b\n"

    @Test func readsNamesTypesAndComments() throws {
        let interface = try InterfaceDescription(
            parsing: """

                # Not of the interface, because an empty line follows.

                # What it is for.
                #
                #   indented é
                interface io.example-1.Things2 # said on the same line

                # Not of the type either.

                # A value.
                type Value (
                  # What kind.
                  kind: (string, array), # after the comma: of the next field
                  array: ?[]Value,
                  map: ?[string](x:int,y : float)
                )
                #Without a blank.
                method Get(type: ?string, error: bool)->(value: Value, raw: object)
                error NoSuchThing ()\t
                error Bad(method: string)
                """)
        #expect(interface.name == "io.example-1.Things2")
        #expect(interface.documentation == "What it is for.\n\n  indented é")
        #expect(interface.types.map(\.name) == ["Value"])
        #expect(interface.types[0].documentation == "A value.")
        guard case .structure(let fields)? = interface.type(named: "Value") else {
            Issue.record("Value is no struct")
            return
        }
        #expect(fields.map(\.name) == ["kind", "array", "map"])
        #expect(fields.map(\.documentation) == ["What kind.", "after the comma: of the next field", ""])
        #expect(fields[0].type == .enumeration(["string", "array"]))
        #expect(fields[1].type == .nullable(.array(.named("Value"))))
        let method = try #require(interface.method(named: "Get"))
        #expect(method.documentation == "Without a blank.")
        #expect(method.input.map(\.name) == ["type", "error"])
        #expect(method.input.map(\.type) == [.nullable(.string), .bool])
        #expect(method.output.map(\.type) == [.named("Value"), .object])
        #expect(interface.errors.map(\.name) == ["NoSuchThing", "Bad"])
        #expect(interface.error(named: "Bad")?.fields.map(\.type) == [.string])
    }

    @Test(arguments: [
        "interface a.b",
        "interface a.b\r\n\r\nmethod M() -> ()\r\n",
        "interface a.1.b--c\n",
        "interface xn--lgbbat1ad8j.example.algeria\n",
        "interface a.b\nmethod M\n(\n)\n->\n(\n)\n",
        "interface a.b\nmethod M(a_b_c1: int, Capital: ?bool) -> ( )\n",
        "interface a.b\nerror E ( a: string )\n",
        "interface a.b\ntype A (b: ?B)\ntype B (a: []A, c: [string]A)\n",
        "interface a.b\ntype E (one)\n",
        "interface a.b\ntype T (a: ?[](x: (p, q)), b: ?(y: float))\n",
        "interface a.b\nmethod M(\n# about a\na: int\n) -> (# nothing\n)\n# the end",
    ])
    func takes(text: String) throws {
        _ = try InterfaceDescription(parsing: text)
        _ = try InterfaceDescription(parsing: text, dialect: .full)
    }

    @Test(
        arguments: [
            ("", .expected("interface"), 1, 1),
            ("interfaces a.b\n", .expected(" "), 1, 10),
            ("interface a\n", .invalidName, 1, 11),
            ("interface a.\n", .invalidName, 1, 11),
            ("interface 1.b\n", .invalidName, 1, 11),
            ("interface a..b\n", .invalidName, 1, 11),
            ("interface a.b-\n", .invalidName, 1, 11),
            ("interface a.b_c\n", .lineBreakExpected, 1, 14),
            ("interface a.b method M() -> ()\n", .lineBreakExpected, 1, 15),
            (head + "method M() -> () error E ()\n", .lineBreakExpected, 2, 18),
            (head + "struct T (a: int)\n", .expected("type, method or error"), 2, 1),
            (head + "methodM() -> ()\n", .expected("type, method or error"), 2, 1),
            (head + "method m() -> ()\n", .invalidName, 2, 8),
            (head + "method M_N() -> ()\n", .invalidName, 2, 8),
            (head + "method M()\n", .expected("->"), 3, 1),
            (head + "method M() -> (one, two)\n", .expected("fields with types"), 2, 15),
            (head + "method M(a: any) -> ()\n", .unknownType("any"), 2, 13),
            (head + "method M(a: ?any) -> ()\n", .unknownType("any"), 2, 14),
            (head + "method M(a: Integer) -> ()\n", .undefinedType("Integer"), 2, 13),
            (head + "error E ()\nmethod M(a: E) -> ()\n", .undefinedType("E"), 3, 13),
            (head + "method M(a: integer) -> ()\n", .unknownType("integer"), 2, 13),
            (head + "method M(a: ??int) -> ()\n", .misplacedNullable, 2, 14),
            (head + "method M(a:) -> ()\n", .expected("type"), 2, 12),
            (head + "method M(a int) -> ()\n", .expected(")"), 2, 12),
            (head + "method M(a: int b: int) -> ()\n", .expected(")"), 2, 17),
            (head + "method M(a: int,) -> ()\n", .invalidName, 2, 17),
            (head + "method M(a: int, b) -> ()\n", .expected(":"), 2, 19),
            (head + "type T (a, b: int)\n", .expected(")"), 2, 13),
            (head + "method M(value__x: int) -> ()\n", .invalidName, 2, 10),
            (head + "method M(_x: int) -> ()\n", .invalidName, 2, 10),
            (head + "method M(x_: int) -> ()\n", .invalidName, 2, 10),
            (head + "method M(1x: int) -> ()\n", .invalidName, 2, 10),
            (head + "method M(é: int) -> ()\n", .invalidName, 2, 10),
            (head + "method M(a: int, a: int) -> ()\n", .duplicateName("a"), 2, 18),
            (head + "type T (a, a)\n", .duplicateName("a"), 2, 12),
            (head + "error Foo\n", .expected("("), 3, 1),
            (head + "type T\n", .expected("("), 3, 1),
            (head + "type T int\n", .expected("("), 2, 8),
            (head + "type T (a: int)\nmethod T() -> ()\n", .duplicateName("T"), 3, 8),
            (head + "error T ()\nerror T ()\n", .duplicateName("T"), 3, 7),
            (head + "method M(a: int", .expected(")"), 2, 16),
            ("# é\ninterface a.b\n# éé\nmethod M(a: [int]string) -> ()\n", .expected("type"), 4, 13),
        ] as [(String, IDLError.Reason, Int, Int)])
    func refusesInBothDialects(text: String, reason: IDLError.Reason, line: Int, column: Int) {
        for dialect in [InterfaceDescription.Dialect.common, .full] {
            let error = #expect(throws: IDLError.self) { try InterfaceDescription(parsing: text, dialect: dialect) }
            #expect(error?.reason == reason)
            #expect(error?.line == line)
            #expect(error?.column == column)
        }
    }

    /// What the grammar has and sd-varlink does not take.
    @Test(
        arguments: [
            (head + "method M(a: []?[]string) -> ()\n", .misplacedNullable),
            (head + "method M(a: []?string) -> ()\n", .misplacedNullable),
            (head + "method M(a: [][]string) -> ()\n", .nestedContainer),
            (head + "method M(a: [string]()) -> ()\n", .ambiguousEmptyType),
            (head + "type T ()\n", .ambiguousEmptyType),
            (head + "method M(a: int # about a\n) -> ()\n", .expected(")")),
        ] as [(String, IDLError.Reason)])
    func refusesUnlessToldToReadTheFullGrammar(text: String, reason: IDLError.Reason) throws {
        let error = #expect(throws: IDLError.self) { try InterfaceDescription(parsing: text) }
        #expect(error?.reason == reason)
        _ = try InterfaceDescription(parsing: text, dialect: .full)
    }

    @Test(arguments: ["[]", "(a:", "?(a:", "[string](a:"])
    func boundsTheDepth(opening: String) {
        let text = "interface a.b\ntype T (a: \(String(repeating: opening, count: 100_000))"
        let error = #expect(throws: IDLError.self) { try InterfaceDescription(parsing: text, dialect: .full) }
        #expect(error?.reason == .tooDeep)
    }

    @Test func damagedTextsNeverTrap() {
        let seed = TestRandom.printedSeed()
        var random = TestRandom(seed: seed)
        let text = Array(CertificationInterface.text.utf8)
        for end in 0..<text.count {
            _ = try? InterfaceDescription(parsing: String(decoding: text[..<end], as: UTF8.self), dialect: .full)
        }
        for _ in 0..<1000 {
            var bytes = text
            bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            _ = try? InterfaceDescription(parsing: String(decoding: bytes, as: UTF8.self), dialect: .full)
        }
    }

    @Test func readsTheCertificationInterface() throws {
        let interface = try InterfaceDescription(parsing: CertificationInterface.text, dialect: .full)
        #expect(interface.name == "org.varlink.certification")
        #expect(interface.types.map(\.name) == ["Interface", "MyType"])
        let tests = (1...11).map { $0 < 10 ? "Test0\($0)" : "Test\($0)" }
        #expect(interface.methods.map(\.name) == ["Start"] + tests + ["End"])
        #expect(interface.errors.map(\.name) == ["ClientIdError", "CertificationError"])
        #expect(interface.method(named: "Test10")?.documentation == #"returns more than one reply with "continues""#)
        guard case .structure(let fields)? = interface.type(named: "Interface") else {
            Issue.record("Interface is no struct")
            return
        }
        #expect(fields[0].type == .nullable(.array(.nullable(.map(.enumeration(["foo", "bar", "baz"]))))))
        let reply: JSONObject = ["mytype": try JSON(parsing: CertificationInterface.myType)]
        #expect(interface.firstInvalidOutput(of: reply, method: "Test09") == nil)
    }
}
