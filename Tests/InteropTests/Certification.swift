import TestSupport
import Varlink

/// What `org.varlink.certification` demands, step by step: each method takes what the one before returned.
enum Certification {
    static let interface = "org.varlink.certification"
    static let replyTexts = (1...10).map { JSON.string("Reply number \($0)") }

    struct Step: Sendable {
        let method: String
        var mode = Call.Mode.single
        /// Without the `client_id` that each but Start takes.
        var takes: JSONObject = [:]
        var returns: [JSONObject] = []
    }

    static let steps: [Step] = [
        Step(method: "Test01", returns: [["bool": true]]),
        Step(method: "Test02", takes: ["bool": true], returns: [["int": 1]]),
        Step(method: "Test03", takes: ["int": 1], returns: [["float": 1.0]]),
        Step(method: "Test04", takes: ["float": 1.0], returns: [["string": "ping"]]),
        Step(method: "Test05", takes: ["string": "ping"], returns: [mixture]),
        Step(method: "Test06", takes: mixture, returns: [["struct": .object(mixture)]]),
        Step(method: "Test07", takes: ["struct": .object(mixture)], returns: [["map": map]]),
        Step(method: "Test08", takes: ["map": map], returns: [["set": set]]),
        Step(method: "Test09", takes: ["set": set], returns: [["mytype": myType]]),
        Step(method: "Test10", mode: .more, takes: ["mytype": myType], returns: replyTexts.map { ["string": $0] }),
        Step(method: "Test11", mode: .oneway, takes: ["last_more_replies": .array(replyTexts)]),
        Step(method: "End", returns: [["all_ok": true]]),
    ]

    private static let mixture: JSONObject = [
        "bool": false, "int": 2, "float": .real(.pi), "string": "a lot of string",
    ]
    private static let map: JSON = ["foo": "Foo", "bar": "Bar"]
    private static let set: JSON = ["one": [:], "two": [:], "three": [:]]
    private static let object: JSON = [
        "method": "org.varlink.certification.Test09", "parameters": ["map": map],
    ]
    private static let nested: JSON = [
        "foo": [.null, ["foo": "foo", "bar": "bar"], .null, ["one": "foo", "two": "bar"]],
        "anon": ["foo": true, "bar": false],
    ]
    private static let myType: JSON = [
        "object": object, "enum": "two", "struct": ["first": 1, "second": "2"], "array": ["one", "two", "three"],
        "dictionary": map, "stringset": set, "nullable": .null, "nullable_array_struct": .null, "interface": nested,
    ]

    /// As the interface has it: an absent nullable field and one that is null are the same, and which client called
    /// is compared elsewhere.
    static func normalised(_ object: JSONObject) -> JSONObject {
        JSONObject(object.filter { $0.name != "client_id" && !$0.value.isNull }.map { ($0.name, normalised($0.value)) })
    }

    private static func normalised(_ value: JSON) -> JSON {
        switch value {
        case .object(let object): .object(normalised(object))
        case .array(let elements): .array(elements.map(normalised))
        default: value
        }
    }

    /// The interface as the Python library brings it along.
    static func description() throws -> (text: String, interface: InterfaceDescription) {
        let program = """
            import sys, varlink.tests
            sys.stdout.write(open(varlink.tests.__path__[0] + "/\(interface).varlink").read())
            """
        let text = try PythonVarlink.run(["-c", program]).output
        return (text, try InterfaceDescription(parsing: text, dialect: .full))
    }
}
