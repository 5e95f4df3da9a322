import Foundation
import GroupFiles
import PropertyList
import TestSupport
import Testing

@Suite("A binary property list")
struct BinaryPropertyListTests {
    private static let exact: [Value] = [
        .integer(0), .integer(1), .integer(-1), .integer(127), .integer(128), .integer(255), .integer(256),
        .integer(65_536),
        .integer(-128), .integer(-129), .integer(.max), .integer(.min), .integer(4_294_967_296),
        .unsignedInteger(UInt64(Int64.max) + 1), .unsignedInteger(.max), .unsignedInteger(.max - 1),
        .real(0), .real(-0.0), .real(1), .real(.nan), .real(.infinity), .real(-.infinity), .real(0.1),
        .real(.leastNonzeroMagnitude), .real(.greatestFiniteMagnitude), .boolean(true), .boolean(false),
        .date(Timestamp(microseconds: 0)), .date(Timestamp(microseconds: -1)), .date(Timestamp(microseconds: 1)),
        .date(Timestamp(microseconds: 978_307_200_000_000)), .date(Timestamp(microseconds: 978_307_199_999_999)),
        .date(Timestamp(microseconds: 1_796_029_200_123_456)), .date(Timestamp(microseconds: 3_155_760_000_000_001)),
        .date(Timestamp(microseconds: 5_000_000_000_999_999)), .date(.representable.lowerBound),
        .date(Timestamp.representable.upperBound.wholeSeconds),
        .string(""), .string("a"), .string("é"), .string("e\u{301}"), .string("😀👩‍👩‍👧"), .string("\r\n\t "),
        .string("\u{1}\u{7F}"),
        .string("\u{FFFE}\u{FFFF}\u{10FFFF}\u{FEFF}"), .string(String(repeating: "ab", count: 500)),
        .string(String(repeating: "漢", count: 300)), .data([]), .data([0]), .data([UInt8](repeating: 0, count: 70_000)),
        .array([]), .array([.array([.array([])]), .integer(1), .real(1), .boolean(true), .string("1")]),
        .dictionary([:]), .dictionary(["": .string(""), "a": .dictionary(["a": .dictionary([:])])]),
    ]

    @Test("carries every value exactly", arguments: exact)
    func exactness(value: Value) throws {
        // Among the others too: equal nodes are stored once, and those that only look equal must not be.
        for entries: [Key: Value] in [["k": value], ["": value, "é": .array([value]), "e\u{301}": .array(Self.exact)]] {
            let bytes = try BinaryPropertyList.document(entries)
            #expect(BinaryPropertyList.isBinary(bytes))
            #expect(try BinaryPropertyList.entries(parsing: bytes) == entries)
        }
    }

    @Test("round-trips at random")
    func roundTrip() throws {
        try SplitMix64.withSeed { (generator: inout SplitMix64) throws in
            for _ in 0..<500 {
                let wanted = Self.entries(&generator)
                #expect(try BinaryPropertyList.entries(parsing: BinaryPropertyList.document(wanted)) == wanted)
            }
        }
    }

    @Test("keeps the second of a date however far away, and of the fraction what fits")
    func farDates() throws {
        try SplitMix64.withSeed { (generator: inout SplitMix64) throws in
            let range =
                Timestamp.representable.lowerBound.microseconds...Timestamp.representable.upperBound.microseconds
            for number in 0..<500 {
                let random = Int64.random(in: range, using: &generator)
                let date = Timestamp(microseconds: number == 0 ? range.upperBound : random)
                let bytes = try BinaryPropertyList.document(["d": .date(date)])
                guard case .date(let read) = try BinaryPropertyList.entries(parsing: bytes)["d"] else {
                    Issue.record("no date")
                    continue
                }
                #expect(read.wholeSeconds == date.wholeSeconds)
                #expect(abs(read.microseconds - date.microseconds) <= 31)
                #expect(try BinaryPropertyList.document(["d": .date(read)]) == bytes)
            }
        }
    }

    @Test("of a hundred thousand entries is read and written without delay")
    func large() throws {
        var entries: [Key: Value] = [:]
        for number in 0..<100_000 { entries[Key("key.\(number)")] = .integer(Int64(number)) }
        let bytes = try BinaryPropertyList.document(entries)
        #expect(try BinaryPropertyList.entries(parsing: bytes) == entries)
    }

