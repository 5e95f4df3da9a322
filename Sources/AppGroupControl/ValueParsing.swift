package import PropertyList
import Varlink

/// Reads one value of a given type from a word of the command line: strictly, where `defaults` makes 0 of garbage.
package enum ValueParsing {
    /// Why a word is no such value: what was expected.
    package struct Problem: Error, Equatable, Sendable {
        package var expected: String

        package init(expected: String) {
            self.expected = expected
        }
    }

    package static func value(_ text: String, as flag: ValueFlag) throws(Problem) -> Value {
        switch flag {
        case .string: .string(text)
        case .integer: try integer(text)
        case .real: try real(text)
        case .boolean: try boolean(text)
        case .date: try date(text)
        case .data: try data(text)
        case .base64: try base64(text)
        case .json: try json(text)
        case .propertyList: try propertyList(text)
        case .notation: try notation(text)
        case .array, .arrayAdd, .dictionary, .dictionaryAdd: throw Problem(expected: "one value")
        }
    }

    private static func integer(_ text: String) throws(Problem) -> Value {
        let digits = text.hasPrefix("-") || text.hasPrefix("+") ? text.dropFirst() : text[...]
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw Problem(expected: "an integer such as 42")
        }
        if let number = Int64(text) { return .integer(number) }
        if let number = UInt64(text) { return .unsigned(number) }
        throw Problem(expected: "an integer from -9223372036854775808 to 18446744073709551615")
    }

    private static func real(_ text: String) throws(Problem) -> Value {
        switch text.lowercased() {
        case "nan": return .real(.nan)
        case "inf", "+inf", "infinity", "+infinity": return .real(.infinity)
        case "-inf", "-infinity": return .real(-.infinity)
        default: break
        }
        guard let number = Double(decimal: text) else { throw Problem(expected: "a number such as 0.5 or 1e-3") }
        guard number.isFinite else { throw Problem(expected: "a number up to 1.7976931348623157e308") }
        return .real(number)
    }

    private static func boolean(_ text: String) throws(Problem) -> Value {
        switch text.lowercased() {
        case "true", "yes", "1": .boolean(true)
        case "false", "no", "0": .boolean(false)
        default: throw Problem(expected: "true or false")
        }
    }

    private static func data(_ text: String) throws(Problem) -> Value {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { throw Problem(expected: "an even number of hexadecimal digits") }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else {
                throw Problem(expected: "pairs of hexadecimal digits such as 48656c6c6f")
            }
            bytes.append(high << 4 | low)
        }
        return .data(bytes)
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func base64(_ text: String) throws(Problem) -> Value {
        guard let bytes = Base64.decode(text.utf8) else { throw Problem(expected: "base64 with padding") }
        return .data(bytes)
    }

    private static func json(_ text: String) throws(Problem) -> Value {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: Array(text.utf8))
        } catch {
            throw Problem(expected: "JSON (\(error))")
        }
        do throws(JSONReading.Problem) {
            return try JSONReading.value(json)
        } catch {
            let place = error.path.isEmpty ? "" : "\(error.path): "
            throw Problem(expected: "JSON that can be a value (\(place)\(error.reason))")
        }
    }

    /// An element of its own, or a whole document.
    private static func propertyList(_ text: String) throws(Problem) -> Value {
        do throws(PropertyListError) {
            return try XMLPropertyList.value(parsing: Array(text.utf8))
        } catch {
            throw Problem(expected: "an element of an XML property list (\(error))")
        }
    }

    private static func notation(_ text: String) throws(Problem) -> Value {
        do throws(NotationReading.Problem) {
            return try NotationReading.value(text)
        } catch {
            let line = error.line > 1 ? "line \(error.line), " : ""
            throw Problem(expected: "\(error.expected) at \(line)column \(error.column)")
        }
    }

    /// Also the day alone, a blank for the `T` (as `defaults` prints dates), and an offset. A time without a zone is
    /// refused: the tool's zone need not be the reader's.
    private static func date(_ text: String) throws(Problem) -> Value {
        let problem = Problem(
            expected: "a time with its zone such as 2026-11-30T09:00:00Z, or a day such as 2026-11-30")
        var bytes = Array(text.utf8)
        if bytes.count == 10 { bytes += Array("T00:00:00Z".utf8) }
        guard bytes.count >= 20 else { throw problem }
        if bytes[10] == UInt8(ascii: " ") { bytes[10] = UInt8(ascii: "T") }
        let offset = try takeOffset(from: &bytes, problem)
        guard let time = Timestamp(rfc3339: bytes[...]) else { throw problem }
        let moved = time.microseconds.subtractingReportingOverflow(offset)
        let date = Timestamp(microseconds: moved.partialValue)
        guard !moved.overflow, Timestamp.representable.contains(date) else { throw problem }
        return .date(date)
    }

    /// Replaces `+01:00`, `+0100` or ` +0100` at the end by `Z`, and gives it in microseconds.
    private static func takeOffset(from bytes: inout [UInt8], _ problem: Problem) throws(Problem) -> Int64 {
        guard bytes.last != UInt8(ascii: "Z") else { return 0 }
        let signs = [UInt8(ascii: "+"), UInt8(ascii: "-")]
        guard let sign = bytes.lastIndex(where: signs.contains), sign >= 19 else { throw problem }
        var digits = Array(bytes[(sign + 1)...])
        if digits.count == 5, digits[2] == UInt8(ascii: ":") { digits.remove(at: 2) }
        guard digits.count == 4, let number = Int64(String(decoding: digits, as: UTF8.self)), number >= 0,
            number / 100 < 24, number % 100 < 60, digits[0] != UInt8(ascii: "+")
        else { throw problem }
        let minutes = number / 100 * 60 + number % 100
        let isEast = bytes[sign] == UInt8(ascii: "+")
        bytes.removeSubrange(sign...)
        if bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
        bytes.append(UInt8(ascii: "Z"))
        return (isEast ? minutes : -minutes) * 60_000_000
    }
}

extension Double {
    /// A decimal number and nothing else: no hexadecimal, no names, no blanks.
    init?(decimal text: String) {
        guard text.utf8.contains(where: { (0x30...0x39).contains($0) }), text.utf8.allSatisfy(Self.isDecimal) else {
            return nil
        }
        self.init(text)
    }

    private static func isDecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "e"), UInt8(ascii: "E"):
            true
        default: false
        }
    }
}
