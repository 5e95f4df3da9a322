/// Lengths of time as people write them: `500ms`, `1min 30s`, `2h`, seconds without a unit (systemd.time(7)).
package enum TimeSpan {
    private static let units: [(names: [String], microseconds: Double)] = [
        (["us", "µs", "μs", "usec"], 1), (["ms", "msec"], 1_000), (["", "s", "sec", "second", "seconds"], 1e6),
        (["m", "min", "minute", "minutes"], 60e6), (["h", "hr", "hour", "hours"], 3_600e6),
        (["d", "day", "days"], 86_400e6), (["w", "week", "weeks"], 604_800e6),
        // As systemd has them: the mean of the Gregorian calendar.
        (["M", "month", "months"], 2_629_800e6), (["y", "year", "years"], 31_557_600e6),
    ]

    /// One or several numbers with units. Nil for anything else, for less than a microsecond and for some thousands of years.
    package static func microseconds(_ text: String) -> Int64? {
        var total = 0.0
        var rest = text[...]
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(number.count).drop { $0 == " " }
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count).drop { $0 == " " }
            guard let number = Double(number), let scale = units.first(where: { $0.names.contains(String(unit)) })
            else {
                return nil
            }
            total += number * scale.microseconds
        }
        return (1..<1e17).contains(total) ? Int64(total) : nil
    }
}
