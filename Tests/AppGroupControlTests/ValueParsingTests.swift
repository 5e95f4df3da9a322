import AppGroupControl
import PropertyList
import Testing

@Suite("Values on the command line")
struct ValueParsingTests {
    static func date(_ text: String) throws -> Value {
        .date(try #require(Timestamp(rfc3339: text)))
    }

    static let nested: Value = .dictionary([
        "a": .array([.integer(1), .real(1), .date(Timestamp(microseconds: 0))])
    ])

    static let good: [(ValueFlag, String, Value)] = [
        (.string, "", .string("")),
        (.string, "-int", .string("-int")),
        (.integer, "0", .integer(0)),
        (.integer, "+7", .integer(7)),
        (.integer, "-9223372036854775808", .integer(.min)),
        (.integer, "9223372036854775807", .integer(.max)),
        (.integer, "9223372036854775808", .unsignedInteger(9_223_372_036_854_775_808)),
        (.integer, "18446744073709551615", .unsignedInteger(.max)),
        (.real, "1", .real(1)),
        (.real, "0.5", .real(0.5)),
        (.real, "-.5e-3", .real(-0.0005)),
        (.real, "12.34", .real(12.34)),
        (.real, "NaN", .real(.nan)),
        (.real, "inf", .real(.infinity)),
        (.real, "-Infinity", .real(-.infinity)),
        (.boolean, "true", .boolean(true)),
        (.boolean, "YES", .boolean(true)),
        (.boolean, "1", .boolean(true)),
        (.boolean, "False", .boolean(false)),
        (.boolean, "no", .boolean(false)),
        (.boolean, "0", .boolean(false)),
        (.data, "", .data([])),
        (.data, "00fFa5", .data([0, 255, 0xA5])),
        (.base64, "aGVsbG8=", .data(Array("hello".utf8))),
        (.json, #"{"a": [1, 1.0, {"date": "1970-01-01T00:00:00Z"}]}"#, nested),
        (
            .propertyList,
            "<dict><key>a</key>\n<array><integer>1</integer><real>1</real><date>1970-01-01T00:00:00Z</date></array></dict>",
            nested
        ),
        (.propertyList, #"<?xml version="1.0"?><plist version="1.0"><true/></plist>"#, .boolean(true)),
        (.notation, "{ a = [1, 1.0, date(1970-01-01T00:00:00Z)] }", nested),
        (.notation, #""text""#, .string("text")),
    ]

    @Test("are read", arguments: good)
    func areRead(_ flag: ValueFlag, _ text: String, _ value: Value) throws {
        #expect(try ValueParsing.value(text, as: flag) == value)
    }

    static let dates: [(String, String)] = [
        ("2026-11-30T09:00:00Z", "2026-11-30T09:00:00Z"),
        ("2026-11-30T09:00:00.25Z", "2026-11-30T09:00:00.25Z"),
        ("2026-11-30", "2026-11-30T00:00:00Z"),
        ("2026-11-30 09:00:00Z", "2026-11-30T09:00:00Z"),
        ("2026-11-30 09:00:00 +0000", "2026-11-30T09:00:00Z"),
        ("2026-11-30T00:30:00+01:00", "2026-11-29T23:30:00Z"),
        ("2026-11-30T23:30:00-0330", "2026-12-01T03:00:00Z"),
        ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"),
    ]

    @Test("dates are read", arguments: dates)
    func datesAreRead(_ text: String, _ expected: String) throws {
        #expect(try ValueParsing.value(text, as: .date) == Self.date(expected))
    }

    static let bad: [(ValueFlag, String, String)] = [
        (.integer, "abc", "an integer such as 42"),
        (.integer, "", "an integer such as 42"),
        (.integer, "-", "an integer such as 42"),
        (.integer, "1.0", "an integer such as 42"),
        (.integer, "0x10", "an integer such as 42"),
        (.integer, " 1", "an integer such as 42"),
        (.integer, "٣", "an integer such as 42"),
        (.integer, "18446744073709551616", "an integer from -9223372036854775808 to 18446744073709551615"),
        (.integer, "-9223372036854775809", "an integer from -9223372036854775808 to 18446744073709551615"),
        (.real, "", "a number such as 0.5 or 1e-3"),
        (.real, "1,5", "a number such as 0.5 or 1e-3"),
        (.real, "0x1p3", "a number such as 0.5 or 1e-3"),
        (.real, "e", "a number such as 0.5 or 1e-3"),
        (.real, "1e", "a number such as 0.5 or 1e-3"),
        (.real, "1e999", "a number up to 1.7976931348623157e308"),
        (.boolean, "maybe", "true or false"),
        (.boolean, "", "true or false"),
        (.boolean, "2", "true or false"),
        (.data, "abc", "an even number of hexadecimal digits"),
        (.data, "zz", "pairs of hexadecimal digits such as 48656c6c6f"),
        (.data, "<00>", "pairs of hexadecimal digits such as 48656c6c6f"),
        (.base64, "aGVsbG8", "base64 with padding"),
    ]

    @Test("garbage is refused, with what was expected", arguments: bad)
    func garbageIsRefused(_ flag: ValueFlag, _ text: String, _ expected: String) {
        #expect(throws: ValueParsing.Problem(expected: expected)) { try ValueParsing.value(text, as: flag) }
    }

    @Test(
        "what is no date is refused",
        arguments: [
            "", "tomorrow", "2026-11-31", "2026-02-29T00:00:00Z", "2026-11-30T09:00:00", "2026-11-30T09:00Z",
            "2026-11-30T24:00:00Z", "2026-11-30T09:00:00+1", "2026-11-30T09:00:00+25:00", "2026-11-30T09:00:00+01:60",
            "2026-11-30T09:00:00+-100", "0001-01-01T00:00:00+01:00", "9999-12-31T23:30:00-01:00", "----------",
            "2026-11-30T09:00:00Z+01:00", "30 November 2026 at nine",
        ])
    func notADate(_ text: String) {
        #expect(throws: ValueParsing.Problem.self) { try ValueParsing.value(text, as: .date) }
    }
}

@Suite("What write is to do")
struct WrittenValueTests {
    static let good: [([ValueToken], WrittenValue)] = [
        ([.plain("dark")], .untyped("dark")),
        ([.typed(.string, "dark")], .set(.string("dark"))),
        ([.collection(.array)], .set(.array([]))),
        ([.collection(.array), .plain("a"), .typed(.integer, "1")], .set(.array([.string("a"), .integer(1)]))),
        ([.collection(.arrayAdd), .typed(.boolean, "yes")], .append([.boolean(true)])),
        ([.collection(.dictionary)], .set(.dictionary([:]))),
        (
            [.collection(.dictionary), .plain("a"), .plain("x"), .typed(.string, "b"), .typed(.real, "1")],
            .set(.dictionary(["a": .string("x"), "b": .real(1)]))
        ),
        ([.collection(.dictionaryAdd), .plain(""), .plain("")], .merge(["": .string("")])),
        // Two keys: composed and decomposed.
        (
            [.collection(.dictionary), .plain("\u{E9}"), .plain("1"), .plain("e\u{301}"), .plain("2")],
            .set(.dictionary(["\u{E9}": .string("1"), "e\u{301}": .string("2")]))
        ),
    ]

    @Test("is read from the words", arguments: good)
    func isRead(_ tokens: [ValueToken], _ written: WrittenValue) throws {
        #expect(try WrittenValue(tokens) == written)
    }

    static let bad: [([ValueToken], String)] = [
        ([], "write needs VALUE; delete removes a key"),
        ([.plain("a"), .plain("b")], "write takes one VALUE; for several say -array or -dict"),
        ([.typed(.integer, "1"), .plain("b")], "write takes one VALUE; for several say -array or -dict"),
        ([.typed(.integer, "abc")], #"-int takes an integer such as 42, not "abc""#),
        ([.collection(.array), .typed(.boolean, "maybe")], #"-bool takes true or false, not "maybe""#),
        ([.collection(.array), .collection(.array)], "-array cannot stand within a collection"),
        ([.collection(.dictionary), .plain("a"), .collection(.dictionary)], "-dict cannot stand within a collection"),
        ([.collection(.arrayAdd)], "-array-add needs [TYPE] ELEMENT…"),
        ([.collection(.dictionaryAdd)], "-dict-add needs KEY [TYPE] VALUE…"),
        ([.collection(.dictionary), .plain("a")], #"the key "a" has no value"#),
        ([.collection(.dictionary), .typed(.integer, "1"), .plain("x")], "a key of -dict is a text"),
        (
            [.collection(.dictionary), .plain("a"), .plain("1"), .plain("a"), .plain("2")],
            #"the key "a" comes twice"#
        ),
    ]

    @Test("is refused with the reason", arguments: bad)
    func isRefused(_ tokens: [ValueToken], _ message: String) {
        let failure = #expect(throws: Failure.self) { try WrittenValue(tokens) }
        #expect(failure?.status == .usage)
        #expect(failure?.message == message)
    }

    static let guesses: [(String, Value?, Value)] = [
        ("dark", nil, .string("dark")),
        ("1", nil, .string("1")),
        ("1", .string("x"), .string("1")),
        ("1", .integer(7), .integer(1)),
        ("18446744073709551615", .integer(7), .unsignedInteger(.max)),
        ("1", .unsignedInteger(.max), .integer(1)),
        ("1", .real(7), .real(1)),
        ("1", .boolean(false), .boolean(true)),
        ("off", .boolean(false), .string("off")),
        ("abc", .integer(7), .string("abc")),
        ("00ff", .data([]), .data([0, 255])),
        ("1970-01-01", .date(Timestamp(microseconds: 5)), .date(Timestamp(microseconds: 0))),
        ("x", .array([]), .string("x")),
        ("x", .dictionary([:]), .string("x")),
    ]

    @Test("a word without a type keeps the type that the key has", arguments: guesses)
    func guess(_ word: String, _ present: Value?, _ value: Value) {
        #expect(WrittenValue.guess(word, like: present) == value)
    }
}
