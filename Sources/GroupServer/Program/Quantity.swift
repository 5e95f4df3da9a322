import GroupModel

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
    static func time(_ text: String) throws(ConfigurationProblem) -> Int64 {
        guard let time = TimeSpan.microseconds(text) else { throw .expected("a time such as 500ms, 1s, 5min or 30d") }
        return time
    }

    /// The same where there may be none: `infinity`, 0, and an empty text.
    static func optionalTime(_ text: String) throws(ConfigurationProblem) -> Int64? {
        if ["", "0", "infinity"].contains(text) { return nil }
        guard let time = TimeSpan.microseconds(text) else {
            throw .expected("a time such as 500ms, 1s, 5min or 30d, or infinity")
        }
        return time
    }

    static func text(ofTime microseconds: Int64) -> String {
        microseconds % 1_000_000 == 0 ? "\(microseconds / 1_000_000)s" : "\(microseconds / 1_000)ms"
    }

    static func text(ofSize bytes: Int) -> String {
        let unit = sizeUnits.last { $0.shift > 0 && bytes % (1 << $0.shift) == 0 }
        return unit.map { "\(bytes >> $0.shift)\($0.suffix)" } ?? "\(bytes)"
    }
}
