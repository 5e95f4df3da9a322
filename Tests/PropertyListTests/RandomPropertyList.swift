import PropertyList
import TestSupport

/// Makes random values of all types, the awkward ones more often than chance would have it.
struct RandomPropertyList {
    var generator: SplitMix64
    /// Strings with a carriage return, which Python's writer turns into line feeds.
    var hasCarriageReturns = true
    var hasWholeSeconds = true

    private static let pieces = [
        "", " ", "\t", "\n", "  ", ".", "@", "/", "-", "a", "Z", "key", "name", "theme", "<", ">", "&", "\"", "'",
        "]]>", "&amp;",
        "<!--", "-->", "<?", "é", "e\u{301}", "ü", "漢字", "😀", "👩‍👩‍👧", "\u{2028}", "\u{85}", "\u{FEFF}", "\u{FFFD}",
        "\u{10FFFF}",
        "\u{7F}", "\u{D7FF}", "\u{E000}", "true", "1", "1.0", "<![CDATA[x]]>", "%20", "\\", "\u{200F}",
    ]

    mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int.random(in: 0..<elements.count, using: &generator)]
    }

    mutating func chance(_ percent: Int) -> Bool {
        Int.random(in: 0..<100, using: &generator) < percent
    }

    mutating func count(_ limit: Int) -> Int {
        Int.random(in: 0...limit, using: &generator)
    }

    mutating func string() -> String {
        var text = ""
        for _ in 0..<count(chance(5) ? 40 : 4) {
            text += pick(hasCarriageReturns && chance(10) ? ["\r", "\r\n"] : Self.pieces)
        }
        return text
    }

    mutating func entries(_ limit: Int = 8, depth: Int = 0) -> [Key: Value] {
        var entries: [Key: Value] = [:]
        for _ in 0..<count(limit) { entries[Key(string())] = value(depth: depth) }
        return entries
    }

    mutating func value(depth: Int = 0) -> Value {
        switch Int.random(in: 0..<(depth < 4 ? 11 : 8), using: &generator) {
        case 0, 1: return .string(string())
        case 2: return .integer(pick([0, 1, -1, .max, .min, Int64.random(in: .min ... .max, using: &generator)]))
        case 3: return .unsigned(pick([.max, UInt64(Int64.max) + 1, UInt64.random(in: 0 ... .max, using: &generator)]))
        case 4: return .real(real())
        case 5: return .boolean(chance(50))
        case 6: return .date(date())
        case 7:
            return .data((0..<count(chance(10) ? 300 : 9)).map { _ in UInt8.random(in: 0...255, using: &generator) })
        case 8: return .array((0..<count(4)).map { _ in value(depth: depth + 1) })
        default: return .dictionary(entries(4, depth: depth + 1))
        }
    }

    private mutating func real() -> Double {
        let special: [Double] = [
            0, -0.0, 1, -1, 0.1, .nan, .infinity, -.infinity, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 1e16,
            1e-5,
            1e22, 123_456_789.125, .pi, Double(UInt64.max),
        ]
        if chance(60) { return pick(special) }
        let number = Double(bitPattern: UInt64.random(in: 0 ... .max, using: &generator))
        return number.isNaN ? .nan : number
    }

    private mutating func date() -> Timestamp {
        let range = Timestamp.representable
        let special = [range.lowerBound.microseconds, range.upperBound.microseconds, 0, -1, 2_147_483_648_000_000]
        let random = Int64.random(in: range.lowerBound.microseconds...range.upperBound.microseconds, using: &generator)
        let time = Timestamp(microseconds: chance(30) ? pick(special) : random)
        return hasWholeSeconds ? time.wholeSeconds : time
    }
}

/// One line that says the same about a value here and in the Python of the tests.
func dump(_ value: Value) -> String {
    switch value {
    case .string(let text): "s" + hexadecimal(text.utf8)
    case .integer(let number): "i\(number)"
    case .unsignedInteger(let number): "i\(number)"
    case .real(let number): number.isNaN ? "rnan" : "r\(String(number.bitPattern, radix: 16))"
    case .boolean(let isTrue): isTrue ? "b1" : "b0"
    case .date(let timestamp): "d\(timestamp.rfc3339Microseconds)"
    case .data(let bytes): "x" + hexadecimal(bytes)
    case .array(let elements): "[" + elements.map(dump).joined(separator: ",") + "]"
    case .dictionary(let entries):
        "{"
            + entries.map { (hexadecimal($0.key.string.utf8), dump($0.value)) }.sorted { $0.0 < $1.0 }
            .map { "\($0.0):\($0.1)" }.joined(separator: ",") + "}"
    }
}

private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

extension [UInt8] {
    init(_ text: String) { self = [UInt8](text.utf8) }
    var text: String { String(decoding: self, as: UTF8.self) }
}
