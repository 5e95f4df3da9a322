import PropertyList
import TestSupport
import Testing

@Suite("RFC 3339 times")
struct TimestampTests {
    @Test(
        "are read",
        arguments: [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T00:00:00.5Z", 500_000),
            ("1970-01-01T00:00:00.000001Z", 1),
            ("1970-01-01T00:00:01.123456000Z", 1_123_456),
            ("1969-12-31T23:59:59.999999Z", -1),
            ("2000-02-29T12:00:00Z", 951_825_600_000_000),
            ("2026-11-30T09:00:00Z", 1_796_029_200_000_000),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000_000),
            ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
        ] as [(String, Int64)])
    func reading(text: String, microseconds: Int64) {
        #expect(Timestamp(rfc3339: text) == Timestamp(microseconds: microseconds))
        #expect(Timestamp(rfc3339: text[...]) == Timestamp(microseconds: microseconds))
    }

    @Test(
        "of any other form are refused",
        arguments: [
            "", "Z", "2026-11-30", "2026-11-30T09:00:00", "2026-11-30T09:00:00z", "2026-11-30t09:00:00Z",
            "2026-11-30 09:00:00Z", "2026-11-30T09:00:00+00:00", "2026-11-30T09:00:00.Z", "2026-11-30T09:00:00,5Z",
            "2026-11-30T09:00:00.1234567Z", "2026-11-30T09:00:00.0000000001Z", "2026-11-30T09:00:00.12a456Z",
            "2026-11-31T09:00:00Z", "2025-02-29T09:00:00Z", "1900-02-29T09:00:00Z", "2026-00-01T09:00:00Z",
            "2026-13-01T09:00:00Z", "2026-01-00T09:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:60Z", "0000-01-01T00:00:00Z", "-001-01-01T00:00:00Z", "+026-01-01T00:00:00Z",
            " 2026-11-30T09:00:00Z", "2026-11-30T09:00:00Z ", "2026-1-30T09:00:00.00Z", "２026-11-30T09:00Z",
        ])
    func refusal(text: String) {
        #expect(Timestamp(rfc3339: text) == nil)
    }

    @Test("are written with a fraction only where there is one, or always")
    func writing() {
        #expect(Timestamp(microseconds: 0).rfc3339 == "1970-01-01T00:00:00Z")
        #expect(Timestamp(microseconds: 0).rfc3339Microseconds == "1970-01-01T00:00:00.000000Z")
        #expect(Timestamp(microseconds: -1).rfc3339 == "1969-12-31T23:59:59.999999Z")
        #expect(Timestamp(microseconds: 1_500_000).rfc3339 == "1970-01-01T00:00:01.500000Z")
        #expect(Timestamp.representable.lowerBound.rfc3339 == "0001-01-01T00:00:00Z")
        #expect(Timestamp.representable.upperBound.rfc3339 == "9999-12-31T23:59:59.999999Z")
        #expect(Timestamp(microseconds: .min).rfc3339 == "0001-01-01T00:00:00Z")
        #expect(Timestamp(microseconds: .max).rfc3339 == "9999-12-31T23:59:59.999999Z")
    }

    @Test("are cut to whole seconds towards the past")
    func wholeSeconds() {
        let cuts: [(Int64, Int64)] = [
            (0, 0), (1, 0), (999_999, 0), (1_000_000, 1_000_000), (-1, -1_000_000), (-1_000_000, -1_000_000),
            (-1_000_001, -2_000_000), (.max, 9_223_372_036_854_000_000), (.min, .min),
        ]
        for (microseconds, cut) in cuts {
            #expect(Timestamp(microseconds: microseconds).wholeSeconds == Timestamp(microseconds: cut))
        }
    }

    @Test("round-trip and sort like the times, over the whole range")
    func roundTrip() {
        SplitMix64.withSeed { generator in
            var times: [Timestamp] = []
            for _ in 0..<20_000 {
                let range = Timestamp.representable
                let time = Int64.random(
                    in: range.lowerBound.microseconds...range.upperBound.microseconds, using: &generator)
                times.append(Timestamp(microseconds: time))
            }
            for time in times {
                #expect(Timestamp(rfc3339: time.rfc3339) == time)
                #expect(Timestamp(rfc3339: time.rfc3339Microseconds) == time)
            }
            #expect(times.sorted().map(\.rfc3339Microseconds) == times.map(\.rfc3339Microseconds).sorted())
        }
    }

    @Test("agree with every day of the calendar")
    func calendar() {
        var day: Int64 = Timestamp.representable.lowerBound.microseconds
        for year in 1...9999 {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let digits = String(repeating: "0", count: 4 - String(year).count) + String(year)
            #expect(Timestamp(microseconds: day).rfc3339 == "\(digits)-01-01T00:00:00Z")
            #expect(
                Timestamp(rfc3339: "\(digits)-12-31T00:00:00Z")?.microseconds == day + (isLeap ? 365 : 364)
                    * 86_400_000_000)
            day += (isLeap ? 366 : 365) * 86_400_000_000
        }
    }
}