    @Test("of Python and of ours are read with equal values by the other")
    func python() throws {
        let directory = try TemporaryDirectory("plistlib")
        let files = SplitMix64.withSeed { generator in (0..<300).map { _ in Self.entries(&generator) } }
        for (number, entries) in files.enumerated() {
            let bytes = try BinaryPropertyList.document(entries)
            try Data(bytes).write(to: URL(filePath: directory.file("\(number).plist")))
        }
        let script = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Fixtures/propertylists/plist_dump.py")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path(), directory.path]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        for (number, entries) in files.enumerated() {
            let binary = [UInt8](try Data(contentsOf: URL(filePath: directory.file("\(number).bin"))))
            #expect(try BinaryPropertyList.entries(parsing: binary) == entries)
            let text = [UInt8](try Data(contentsOf: URL(filePath: directory.file("\(number).xml"))))
            let list = try XMLPropertyList(parsing: text)
            #expect(list.entries == entries.mapValues(\.inWholeSeconds))
        }
    }

    @Test("of Foundation is read, and ours is read by Foundation")
    func foundation() throws {
        let object: [String: Any] = [
            "s": "😀", "i": -5, "u": UInt64.max, "r": 1.5, "b": true, "d": Date(timeIntervalSinceReferenceDate: 0.25),
            "x": Data([1, 2]), "a": [1, "two"] as [Any], "e": [String: Any](),
        ]
        let expected: [Key: Value] = [
            "s": .string("😀"), "i": .integer(-5), "u": .unsignedInteger(.max), "r": .real(1.5), "b": .boolean(true),
            "d": .date(Timestamp(microseconds: 978_307_200_250_000)), "x": .data([1, 2]),
            "a": .array([.integer(1), .string("two")]), "e": .dictionary([:]),
        ]
        let theirs = try PropertyListSerialization.data(fromPropertyList: object, format: .binary, options: 0)
        #expect(try BinaryPropertyList.entries(parsing: [UInt8](theirs)) == expected)
        let ours = Data(try BinaryPropertyList.document(expected))
        let read = try unsafe PropertyListSerialization.propertyList(from: ours, options: [], format: nil)
        let again = try PropertyListSerialization.data(fromPropertyList: read, format: .binary, options: 0)
        #expect(try BinaryPropertyList.entries(parsing: [UInt8](again)) == expected)
    }

    @Test("cannot hold a zero character, a date out of range, or more than the levels there may be")
    func refusals() throws {
        func reason(_ value: Value, key: Key = "k") -> PropertyListError.Reason? {
            do throws(PropertyListError) {
                _ = try BinaryPropertyList.document([key: value])
                return nil
            } catch {
                return error.reason
            }
        }
        #expect(reason(.string("a\0b")) == .uncarriable("the character U+0000"))
        #expect(reason(.array([.dictionary(["\0": .boolean(true)])])) == .uncarriable("the character U+0000"))
        #expect(reason(.boolean(true), key: "a\0") == .uncarriable("the character U+0000"))
        #expect(reason(.date(Timestamp(microseconds: .max))) == .uncarriable("a date out of the years 0001 to 9999"))
        var deep = Value.boolean(true)
        for _ in 0..<Value.depthLimit { deep = .array([deep]) }
        #expect(try BinaryPropertyList.entries(parsing: BinaryPropertyList.document(["k": deep])) == ["k": deep])
        #expect(reason(.array([deep])) == .tooDeep)
    }

    @Test("that is damaged is refused or read, and never a crash")
    func damage() throws {
        try SplitMix64.withSeed { (generator: inout SplitMix64) throws in
            for _ in 0..<400 {
                let good = try BinaryPropertyList.document(Self.entries(&generator))
                for _ in 0..<20 {
                    var bytes = good
                    let at = Int.random(in: 0..<bytes.count, using: &generator)
                    switch Int.random(in: 0..<4, using: &generator) {
                    case 0: bytes.removeSubrange(at...)
                    case 1: bytes.remove(at: at)
                    case 2:
                        bytes[bytes.count - 1 - at % 40 % bytes.count] = UInt8.random(in: 0...255, using: &generator)
                    default: bytes[at] = UInt8.random(in: 0...255, using: &generator)
                    }
                    _ = try? BinaryPropertyList.entries(parsing: bytes)
                }
            }
        }
    }

    /// Random entries whose dates are near enough for their microseconds, and without what Python cannot write.
    private static func entries(_ generator: inout SplitMix64, levels: Int = 3) -> [Key: Value] {
        let words = ["", "a", "key", "é", "e\u{301}", "😀", " ", ".", "@", "/", "<&>", "漢字", "\u{7F}", "]]>", "name"]
        func text(_ generator: inout SplitMix64) -> String {
            (0..<Int.random(in: 0...4, using: &generator)).map { _ in words.randomElement(using: &generator) ?? "" }
                .joined()
        }
        func value(_ generator: inout SplitMix64, _ levels: Int) -> Value {
            switch Int.random(in: 0..<(levels > 0 ? 9 : 7), using: &generator) {
            case 0: .string(text(&generator))
            case 1:
                .integer(
                    Int64.random(in: .min ... .max, using: &generator) >> Int64.random(in: 0..<64, using: &generator))
            case 2: .unsigned(UInt64.random(in: 0 ... .max, using: &generator))
            case 3: .real(Double(Int64.random(in: .min ... .max, using: &generator)) / 1e6)
            case 4: .boolean(Bool.random(using: &generator))
            case 5: .date(Timestamp(microseconds: Int64.random(in: -3e15.integer...5e15.integer, using: &generator)))
            case 6: .data((0..<Int.random(in: 0..<20, using: &generator)).map { UInt8($0) })
            case 7: .array((0..<Int.random(in: 0..<4, using: &generator)).map { _ in value(&generator, levels - 1) })
            default: .dictionary(Self.entries(&generator, levels: levels - 1))
            }
        }
        var entries: [Key: Value] = [:]
        for _ in 0..<Int.random(in: 0..<7, using: &generator) {
            entries[Key(text(&generator))] = value(&generator, levels)
        }
        return entries
    }
}

extension Double {
    fileprivate var integer: Int64 { Int64(self) }
}
