import TestSupport
import Testing

@testable import PropertyList

@Suite struct EntryTableTests {
    /// Few keys, so that they come again and go; many, so that the table grows; long values, so that garbage is collected.
    @Test(arguments: [(keys: 20, steps: 3000, length: 40), (keys: 3000, steps: 20_000, length: 12), (50, 2000, 9000)])
    func `a table holds what a dictionary would`(keys: Int, steps: Int, length: Int) throws {
        try SplitMix64.withSeed { random in
            var table = EntryTable()
            var model: [Key: (value: Value, revision: Int64)] = [:]
            for step in 1...Int64(steps) {
                let key = Self.key(Int.random(in: 0..<keys, using: &random))
                let known = model[key]?.revision
                if Int.random(in: 0..<4, using: &random) == 0 {
                    #expect(table.remove(key) == known)
                    model[key] = nil
                } else {
                    let value = Self.value(&random, length: length)
                    #expect(table.update(key, value, revision: step) == known)
                    model[key] = (value, step)
                }
                if step % 500 == 0 { try Self.compare(table, model) }
            }
            try Self.compare(table, model)
            for key in model.keys { #expect(table.remove(key) != nil) }
            #expect(table.count == 0)
        }
    }

    @Test func `a copy stays what it was`() {
        var table = EntryTable()
        table.update("a", .string("one"), revision: 1)
        let copy = table
        table.update("a", .string("two"), revision: 2)
        table.update("b", .integer(1), revision: 3)
        #expect(copy["a"] == .string("one"))
        #expect(copy.count == 1)
        #expect(copy.revision(of: "a") == 1)
        #expect(table["a"] == .string("two"))
    }

    @Test func `keys are told apart byte by byte`() {
        var table = EntryTable()
        for (index, key) in ["", "a", "A", "é", "e\u{301}", "a\u{0}", "12345678", "123456789"].enumerated() {
            #expect(table.update(Key(key), .integer(Int64(index)), revision: 1) == nil)
        }
        #expect(table["e\u{301}"] == .integer(4))
        #expect(table["é"] == .integer(3))
        #expect(table["b"] == nil)
        #expect(!table.contains("b"))
    }

    @Test func `packed values come back as they were`() {
        SplitMix64.withSeed { random in
            for _ in 0..<500 {
                let value = Self.value(&random, length: 30)
                var bytes: [UInt8] = []
                value.pack(to: &bytes)
                #expect(bytes.count == value.packedSize)
                #expect(Value(packed: bytes.span) == value)
            }
        }
    }

    private static func key(_ number: Int) -> Key {
        Key(number % 3 == 0 ? "\(number)" : "org.example.settings.key-\(number)")
    }

    private static func value(_ random: inout SplitMix64, length: Int, depth: Int = 2) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 11 : 9), using: &random) {
        case 0...2: .string(String(repeating: "é", count: Int.random(in: 0...length, using: &random)))
        case 3: .integer(Int64.random(in: .min ... .max, using: &random))
        case 4: .unsigned(UInt64.random(in: 0 ... .max, using: &random))
        case 5: .real([0, -0.0, 1.5, .nan, -.infinity].randomElement(using: &random) ?? 0)
        case 6: .boolean(Bool.random(using: &random))
        case 7: .date(Timestamp(microseconds: Int64.random(in: .min ... .max, using: &random)))
        case 8: .data([UInt8](repeating: 7, count: Int.random(in: 0...length, using: &random)))
        case 9:
            .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(&random, length: 5, depth: depth - 1) })
        default:
            .dictionary([
                "": value(&random, length: 5, depth: depth - 1), "é": value(&random, length: 5, depth: depth - 1),
            ])
        }
    }

    private static func compare(_ table: EntryTable, _ model: [Key: (value: Value, revision: Int64)]) throws {
        #expect(table.count == model.count)
        for (key, entry) in model {
            #expect(table[key] == entry.value)
            #expect(table.revision(of: key) == entry.revision)
        }
        var seen: [Key: Value] = [:]
        for index in 0..<table.count { seen[table.key(at: index)] = table.value(at: index) }
        #expect(seen == model.mapValues(\.value))
    }
}
