import PropertyList
import Testing

@testable import AppGroup

/// One row of the table: a stored value, and what every typed getter makes of it.
struct CoercionRow: Sendable, CustomTestStringConvertible {
    var id: String
    var stored: Value?
    var string: String?
    var bool: Bool?
    var integer: Int?
    var double: Double?

    init(_ id: String, _ stored: Value?, _ string: String?, _ bool: Bool?, _ integer: Int?, _ double: Double?) {
        (self.id, self.stored, self.string) = (id, stored, string)
        (self.bool, self.integer, self.double) = (bool, integer, double)
    }

    var testDescription: String { "\(id) \(String(describing: stored))" }
}

@Suite("The table of coercions")
struct CoercionTests {
    static let rows: [CoercionRow] = [
        CoercionRow("U10 absent", nil, nil, nil, nil, nil),
        // Numbers as text and as other numbers.
        CoercionRow("U11", .integer(42), "42", true, 42, 42),
        CoercionRow("U11", .integer(0), "0", false, 0, 0),
        CoercionRow("U11", .integer(-7), "-7", true, -7, -7),
        CoercionRow("U11 R60", .real(12.34), "12.34", true, 12, 12.34),
        CoercionRow("U11", .real(1), "1", true, 1, 1),
        CoercionRow("U14", .real(-12.9), "-12.9", true, -12, -12.9),
        CoercionRow("U16", .real(0), "0", false, 0, 0),
        CoercionRow("U16", .real(-0.0), "-0", false, 0, 0),
        CoercionRow("U16", .real(0.5), "0.5", true, 0, 0.5),
        CoercionRow("U11 R60", .boolean(true), "1", true, 1, 1),
        CoercionRow("U15", .boolean(false), "0", false, 0, 0),
        // The bounds.
        CoercionRow("L17", .integer(.max), "9223372036854775807", true, .max, 0x1p63),
        CoercionRow("L17", .integer(.max - 1), "9223372036854775806", true, .max - 1, 0x1p63),
        CoercionRow("L17", .integer(.min), "-9223372036854775808", true, .min, -0x1p63),
        CoercionRow("L17", .integer(1 << 53 + 1), "9007199254740993", true, 1 << 53 + 1, 0x1p53),
        CoercionRow("L17", .unsignedInteger(1 << 63), "9223372036854775808", true, .max, 0x1p63),
        CoercionRow("L17", .unsignedInteger(.max), "18446744073709551615", true, .max, 0x1p64),
        CoercionRow("L18", .real(1e30), "1e+30", true, .max, 1e30),
        CoercionRow("L18", .real(-1e30), "-1e+30", true, .min, -1e30),
        CoercionRow("L18", .real(9_223_372_036_854_775_808), "9.223372036854776e+18", true, .max, 0x1p63),
        CoercionRow("L18", .real(.infinity), "inf", true, .max, .infinity),
        CoercionRow("L18", .real(-.infinity), "-inf", true, .min, -.infinity),
        CoercionRow("L18", .real(.nan), "nan", true, 0, .nan),
        CoercionRow("L21", .real(Double(Float(0.1))), "0.10000000149011612", true, 0, 0.10000000149011612),
        // Text as boolean: the table that was measured.
        CoercionRow("L16", .string("true"), "true", true, 0, 0),
        CoercionRow("L16", .string("TRUE"), "TRUE", true, 0, 0),
        CoercionRow("L16 U14", .string("YES"), "YES", true, 0, 0),
        CoercionRow("L16", .string("yes"), "yes", true, 0, 0),
        CoercionRow("L16", .string("Y"), "Y", true, 0, 0),
        CoercionRow("L16", .string("1"), "1", true, 1, 1),
        CoercionRow("L16", .string("2"), "2", true, 2, 2),
        CoercionRow("L16", .string("  1"), "  1", true, 1, 1),
        CoercionRow("L16", .string("\t\n 1"), "\t\n 1", true, 1, 1),
        CoercionRow("L16", .string("-1"), "-1", true, -1, -1),
        CoercionRow("L16", .string("+1"), "+1", true, 1, 1),
        CoercionRow("L16", .string("01"), "01", true, 1, 1),
        CoercionRow("L16 U14", .string("1.5"), "1.5", true, 1, 1.5),
        CoercionRow("U17", .string("Tomato"), "Tomato", true, 0, 0),
        CoercionRow("U17", .string("-00y"), "-00y", true, 0, 0),
        CoercionRow("L16", .string("0"), "0", false, 0, 0),
        CoercionRow("L16", .string("no"), "no", false, 0, 0),
        CoercionRow("L16", .string("NO"), "NO", false, 0, 0),
        CoercionRow("L16", .string("false"), "false", false, 0, 0),
        CoercionRow("L16", .string("abc"), "abc", false, 0, 0),
        CoercionRow("L16", .string(""), "", false, 0, 0),
        CoercionRow("L16 U17", .string("on"), "on", false, 0, 0),
        CoercionRow("U17", .string("enabled"), "enabled", false, 0, 0),
        CoercionRow("U17", .string("--1"), "--1", false, 0, 0),
        CoercionRow("U17", .string("0.5"), "0.5", false, 0, 0.5),
        // Text as number.
        CoercionRow("U14", .string("1234"), "1234", true, 1234, 1234),
        CoercionRow("U14", .string("12 apples"), "12 apples", true, 12, 12),
        CoercionRow("U14", .string("0x10"), "0x10", false, 0, 0),
        CoercionRow("L17", .string("9223372036854775807"), "9223372036854775807", true, .max, 0x1p63),
        CoercionRow("L18", .string("99999999999999999999"), "99999999999999999999", true, .max, 1e20),
        CoercionRow("L18", .string("-99999999999999999999"), "-99999999999999999999", true, .min, -1e20),
        CoercionRow("U15", .string("1e3"), "1e3", true, 1, 1000),
        CoercionRow("U15", .string("-2.5e-1x"), "-2.5e-1x", true, -2, -0.25),
        CoercionRow("U15", .string(".5"), ".5", false, 0, 0.5),
        CoercionRow("U15", .string("5."), "5.", true, 5, 5),
        CoercionRow("U15", .string("3e"), "3e", true, 3, 3),
        CoercionRow("U15", .string("."), ".", false, 0, 0),
        CoercionRow("U15", .string("1e999"), "1e999", true, 1, .infinity),
        CoercionRow("U15", .string("inf"), "inf", false, 0, 0),
        CoercionRow("U15", .string("nan"), "nan", false, 0, 0),
        // Other types give nothing.
        CoercionRow("U11", .date(Timestamp(microseconds: 1)), nil, nil, nil, nil),
        CoercionRow("U11", .data([49]), nil, nil, nil, nil),
        CoercionRow("U11", .array([.integer(1)]), nil, nil, nil, nil),
        CoercionRow("U11", .dictionary(["a": .integer(1)]), nil, nil, nil, nil),
    ]

