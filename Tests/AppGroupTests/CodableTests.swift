import Foundation
import PropertyList
import Testing

@testable import AppGroup

/// `Codable` values as property-list structure.
@Suite struct CodableTests {
    struct Everything: Codable, Equatable {
        var flag = true
        var small: Int8 = -8
        var number = Int.max
        var large = UInt64.max
        var real = 1.0
        var float = Float(0.1)
        var text = "é"
        var date = Date(timeIntervalSinceReferenceDate: 1.5)
        var data = Data([1, 2])
        var url = URL(string: "https://example.org/a?b")
        var id = UUID()
        var absent: String?
        var list = [[1, 2], []]
        var entries = ["a": [true], "": []]
        var choice = Choice.with(label: "x", 5)
        var kind = Kind.second
        var inner = Inner()
    }

    struct Inner: Codable, Equatable { var x: Double? = -0.0 }
    enum Kind: String, Codable { case first, second }
    enum Choice: Codable, Equatable {
        case none
        case with(label: String, Int)
    }

    @Test(arguments: WorldKind.allCases) func `a value comes back as it was`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let value = Everything()
        try world.writer.set(value, forKey: "v")
        try await world.settle()
        #expect(try world.reader.value(Everything.self, forKey: "v") == value)
        #expect(try world.reader.value(Everything.self, forKey: "nowhere") == nil)
    }

    @Test func `it is stored as structure, with the types that the setters give`() throws {
        let settings = GroupDefaults.inMemory()
        try settings.set(Everything(), forKey: "v")
        let stored = try #require(settings.dictionary(forKey: "v"))
        #expect(stored["flag"] as? Bool == true)
        #expect(stored["number"] as? Int == .max)
        #expect(stored["large"] as? UInt64 == .max)
        #expect(stored["real"] as? Double == 1)
        #expect(stored["date"] as? Date == Date(timeIntervalSinceReferenceDate: 1.5))
        #expect(stored["data"] as? Data == Data([1, 2]))
        #expect(stored["url"] as? String == "https://example.org/a?b")
        #expect(stored["kind"] as? String == "second")
        #expect(stored.keys.contains("absent") == false)
        #expect((stored["list"] as? [Any])?.count == 2)
    }

    @Test func `scalars and collections encode, too`() throws {
        func roundTrip<T: Codable & Equatable>(_ value: T) throws {
            #expect(try PropertyListValueDecoder.decode(T.self, from: PropertyListValueEncoder.encode(value)) == value)
        }
        try roundTrip(5)
        try roundTrip(true)
        try roundTrip("x")
        try roundTrip(Date(timeIntervalSinceReferenceDate: 7))
        try roundTrip(Data([1]))
        try roundTrip(URL(filePath: "/tmp/a b"))
        try roundTrip([Inner(), Inner(x: nil)])
        try roundTrip([Kind.first: 1])
        try roundTrip(["a": Choice.none])
        try roundTrip(Decimal(string: "1.25"))
        try roundTrip(Set([1, 2, 3]))
        try roundTrip(1..<5)
        #expect(try PropertyListValueEncoder.encode(Date(timeIntervalSinceReferenceDate: 0)).kind == .date)
        #expect(try PropertyListValueEncoder.encode(URL(filePath: "/tmp")) == .string("file:///tmp"))
    }

    class Base: Codable {
        var base = 1
        init() {}
    }

    final class Derived: Base {
        var own = "d"
        override init() { super.init() }
        enum Keys: String, CodingKey { case own, nested, list }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(own, forKey: .own)
            var nested = container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            try nested.encode(1, forKey: .own)
            var again = container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            try again.encode(2, forKey: .list)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            try list.encode(1)
            var inner = list.nestedUnkeyedContainer()
            try inner.encode("x")
            var keyed = list.nestedContainer(keyedBy: Keys.self)
            try keyed.encode(true, forKey: .own)
            try super.encode(to: list.superEncoder())
            try super.encode(to: container.superEncoder())
        }
        required init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Keys.self)
            own = try container.decode(String.self, forKey: .own)
            let nested = try container.nestedContainer(keyedBy: Keys.self, forKey: .nested)
            #expect(try nested.decode(Int.self, forKey: .own) == 1)
            #expect(try nested.decode(Int.self, forKey: .list) == 2)
            #expect(try nested.decodeNil(forKey: .nested))
            var list = try container.nestedUnkeyedContainer(forKey: .list)
            #expect(try list.decode(Int.self) == 1)
            var inner = try list.nestedUnkeyedContainer()
            #expect(try inner.decode(String.self) == "x")
            #expect(inner.isAtEnd)
            #expect(throws: DecodingError.self) { try inner.decode(String.self) }
            #expect(try list.nestedContainer(keyedBy: Keys.self).decode(Bool.self, forKey: .own))
            #expect(try Base(from: list.superDecoder()).base == 5)
            try super.init(from: container.superDecoder())
        }
    }

    @Test func `nested containers and superclasses`() throws {
        let value = Derived()
        value.base = 5
        let stored = try PropertyListValueEncoder.encode(value)
        #expect(
            stored
                == .dictionary([
                    "own": .string("d"), "nested": .dictionary(["own": .integer(1), "list": .integer(2)]),
                    "list": .array([
                        .integer(1), .array([.string("x")]), .dictionary(["own": .boolean(true)]),
                        .dictionary(["base": .integer(5)]),
                    ]),
                    "super": .dictionary(["base": .integer(5)]),
                ]))
        let back = try PropertyListValueDecoder.decode(Derived.self, from: stored)
        #expect(back.base == 5 && back.own == "d")
    }

    struct Torn: Encodable {
        func encode(to encoder: any Encoder) throws {
            var first = encoder.unkeyedContainer()
            try first.encode(1)
            var second = encoder.container(keyedBy: TextKey.self)
            try second.encode(1, forKey: TextKey("a"))
        }
    }

    struct Silent: Encodable { func encode(to encoder: any Encoder) throws {} }

    @Test func `what has no place in a property list is a clear error and stores nothing`() throws {
        let settings = GroupDefaults.inMemory()
        func expectRefusal(of value: some Encodable, saying text: String) {
            do throws(AppGroupError) {
                try settings.set(value, forKey: "k")
                Issue.record("it was taken")
            } catch {
                #expect(error.code == .invalidValue)
                #expect(error.keys == ["k"])
                #expect(error.description.contains(text), "\(error)")
            }
        }
        expectRefusal(of: ["a": [Inner?.some(Inner()), nil]], saying: "no nil at a[1]")
        expectRefusal(of: ["a": Inner?.none], saying: "no nil at a")
        let late = Dated(date: Date.distantFuture.addingTimeInterval(1e18))
        expectRefusal(of: ["d": [late]], saying: "at d[0].date")
        expectRefusal(of: Torn(), saying: "in two ways")
        expectRefusal(of: Silent(), saying: "encodes nothing")
        expectRefusal(of: ["x": Kept(text: "a\u{0}")], saying: "U+0000")
        #expect(settings.ownKeys == [])
    }

    struct Dated: Codable { var date: Date }
    struct Kept: Codable { var text: String }

    struct Flag: Codable { var v: Bool }
    struct Whole: Codable { var v: Int8 }
    struct Positive: Codable { var v: UInt64 }
    struct Real: Codable { var v: Double }
    struct Text: Codable { var v: String }
    struct Link: Codable { var v: URL }

    @Test func `R64 reading is strict: a boolean is no number, and the error says where`() throws {
        func reads<T: Decodable>(_ type: T.Type, _ value: Value) -> Bool {
            (try? PropertyListValueDecoder.decode(type, from: .dictionary(["v": value]))) != nil
        }
        #expect(!reads(Flag.self, .integer(1)))
        #expect(!reads(Flag.self, .string("YES")))
        #expect(reads(Flag.self, .boolean(false)))
        #expect(!reads(Whole.self, .boolean(true)))
        #expect(!reads(Whole.self, .real(1)))
        #expect(!reads(Whole.self, .integer(128)))
        #expect(!reads(Positive.self, .integer(-1)))
        #expect(reads(Positive.self, .unsignedInteger(.max)))
        #expect(reads(Real.self, .integer(1)), "people write 1 for 1.0")
        #expect(!reads(Real.self, .integer(.max)), "which would be rounded")
        #expect(!reads(Real.self, .boolean(true)))
        #expect(!reads(Text.self, .integer(1)))
        #expect(!reads(Link.self, .integer(1)))
        #expect(!reads(Link.self, .string("")))
        let settings = GroupDefaults.inMemory()
        settings.set(["list": [["v": true], ["v": 1]]], forKey: "k")
        let error = #expect(throws: AppGroupError.self) {
            try settings.value([String: [Flag]].self, forKey: "k")
        }
        #expect(error?.code == .wrongType)
        #expect(error?.description.contains("at list[1].v") == true)
        #expect(throws: AppGroupError.self) { try settings.value([String: Text].self, forKey: "k") }
        #expect(throws: AppGroupError.self) { try settings.value(Text.self, forKey: "k") }
    }
}
