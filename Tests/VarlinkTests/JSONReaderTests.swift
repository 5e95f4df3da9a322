import Testing
import Varlink

@Suite struct JSONReaderTests {
    @Test(
        arguments: [
            ("null", .null),
            ("true", true),
            ("false", false),
            (" \t\r\n1\n", 1),
            ("0", 0),
            ("-0", 0),
            ("-1", -1),
            ("9223372036854775807", .integer(.max)),
            ("-9223372036854775808", .integer(.min)),
            ("9223372036854775808", .real(9_223_372_036_854_775_808)),
            ("-9223372036854775809", .real(-9_223_372_036_854_775_808)),
            ("18446744073709551615", .real(18_446_744_073_709_551_616)),
            ("99999999999999999999999", .real(1e23)),
            ("1.0", .real(1)),
            ("-0.0", .real(-0.0)),
            ("1e3", .real(1000)),
            ("1E+3", .real(1000)),
            ("1e-400", .real(0)),
            ("5e-324", .real(.leastNonzeroMagnitude)),
            ("1.7976931348623157e308", .real(.greatestFiniteMagnitude)),
            (#""""#, ""),
            (#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{C}\n\r\tz"),
            (#""\u0000\u00e9\u00E9\uFFFF""#, "\u{0}éé\u{FFFF}"),
            (#""x\ud83d\ude00y""#, "x😀y"),
            (#""é😀\u007f""#, "é😀\u{7F}"),
            ("[]", []),
            ("[ ]", []),
            ("[1,[2 , 3],{}]", [1, [2, 3], [:]]),
            ("{ }", [:]),
            (#"{"a":1 , "b" : {"a":2}}"#, ["a": 1, "b": ["a": 2]]),
        ] as [(String, JSON)])
    func readsAsRFC8259Says(text: String, expected: JSON) throws {
        #expect(try JSON(parsing: text) == expected)
    }

    @Test(
        arguments: [
            ("", .unexpectedEnd, 0),
            ("  ", .unexpectedEnd, 2),
            ("nul", .unexpectedEnd, 3),
            ("nulL", .unexpectedByte, 3),
            ("True", .unexpectedByte, 0),
            ("NaN", .unexpectedByte, 0),
            ("1 2", .trailingBytes, 2),
            ("{}}", .trailingBytes, 2),
            ("01", .trailingBytes, 1),
            ("-", .unexpectedEnd, 1),
            ("-a", .unexpectedByte, 1),
            ("+1", .unexpectedByte, 0),
            (".5", .unexpectedByte, 0),
            ("1.", .unexpectedEnd, 2),
            ("1.e3", .unexpectedByte, 2),
            ("1e", .unexpectedEnd, 2),
            ("1e+", .unexpectedEnd, 3),
            ("1e400", .numberOutOfRange, 0),
            ("[-1e400]", .numberOutOfRange, 1),
            ("0x10", .trailingBytes, 1),
            ("'a'", .unexpectedByte, 0),
            (#""a"#, .unexpectedEnd, 2),
            (#""a\"#, .unexpectedEnd, 3),
            (#""\x""#, .invalidEscape, 2),
            (#""\u12"#, .unexpectedEnd, 5),
            (#""\u12g4""#, .invalidEscape, 5),
            (#""\ud83d""#, .loneSurrogate, 1),
            (#""\ud83dA""#, .loneSurrogate, 1),
            (#""\ud83d\u0041""#, .loneSurrogate, 1),
            (#""\ude00""#, .loneSurrogate, 1),
            (#""\ud83d\ud83d\ude00""#, .loneSurrogate, 1),
            ("\"a\nb\"", .controlCharacter, 2),
            ("\"\u{0}\"", .controlCharacter, 1),
            ("[1,]", .unexpectedByte, 3),
            ("[1 2]", .unexpectedByte, 3),
            ("[", .unexpectedEnd, 1),
            ("{", .unexpectedEnd, 1),
            (#"{"a"}"#, .unexpectedByte, 4),
            (#"{"a":}"#, .unexpectedByte, 5),
            (#"{"a":1,}"#, .unexpectedByte, 7),
            ("{a:1}", .unexpectedByte, 1),
            (#"{"a":1,"b":2,"a":3}"#, .duplicateMember, 13),
            (#"{"a":1,"\u0061":3}"#, .duplicateMember, 7),
            ("// c\n1", .unexpectedByte, 0),
            ("\u{FEFF}1", .unexpectedByte, 0),
        ] as [(String, JSONError.Reason, Int)])
    func refusesWithTheOffset(text: String, reason: JSONError.Reason, offset: Int) {
        #expect(throws: JSONError(reason, at: offset)) { try JSON(parsing: text) }
    }

    @Test(
        arguments: [
            ([0x22, 0xFF, 0x22], 1),
            ([0x22, 0x61, 0xC3, 0x22], 2),
            ([0x22, 0xC0, 0x80, 0x22], 1),
            ([0x22, 0xED, 0xA0, 0x80, 0x22], 1),
            ([0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], 1),
            ([0x22, 0x5C, 0x6E, 0x80, 0x22], 3),
        ] as [([UInt8], Int)])
    func refusesInvalidUTF8(bytes: [UInt8], offset: Int) {
        #expect(throws: JSONError(.invalidUTF8, at: offset)) { try JSON(parsing: bytes) }
    }

    @Test func countsOffsetsOfASliceFromItsStart() {
        let bytes = Array("xxxx[tru]".utf8)
        #expect(throws: JSONError(.unexpectedByte, at: 4)) { try JSON(parsing: bytes[4...]) }
    }

    @Test func takesMemberNamesByteForByte() throws {
        let object = try JSON(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}").objectValue
        #expect(object?["\u{E9}"] == 1)
        #expect(object?["e\u{301}"] == 2)
        #expect(JSON.string("\u{E9}") != JSON.string("e\u{301}"))
    }

    @Test(arguments: [1, 64, 192])
    func boundsTheDepth(limit: Int) throws {
        let fits = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        _ = try JSON(parsing: fits, depthLimit: limit)
        #expect(throws: JSONError(.tooDeep, at: limit)) { try JSON(parsing: "[\(fits)]", depthLimit: limit) }
    }

    @Test(arguments: ["[", "{\"a\":", "[{\"a\":["])
    func survivesHostileDepth(opening: String) {
        let bytes = Array(String(repeating: opening, count: 200_000).utf8)
        #expect(throws: JSONError.self) { try JSON(parsing: bytes) }
        #expect(throws: JSONError.self) { try JSON(parsing: bytes, depthLimit: .max) }
    }

    @Test func refusesNumbersThatOnlyKeepItBusy() {
        let digits = String(repeating: "7", count: 1_000_000)
        #expect(throws: JSONError(.numberOutOfRange, at: 0)) { try JSON(parsing: digits) }
        #expect(throws: JSONError(.numberOutOfRange, at: 0)) { try JSON(parsing: "0.\(digits)") }
        #expect(throws: JSONError(.numberOutOfRange, at: 0)) { try JSON(parsing: "1e\(digits)") }
    }

    @Test func findsADuplicateAmongManyMembers() throws {
        var writer = JSONWriter()
        writer.beginObject()
        for number in 0..<100_000 { writer.member("key \(number)", integer: Int64(number)) }
        let object = try JSON(parsing: writer.bytes + Array("}".utf8)).objectValue
        #expect(object?.count == 100_000)
        #expect(object?["key 77777"] == 77777)
        #expect(object?["key 100000"] == nil)
        #expect(throws: JSONError(.duplicateMember, at: writer.bytes.count + 1)) {
            try JSON(parsing: writer.bytes + Array(#","key 5":1}"#.utf8))
        }
    }

    @Test func everyPrefixOfATextIsAnError() {
        let text = Array(#"{"a":[1.5e3,-2,"x\ud83d\ude00é",true,null],"b":{"c":false}}"#.utf8)
        for end in 0..<text.count {
            #expect(throws: JSONError.self) { try JSON(parsing: text[..<end]) }
        }
    }

    @Test func flippedBytesNeverTrap() {
        let seed = TestRandom.printedSeed()
        var random = TestRandom(seed: seed)
        let text = Array(#"{"a":[1.5e3,-2,"x\ud83d\ude00é",true,null],"b":{"c":false,"d":12345678901234567890}}"#.utf8)
        for _ in 0..<20_000 {
            var bytes = text
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            // What is read in spite of it must be read again from what is written.
            guard let json = try? JSON(parsing: bytes) else { continue }
            #expect((try? JSON(parsing: json.text)) == json, "seed \(seed)")
        }
    }
}