    @Test(arguments: rows) func `a value reads as other types by the table`(row: CoercionRow) {
        #expect(Coercion.string(row.stored) == row.string)
        #expect(Coercion.bool(row.stored) == row.bool)
        #expect(Coercion.integer(row.stored, as: Int.self) == row.integer)
        let double = Coercion.double(row.stored)
        #expect(double == row.double || (double?.isNaN == true && row.double?.isNaN == true))
    }

    @Test(arguments: [Int8.self, Int16.self, UInt8.self, UInt64.self] as [any GroupDefaultsStorable.Type])
    func `L18 every integer type is clamped, none traps`(type: any GroupDefaultsStorable.Type) {
        for row in Self.rows {
            guard let stored = row.stored else { continue }
            _ = type.reading(StoredValue(stored), isExact: false)
            _ = type.reading(StoredValue(stored), isExact: true)
        }
        #expect(UInt8.reading(StoredValue(.integer(-5)), isExact: false) == 0)
        #expect(Int8.reading(StoredValue(.real(1000)), isExact: false) == 127)
        #expect(UInt64.reading(StoredValue(.string("-1")), isExact: false) == 0)
        #expect(UInt64.reading(StoredValue(.string("18446744073709551615")), isExact: false) == .max)
    }

    @Test func `U13 an array with one number is no array of strings`() {
        #expect(Coercion.strings(.array([.string("a"), .string("b")])) == ["a", "b"])
        #expect(Coercion.strings(.array([.string("a"), .integer(1)])) == nil)
        #expect(Coercion.strings(.array([])) == [])
        #expect(Coercion.strings(.string("a")) == nil)
    }

    @Test func `exact integers are not converted`() {
        #expect(Coercion.exactInteger(.integer(5), as: Int64.self) == 5)
        #expect(Coercion.exactInteger(.integer(-5), as: UInt64.self) == nil)
        #expect(Coercion.exactInteger(.unsignedInteger(.max), as: Int64.self) == nil)
        #expect(Coercion.exactInteger(.unsignedInteger(.max), as: UInt64.self) == .max)
        #expect(Coercion.exactInteger(.real(5), as: Int64.self) == nil)
        #expect(Coercion.exactInteger(.boolean(true), as: Int64.self) == nil)
        #expect(Coercion.exactInteger(.string("5"), as: Int64.self) == nil)
    }
}
