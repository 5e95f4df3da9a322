import Foundation
import PropertyList
import TestSupport
import Testing

@Suite("Foundation's property lists and ours")
struct FoundationTests {
    /// Foundation's values as ours; nil for what is none.
    private func value(_ object: Any) -> Value? {
        switch object {
        case let text as String: return .string(text)
        case let date as Date:
            return .date(Timestamp(microseconds: Int64((date.timeIntervalSince1970 * 1e6).rounded())))
        case let data as Data: return .data([UInt8](data))
        case let number as NSNumber: return value(number)
        case let elements as [Any]: return .array(elements.compactMap(value))
        case let entries as [String: Any]:
            return .dictionary(
                Dictionary(
                    uniqueKeysWithValues: entries.compactMap { key, object in
                        value(object).map { (Key(key), $0) }
                    }))
        default: return nil
        }
    }

    /// Foundation makes numbers of all scalars; what they were is in their C type.
    private func value(_ number: NSNumber) -> Value {
        let type = unsafe String(cString: number.objCType)
        switch type {
        case "c", "B": return .boolean(number.boolValue)
        case "d", "f": return .real(number.doubleValue)
        case "Q": return .unsigned(number.uint64Value)
        default: return .integer(number.int64Value)
        }
    }

    /// Foundation's dictionaries take canonically equal keys for one, and it drops a U+FEFF that begins a string; ours do
    /// neither.
    private func isKeptByFoundation(_ value: Value) -> Bool {
        switch value {
        case .string(let text): text.unicodeScalars.first != "\u{FEFF}"
        case .array(let elements): elements.allSatisfy(isKeptByFoundation)
        case .dictionary(let entries):
            Set(entries.keys.map(\.string)).count == entries.count
                && entries.keys.allSatisfy { isKeptByFoundation(.string($0.string)) }
                && entries.values.allSatisfy(isKeptByFoundation)
        default: true
        }
    }

    /// Foundation reads the sign of a zero, and loses it when it writes.
    private func unsigned(_ value: Value) -> Value {
        switch value {
        case .real(let number): .real(number == 0 ? 0 : number)
        case .array(let elements): .array(elements.map(unsigned))
        case .dictionary(let entries): .dictionary(entries.mapValues(unsigned))
        default: value
        }
    }

    @Test("ours are read by Foundation with equal values, and what Foundation makes of them is read by us")
    func both() throws {
        try SplitMix64.withSeed { (generator: inout SplitMix64) throws in
            var random = RandomPropertyList(generator: generator, hasCarriageReturns: false)
            var read = 0
            while read < 400 {
                let wanted = random.entries()
                guard isKeptByFoundation(.dictionary(wanted)) else { continue }
                let object = try unsafe PropertyListSerialization.propertyList(
                    from: Data(XMLPropertyList.document(wanted)), options: [], format: nil)
                #expect(value(object).map(dump) == dump(.dictionary(wanted)))
                let theirs = try PropertyListSerialization.data(fromPropertyList: object, format: .xml, options: 0)
                let again = try XMLPropertyList(parsing: [UInt8](theirs)).entries
                #expect(Value.dictionary(again) == unsigned(.dictionary(wanted)), "\([UInt8](theirs).text)")
                read += 1
            }
        }
    }

    @Test("a carriage return in ours reaches Foundation")
    func carriageReturn() throws {
        let bytes = XMLPropertyList.document(["a\r": .string("b\r\nc\r")])
        let object = try unsafe PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
        #expect(value(object) == .dictionary(["a\r": .string("b\r\nc\r")]))
    }

    @Test("what plutil writes is read, and an edit keeps its form")
    func plutil() throws {
        let url = try #require(Bundle.fixtures?.appending(path: "plutil.plist"))
        let bytes = [UInt8](try Data(contentsOf: url))
        let list = try XMLPropertyList(parsing: bytes)
        let expected: [Key: Value] = [
            "AppleLanguages": .array([.string("de-CH"), .string("en")]),
            "NSNavLastRootDirectory": .string("~/Documents & more"),
            "empty": .dictionary([:]), "none": .array([]), "text": .string(""),
            "isDarkMode": .true, "count": .integer(-42), "large": .unsignedInteger(.max), "ratio": .real(0.5),
            "whole": .real(1), "limit": .real(.infinity), "unknown": .real(.nan),
            "opened": .date(Timestamp(microseconds: 1_796_029_200_000_000)),
            "bookmark": .data([UInt8](0..<64)), "nothing": .data([]),
            "window": .dictionary([
                "frame": .array([.integer(0), .real(12.25)]), "nested": .dictionary(["data": .data([1, 2, 3])]),
            ]),
        ]
        #expect(list.entries == expected)
        // The whole file written anew differs from Apple's in the spelling of reals and of empty elements only, so that
        // an edit that touches none of them gives the file that plutil would have written.
        let edited = list.edited([("isDarkMode", .false)]).text
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(edited == text.replacing("<key>isDarkMode</key>\n\t<true/>", with: "<key>isDarkMode</key>\n\t<false/>"))
    }
}

extension Bundle {
    /// The folder of the checked-in property lists.
    static var fixtures: URL? {
        URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
            path: "Fixtures/propertylists")
    }
}
