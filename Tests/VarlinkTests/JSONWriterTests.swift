import Testing
import Varlink

@Suite struct JSONWriterTests {
    @Test(
        arguments: [
            (.null, "null"),
            (true, "true"),
            (0, "0"),
            (-7, "-7"),
            (.integer(.max), "9223372036854775807"),
            (.integer(.min), "-9223372036854775808"),
            (.real(1), "1.0"),
            (.real(-0.0), "-0.0"),
            (.real(0.1), "0.1"),
            (.real(1e16), "1e+16"),
            (.real(.leastNonzeroMagnitude), "5e-324"),
            (.real(.greatestFiniteMagnitude), "1.7976931348623157e+308"),
            (.real(.nan), "null"),
            (.real(.infinity), "null"),
            ("", #""""#),
            ("a/b é😀\u{7F}\u{2028}", "\"a/b é😀\u{7F}\u{2028}\""),
            ("\"\\\u{0}\n\u{1F}", #""\"\\\u0000\u000a\u001f""#),
            ([], "[]"),
            ([1, [], "x"], #"[1,[],"x"]"#),
            ([:], "{}"),
            (["b": 1, "a": ["c": [:]], "d": []], #"{"b":1,"a":{"c":{}},"d":[]}"#),
        ] as [(JSON, String)])
    func writesTheShortestText(json: JSON, text: String) {
        #expect(json.description == text)
    }

    @Test func streamsWithoutATree() {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("group", string: "g")
        writer.member("revision", integer: 3)
        writer.member("uptime", real: 2)
        writer.member("durable", boolean: true)
        writer.member("keys", strings: ["a", "b"])
        writer.member("commit", raw: Array(#"{"x":1}"#.utf8))
        writer.member("tree", ["y": .null])
        writer.member("changes")
        writer.beginArray()
        for key in ["k", "l"] {
            writer.beginObject()
            writer.member("key", string: key)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.endMessage()
        writer.integer(1)
        let text =
            #"{"group":"g","revision":3,"uptime":2.0,"durable":true,"keys":["a","b"],"commit":{"x":1},"#
            + #""tree":{"y":null},"changes":[{"key":"k"},{"key":"l"}]}"# + "\u{0}1"
        #expect(String(decoding: writer.bytes, as: UTF8.self) == text)
    }

    @Test func everythingReadsBackAsItWas() throws {
        let seed = TestRandom.printedSeed()
        var random = TestRandom(seed: seed)
        for _ in 0..<3000 {
            let json = random.json()
            var writer = JSONWriter()
            writer.write(json)
            #expect(try JSON(parsing: writer.bytes) == json, "seed \(seed)")
        }
    }

    @Test func everyScalarReadsBackAsItWas() throws {
        let all = String(String.UnicodeScalarView((0...0x10FFFF).compactMap { Unicode.Scalar($0 as UInt32) }))
        #expect(try JSON(parsing: JSON.string(all).text) == .string(all))
    }

    @Test func everyRealReadsBackAsTheSameReal() throws {
        let seed = TestRandom.printedSeed()
        var random = TestRandom(seed: seed)
        for _ in 0..<20_000 {
            let value = random.finiteReal()
            #expect(try JSON(parsing: JSON.real(value).text) == .real(value), "seed \(seed)")
        }
    }
}

@Suite struct JSONObjectTests {
    @Test func isEqualInAnyOrder() {
        let left: JSONObject = ["a": 1, "b": 2]
        #expect(left == ["b": 2, "a": 1])
        #expect(left != ["a": 1, "b": 3])
        #expect(left != ["a": 1])
        #expect(left != ["a": 1, "c": 2])
    }

    @Test func behavesAsAListOfPairsWould() {
        let seed = TestRandom.printedSeed()
        var random = TestRandom(seed: seed)
        for _ in 0..<100 {
            var object = JSONObject()
            var model: [(name: String, value: JSON)] = []
            for step in 0..<200 {
                let name = "n\(Int.random(in: 0..<60, using: &random))"
                let place = model.firstIndex { $0.name == name }
                let value = JSON.integer(Int64(step))
                switch Int.random(in: 0..<4, using: &random) {
                case 0:
                    object[name] = nil
                    if let place { model.remove(at: place) }
                case 1:
                    object[name] = value
                    if let place { model[place].value = value } else { model.append((name, value)) }
                default:
                    #expect(object.insertNew(name, value) == (place == nil), "seed \(seed)")
                    if place == nil { model.append((name, value)) }
                }
            }
            #expect(object.map(\.name) == model.map(\.name), "seed \(seed)")
            #expect(object.map(\.value) == model.map(\.value), "seed \(seed)")
        }
    }
}
