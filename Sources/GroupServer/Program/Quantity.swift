/// Numbers as systemd's configuration has them: times (`1s`, `25ms`, `1min 30s`, seconds without a unit, systemd.time(7)),
/// sizes (`8M`, to the base of 1024), and counts.
enum Quantity {
    static func count(_ text: String) throws(ConfigurationProblem) -> Int {
        guard let number = Int(text), number > 0 else { throw .expected("a whole number above 0") }
        return number
    }

    private static let sizeUnits: [(suffix: String, shift: Int)] = [
        ("K", 10), ("M", 20), ("G", 30), ("T", 40), ("B", 0),
    ]

    static func size(_ text: String) throws(ConfigurationProblem) -> Int {
        let unit = sizeUnits.first { text.hasSuffix($0.suffix) }
        let digits = unit == nil ? text[...] : text.dropLast()
        let product = Int(digits).map { $0.multipliedReportingOverflow(by: 1 << (unit?.shift ?? 0)) }
        guard let product, !product.overflow, product.partialValue > 0 else {
            throw .expected("a size such as 4096, 64K, 8M or 1G")
        }
        return product.partialValue
    }

    /// In microseconds.
    private static let timeUnits: [(names: [String], microseconds: Double)] = [
        (["us", "µs", "μs", "usec"], 1), (["ms", "msec"], 1_000), (["", "s", "sec", "second", "seconds"], 1e6),
        (["m", "min", "minute", "minutes"], 60e6), (["h", "hr", "hour", "hours"], 3_600e6),
        (["d", "day", "days"], 86_400e6), (["w", "week", "weeks"], 604_800e6),
        // As systemd has them: the mean of the Gregorian calendar.
        (["M", "month", "months"], 2_629_800e6), (["y", "year", "years"], 31_557_600e6),
    ]

    /// One or several numbers with units, as in `1min 30s`; in microseconds.
    static func time(_ text: String) throws(ConfigurationProblem) -> Int64 {
        var total = 0.0
        var rest = text[...]
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(number.count).drop { $0 == " " }
            let unit = rest.prefix { $0.isLetter }
            rest = rest.dropFirst(unit.count).drop { $0 == " " }
            guard let number = Double(number), let scale = timeUnits.first(where: { $0.names.contains(String(unit)) })
            else { throw .expected("a time such as 500ms, 1s, 5min or 30d") }
            total += number * scale.microseconds
        }
        guard total >= 1, total < 1e17 else { throw .expected("a time such as 500ms, 1s, 5min or 30d") }
        return Int64(total)
    }

    static func text(ofTime microseconds: Int64) -> String {
        microseconds % 1_000_000 == 0 ? "\(microseconds / 1_000_000)s" : "\(microseconds / 1_000)ms"
    }

    static func text(ofSize bytes: Int) -> String {
        let unit = sizeUnits.last { $0.shift > 0 && bytes % (1 << $0.shift) == 0 }
        return unit.map { "\(bytes >> $0.shift)\($0.suffix)" } ?? "\(bytes)"
    }
}
