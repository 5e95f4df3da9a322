import FoundationEssentials
import PropertyList

/// Dates in a JSON document. What is read is equal to what was written: a program that compares what it saved with what it
/// loads must not find a change that nobody made.
enum JSONDate {
    static func encode(_ date: Date, to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let text = text(of: date), self.date(of: text) == date {
            try container.encode(text)
        } else {
            // ISO 8601 has years of four digits; and near 2001 a `Date` is finer than a nanosecond.
            try container.encode(date.timeIntervalSinceReferenceDate)
        }
    }

    static func decode(from decoder: any Decoder) throws -> Date {
        let container = try decoder.singleValueContainer()
        guard let text = try? container.decode(String.self) else {
            return Date(timeIntervalSinceReferenceDate: try container.decode(Double.self))
        }
        if let date = date(of: text) { return date }
        for hasFraction in [false, true] {
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: hasFraction)
            if let date = try? style.parse(text) { return date }
        }
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "\"\(text)\" is no date of ISO 8601")
    }

    /// A `Date` counts from here, in floating point: near our days in steps of a tenth of a microsecond.
    private static let year2001: Int64 = 978_307_200

    /// Up to nine digits of fraction, as few as say the same.
    private static func text(of date: Date) -> String? {
        let seconds = date.timeIntervalSinceReferenceDate
        let floor = seconds.rounded(.down)
        guard let whole = Int64(exactly: floor), abs(whole) < 1 << 40 else { return nil }
        let start = Timestamp(microseconds: (whole + year2001) * 1_000_000)
        guard Timestamp.representable.contains(start) else { return nil }
        let nanoseconds = min(Int64(((seconds - floor) * 1e9).rounded()), 999_999_999)
        guard nanoseconds > 0 else { return start.rfc3339 }
        var digits = String(1_000_000_000 + nanoseconds).dropFirst()
        while digits.last == "0" { digits = digits.dropLast() }
        return start.rfc3339.dropLast() + ".\(digits)Z"
    }

    private static func date(of text: String) -> Date? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].last == "Z" else { return Timestamp(rfc3339: text).map { Date($0) } }
        let digits = parts[1].dropLast()
        guard (1...9).contains(digits.count), digits.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains),
            let start = Timestamp(rfc3339: parts[0] + "Z"), let fraction = Double("0." + digits)
        else { return nil }
        let whole = start.microseconds / 1_000_000 - year2001
        return Date(timeIntervalSinceReferenceDate: Double(whole) + fraction)
    }
}
