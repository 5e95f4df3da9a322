import PropertyList

/// How a stored value of one type is read as another: the one table for getters, typed keys and `@AppStorage`.
///
/// | stored     | string        | bool            | integer                  | double            |
/// |------------|---------------|-----------------|--------------------------|-------------------|
/// | string     | itself        | by its beginning | its leading integer, or 0 | its leading number, or 0 |
/// | integer    | decimal       | not 0           | itself, to the bounds    | nearest           |
/// | real       | shortest, whole ones without ".0" | not 0 | cut towards 0, to the bounds; NaN is 0 | itself |
/// | boolean    | "1" or "0"    | itself          | 1 or 0                   | 1 or 0            |
/// | any other  | nil           | nil             | nil                      | nil               |
///
/// A string is true when, after blanks, a sign and zeros, it goes on with Y, y, T, t or 1–9: "YES", "true", "2", "-1" and
/// "01" are true; "NO", "on", "0" and "" are not. Nil is what the getters of `UserDefaults` make false or 0 of; those who
/// have a default use it. (Rows U10–U18 of Apple's behaviour; L16 and L17 are where Foundation on Linux departs from it.)
///
/// Pure: nothing here traps, whatever is stored.
enum Coercion {
    static func string(_ value: Value?) -> String? {
        switch value {
        case .string(let text): text
        case .integer(let number): String(number)
        case .unsignedInteger(let number): String(number)
        case .real(let number): text(number)
        case .boolean(let flag): flag ? "1" : "0"
        case .date, .data, .array, .dictionary, nil: nil
        }
    }

    static func bool(_ value: Value?) -> Bool? {
        switch value {
        case .string(let text): isTrue(text)
        case .integer(let number): number != 0
        case .unsignedInteger(let number): number != 0
        case .real(let number): number != 0
        case .boolean(let flag): flag
        case .date, .data, .array, .dictionary, nil: nil
        }
    }

    /// The number as any integer type: cut towards zero, and to the bounds of the type.
    static func integer<Number: FixedWidthInteger>(_ value: Value?, as type: Number.Type = Number.self) -> Number? {
        switch value {
        case .string(let text): leadingInteger(text)
        case .integer(let number): Number(clamping: number)
        case .unsignedInteger(let number): Number(clamping: number)
        case .real(let number): clamped(number)
        case .boolean(let flag): flag ? 1 : 0
        case .date, .data, .array, .dictionary, nil: nil
        }
    }

    static func double(_ value: Value?) -> Double? {
        switch value {
        case .string(let text): leadingNumber(text)
        case .integer(let number): Double(number)
        case .unsignedInteger(let number): Double(number)
        case .real(let number): number
        case .boolean(let flag): flag ? 1 : 0
        case .date, .data, .array, .dictionary, nil: nil
        }
    }

    /// The integer, if it is one and fits: no coercion.
    static func exactInteger<Number: FixedWidthInteger>(
        _ value: Value?, as type: Number.Type = Number.self
    ) -> Number? {
        switch value {
        case .integer(let number): Number(exactly: number)
        case .unsignedInteger(let number): Number(exactly: number)
        default: nil
        }
    }

    /// The elements, if all of them are strings: numbers are not converted (U13).
    static func strings(_ value: Value?) -> [String]? {
        guard case .array(let elements) = value else { return nil }
        var strings: [String] = []
        strings.reserveCapacity(elements.count)
        for element in elements {
            guard case .string(let text) = element else { return nil }
            strings.append(text)
        }
        return strings
    }
}

// MARK: - Numbers

extension Coercion {
    /// As `NSNumber` says it: 12.34, and 1 for 1.0.
    private static func text(_ number: Double) -> String {
        let text = number.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    private static func clamped<Number: FixedWidthInteger>(_ number: Double) -> Number {
        if number.isNaN { return 0 }
        // A bound that a Double cannot hold is rounded up by the conversion: `exactly` refuses what lies past it.
        return Number(exactly: number.rounded(.towardZero)) ?? (number < 0 ? Number.min : Number.max)
    }
}

// MARK: - Text

extension Coercion {
    /// NSString's `boolValue` (U17).
    private static func isTrue(_ text: String) -> Bool {
        var bytes = withoutBlanks(text)
        if let sign = bytes.first, isSign(sign) { bytes.removeFirst() }
        bytes = bytes.drop { $0 == UInt8(ascii: "0") }
        switch bytes.first {
        case UInt8(ascii: "Y"), UInt8(ascii: "y"), UInt8(ascii: "T"), UInt8(ascii: "t"): return true
        case (UInt8(ascii: "1")...UInt8(ascii: "9"))?: return true
        default: return false
        }
    }

    /// NSString's `integerValue`: blanks, a sign, digits; what follows does not count.
    private static func leadingInteger<Number: FixedWidthInteger>(_ text: String) -> Number {
        var bytes = withoutBlanks(text)
        let isNegative = bytes.first == UInt8(ascii: "-")
        if let sign = bytes.first, isSign(sign) { bytes.removeFirst() }
        var result: Number = 0
        for byte in bytes.prefix(while: isDigit) {
            let digit = Number(truncatingIfNeeded: byte - UInt8(ascii: "0"))
            let (product, overflow) = result.multipliedReportingOverflow(by: 10)
            let (sum, more) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            if overflow || more { return isNegative ? Number.min : Number.max }
            result = sum
        }
        return result
    }

    /// NSString's `doubleValue`: the longest beginning that is a decimal number.
    private static func leadingNumber(_ text: String) -> Double {
        let bytes = withoutBlanks(text)
        var end = bytes.startIndex
        if end < bytes.endIndex, isSign(bytes[end]) { end += 1 }
        let integerDigits = skipDigits(bytes, &end)
        var digits = integerDigits
        if end < bytes.endIndex, bytes[end] == UInt8(ascii: ".") {
            end += 1
            digits += skipDigits(bytes, &end)
        }
        guard digits > 0 else { return 0 }
        skipExponent(bytes, &end)
        var number = String(decoding: bytes[..<end], as: UTF8.self)
        // "5." is read by NSString, and not by Double.
        if number.hasSuffix(".") { number += "0" }
        return Double(number) ?? 0
    }

    private static func skipExponent(_ bytes: ArraySlice<UInt8>, _ end: inout Int) {
        guard end < bytes.endIndex, bytes[end] | 0x20 == UInt8(ascii: "e") else { return }
        var next = end + 1
        if next < bytes.endIndex, isSign(bytes[next]) { next += 1 }
        if skipDigits(bytes, &next) > 0 { end = next }
    }

    private static func skipDigits(_ bytes: ArraySlice<UInt8>, _ end: inout Int) -> Int {
        let start = end
        while end < bytes.endIndex, isDigit(bytes[end]) { end += 1 }
        return end - start
    }

    private static func withoutBlanks(_ text: String) -> ArraySlice<UInt8> {
        [UInt8](text.utf8).drop { $0 == UInt8(ascii: " ") || (0x09...0x0D).contains($0) }
    }

    private static func isSign(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
