import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite struct ValueWireTests {
    @Test(
        arguments: [
            (#"{"string":"a"}"#, .string("a")), (#"{"string":""}"#, .string("")), (#"{"integer":1}"#, .integer(1)),
            (#"{"integer":-9223372036854775808}"#, .integer(.min)),
            (#"{"integer":9223372036854775807}"#, .integer(.max)),
            (#"{"integer":-0}"#, .integer(0)), (#"{"real":1}"#, .real(1)), (#"{"real":1.0}"#, .real(1)),
            (#"{"real":-0.0}"#, .real(-0.0)), (#"{"real":1e3}"#, .real(1000)), (#"{"boolean":false}"#, .boolean(false)),
            (#"{"date":"1970-01-01T00:00:00Z"}"#, .date(Timestamp(microseconds: 0))),
            (#"{"date":"1970-01-01T00:00:00.5Z"}"#, .date(Timestamp(microseconds: 500_000))),
            (#"{"date":"1969-12-31T23:59:59.999999Z"}"#, .date(Timestamp(microseconds: -1))),
            (#"{"data":""}"#, .data([])), (#"{"data":"AA=="}"#, .data([0])),
            (#"{"data":"//79"}"#, .data([255, 254, 253])),
            (#"{"array":[]}"#, .array([])),
            (#"{"array":[{"integer":1},{"array":[]}]}"#, .array([.integer(1), .array([])])),
            (#"{"dictionary":{}}"#, .dictionary([:])),
            (#"{"dictionary":{"":{"real":2}}}"#, .dictionary(["": .real(2)])),
            (#"{"number":"9223372036854775808"}"#, .unsignedInteger(1 << 63)),
            (#"{"number":"18446744073709551615"}"#, .unsignedInteger(.max)), (#"{"number":"nan"}"#, .real(.nan)),
            (#"{"number":"+infinity"}"#, .real(.infinity)), (#"{"number":"-infinity"}"#, .real(-.infinity)),
            (#"{"string":null,"integer":1,"real":null}"#, .integer(1)),
        ] as [(String, Value)])
    func isTaken(text: String, value: Value) throws {
        #expect(try Value(wire: JSON(text: text)) == value)
    }

    @Test(arguments: [
        #"{}"#, #"{"string":null}"#, #"{"integer":1,"real":1.0}"#, #"{"string":"a","boolean":true}"#,
        #"{"integer":1.0}"#, #"{"integer":1e3}"#, #"{"integer":9223372036854775808}"#,
        #"{"data":"AA"}"#, #"{"data":"AA="}"#, #"{"data":"A==="}"#, #"{"data":"AAA"}"#, #"{"data":"A A="}"#,
        #"{"data":"AA==\n"}"#, #"{"data":"_-8="}"#, #"{"data":"AB=="}"#, #"{"data":"===="}"#,
        #"{"date":"2026-11-30T09:00:00"}"#, #"{"date":"2026-11-30T09:00:00+00:00"}"#,
        #"{"date":"2026-11-30T09:00:00z"}"#, #"{"date":"2026-11-30 09:00:00Z"}"#, #"{"date":"2026-11-30"}"#,
        #"{"date":"2026-02-29T00:00:00Z"}"#, #"{"date":"0000-01-01T00:00:00Z"}"#,
        #"{"date":"2026-11-30T09:00:00.1234567Z"}"#, #"{"date":"2026-11-30T23:59:60Z"}"#, #"{"date":""}"#,
        #"{"number":""}"#, #"{"number":"5"}"#, #"{"number":"9223372036854775807"}"#,
        #"{"number":"18446744073709551616"}"#, #"{"number":"+9223372036854775808"}"#,
        #"{"number":"09223372036854775808"}"#, #"{"number":"-1"}"#, #"{"number":"1.5"}"#, #"{"number":"NaN"}"#,
        #"{"number":"inf"}"#, #"{"number":"infinity"}"#, #"{"number":" nan"}"#,
        #"{"array":[{"integer":1},{}]}"#, #"{"dictionary":{"a":{"integer":1.0}}}"#,
    ])
    func hasAContentThatIsRefused(text: String) throws {
        let json = try JSON(text: text)
        let problem = #expect(throws: WireValueProblem.self) { try Value(wire: json) }
        guard case .content(let reason) = problem else {
            Issue.record("\(String(describing: problem))")
            return
        }
        #expect(!reason.isEmpty)
    }

    @Test(arguments: [
        "null", "1", "true", #""a""#, "[]", #"{"string":1}"#, #"{"integer":"1"}"#, #"{"integer":true}"#,
        #"{"real":"1"}"#, #"{"real":true}"#, #"{"boolean":1}"#, #"{"boolean":"true"}"#, #"{"date":0}"#,
        #"{"data":[0]}"#, #"{"array":{}}"#, #"{"array":[1]}"#, #"{"array":[null]}"#, #"{"dictionary":[]}"#,
        #"{"dictionary":{"a":1}}"#, #"{"dictionary":{"a":null}}"#, #"{"number":9223372036854775808}"#,
        #"{"text":"a"}"#, #"{"String":"a"}"#, #"{"unknown":null,"integer":1}"#, #"{"integer":1,"unknown":null}"#,
    ])
    func hasAnotherShape(text: String) throws {
        let json = try JSON(text: text)
        #expect(throws: WireValueProblem.structure) { try Value(wire: json) }
    }

    @Test(
        arguments: [
            (.integer(.max), #"{"integer":9223372036854775807}"#),
            (.unsignedInteger(.max), #"{"number":"18446744073709551615"}"#),
            (.real(1), #"{"real":1.0}"#), (.real(-0.0), #"{"real":-0.0}"#), (.real(-.nan), #"{"number":"nan"}"#),
            (.real(-.infinity), #"{"number":"-infinity"}"#), (.data([0]), #"{"data":"AA=="}"#),
            (.date(Timestamp(microseconds: 0)), #"{"date":"1970-01-01T00:00:00Z"}"#),
            (.date(Timestamp(microseconds: 1)), #"{"date":"1970-01-01T00:00:00.000001Z"}"#),
            (
                .dictionary(["e\u{301}": .boolean(true), "\u{E9}": .array([])]),
                #"{"dictionary":{"e\#u{301}":{"boolean":true},"\#u{E9}":{"array":[]}}}"#
            ),
        ] as [(Value, String)])
    func isWritten(value: Value, text: String) {
        var writer = JSONWriter(capacity: 64)
        writer.write(value)
        #expect(Array(writer.bytes) == Array(text.utf8), "\(String(decoding: writer.bytes, as: UTF8.self))")
    }

    @Test func randomValuesRoundTripExactly() throws {
        let interface = try InterfaceDescription(parsing: SettingsInterface.description)
        try SplitMix64.withSeed { random throws in
            for _ in 0..<5000 {
                let value = random.value()
                let json = try JSONWriter.json { $0.write(value) }
                #expect(try Value(wire: json) == value, "\(json)")
                let parameters: JSONObject = ["group": "g", "edits": [["key": "k", "value": json]]]
                #expect(interface.firstInvalidParameter(of: parameters, method: "Write") == nil)
            }
        }
    }

    @Test func valuesOfTheLargestDepthRoundTrip() throws {
        let deep = (0..<Value.depthLimit).reduce(Value.integer(1)) { value, level in
            level % 2 == 0 ? .array([value]) : .dictionary(["k": value])
        }
        #expect(try Value(wire: JSONWriter.json { $0.write(deep) }) == deep)
    }
}
