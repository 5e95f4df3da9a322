import AppGroup
import FoundationEssentials

/// A stored value, and what the getters of the other types make of it: for each type at least what the table says of it.
/// Every edge of the conversions is in the table of the conversions' own tests.
private struct Row: Sendable {
    var stored: any Sendable
    var string: String?
    var bool: Bool
    var integer: Int
    var double: Double

    init(_ stored: any Sendable, _ string: String?, _ bool: Bool, _ integer: Int, _ double: Double) {
        (self.stored, self.string, self.bool) = (stored, string, bool)
        (self.integer, self.double) = (integer, double)
    }
}

private let rows = [
    Row(42, "42", true, 42, 42),
    Row(0, "0", false, 0, 0),
    Row(-7, "-7", true, -7, -7),
    Row(12.34, "12.34", true, 12, 12.34),
    Row(1.0, "1", true, 1, 1),
    Row(-12.9, "-12.9", true, -12, -12.9),
    Row(0.5, "0.5", true, 0, 0.5),
    Row(1e30, "1e+30", true, .max, 1e30),
    Row(-Double.infinity, "-inf", true, .min, -.infinity),
    Row(true, "1", true, 1, 1),
    Row(false, "0", false, 0, 0),
    Row(Int.max, "9223372036854775807", true, .max, 0x1p63),
    Row(UInt64.max, "18446744073709551615", true, .max, 0x1p64),
    Row("1234", "1234", true, 1234, 1234),
    Row("1.5", "1.5", true, 1, 1.5),
    Row("12 apples", "12 apples", true, 12, 12),
    Row("  -3", "  -3", true, -3, -3),
    Row("1e3", "1e3", true, 1, 1000),
    Row("99999999999999999999", "99999999999999999999", true, .max, 1e20),
    Row("YES", "YES", true, 0, 0),
    Row("true", "true", true, 0, 0),
    Row("Tomato", "Tomato", true, 0, 0),
    Row("2", "2", true, 2, 2),
    Row("-1", "-1", true, -1, -1),
    Row("01", "01", true, 1, 1),
    Row("0", "0", false, 0, 0),
    Row("no", "no", false, 0, 0),
    Row("on", "on", false, 0, 0),
    Row("enabled", "enabled", false, 0, 0),
    Row("", "", false, 0, 0),
    Row(Date(timeIntervalSinceReferenceDate: 1), nil, false, 0, 0),
    Row(Data([49]), nil, false, 0, 0),
    Row([1], nil, false, 0, 0),
    Row(["a": 1], nil, false, 0, 0),
]

extension Scenario {
    package static let coercions = Scenario("coercions") { stage in
        try await stage.writer { settings in
            for (index, row) in rows.enumerated() { settings.set(row.stored as Any?, forKey: "\(index)") }
        }
        try await stage.settle()
        try await stage.reader { settings in
            for (index, row) in rows.enumerated() {
                let (key, comment) = ("\(index)", "\(row.stored)")
                stage.expect(settings.object(forKey: key) != nil, comment)
                stage.expect(settings.string(forKey: key), row.string, comment)
                stage.expect(settings.bool(forKey: key), row.bool, comment)
                stage.expect(settings.integer(forKey: key), row.integer, comment)
                stage.expect(settings.double(forKey: key), row.double, comment)
                stage.expect(settings.float(forKey: key), Float(row.double), comment)
            }
        }
    }
}
