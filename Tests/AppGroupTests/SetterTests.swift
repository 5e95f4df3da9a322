import Foundation
import PropertyList
import Testing

@testable import AppGroup

/// What can be set, what is refused, and which overload takes what.
@Suite struct SetterTests {
    struct Profile: Codable, Equatable {
        var name = "Ada"
        var age = 36
    }

    /// Compiles without `try`: the throwing overload for `Codable` values must not shadow these.
    @Test func `plain types need no try`() {
        let settings = GroupDefaults.inMemory()
        let optional: String? = "s"
        let any: Any = 1
        settings.set("s", forKey: "1")
        settings.set(optional, forKey: "2")
        settings.set(Date(), forKey: "3")
        settings.set(Data(), forKey: "4")
        settings.set(URL(string: "https://example.org"), forKey: "5")
        settings.set(URL(filePath: "/tmp"), forKey: "6")
        settings.set(1, forKey: "7")
        settings.set(Int64(1), forKey: "8")
        settings.set(UInt64(1), forKey: "9")
        settings.set(UInt8(1), forKey: "10")
        settings.set(1.5, forKey: "11")
        settings.set(Float(1), forKey: "12")
        settings.set(true, forKey: "13")
        settings.set([1, 2], forKey: "14")
        settings.set(["a": ["b": Data()]], forKey: "15")
        settings.set([], forKey: "16")
        settings.set([:], forKey: "17")
        settings.set([1, "x"], forKey: "18")
        settings.set(["a": 1, "b": "x"], forKey: "19")
        settings.set(any, forKey: "20")
        settings.set([any], forKey: "21")
        settings.set(["a": any], forKey: "22")
        settings.set([[Date]]?.none, forKey: "23")
        settings.set(Bool?(true), forKey: "24")
        settings.set("substring".prefix(3), forKey: "25")
        #expect(settings.ownKeys.count == 24)
        #expect(settings.string(forKey: "25") == "sub")
        #expect(settings.object(forKey: "14") as? [Int] == [1, 2])
        #expect(settings.object(forKey: "19") as? [String: Any] != nil)
    }

    @Test func `Codable values take the throwing overload`() throws {
        let settings = GroupDefaults.inMemory()
        try settings.set(Profile(), forKey: "one")
        try settings.set([Profile(), Profile()], forKey: "many")
        try settings.set(["a": Profile()], forKey: "by name")
        try settings.set(Optional(Profile()), forKey: "optional")
        #expect(settings.dictionary(forKey: "one")?["name"] as? String == "Ada")
        #expect(settings.array(forKey: "many")?.count == 2)
        #expect(settings.dictionary(forKey: "optional")?["age"] as? Int == 36)
        try settings.set(Profile?.none, forKey: "optional")
        #expect(!settings.exists("optional"))
    }

    final class Thing: Sendable {}

    static let refused: [(String, @Sendable () -> Any)] = [
        ("a class", { Thing() }),
        ("a set", { Set([1]) }),
        ("a URL inside", { [URL(filePath: "/tmp")] as [Any] }),
        ("a URL as object", { URL(filePath: "/tmp") }),
        ("NSNull", { NSNull() }),
        ("a nil inside", { ["a": 1, "b": Int?.none as Any] as [String: Any] }),
        ("a deep nil", { ["a": [1, [Int?.none as Any]]] as [String: Any] }),
        ("integer keys", { [1: 2] }),
        ("a tuple", { (1, 2) }),
        ("a type", { Int.self }),
        ("a date out of range", { Date.distantFuture.addingTimeInterval(1e18) }),
        ("a date that is none", { Date(timeIntervalSinceReferenceDate: .nan) }),
        ("a control character", { "a\u{0}b" }),
        ("a control character inside", { ["a": ["b\u{1}"]] }),
        ("too many levels", { (0..<70).reduce(1 as Any) { inner, _ in [inner] } }),
        ("very many levels", { (0..<5000).reduce(1 as Any) { inner, _ in [inner] } }),
    ]

    @Test(arguments: SetterTests.refused.indices)
    func `U02 R66 L22 L25 what no property list has is refused whole, and told`(index: Int) throws {
        let (name, make) = Self.refused[index]
        let settings = GroupDefaults.inMemory()
        settings.set("before", forKey: "k")
        let errors = reports(of: settings) { settings.set(make() as Any?, forKey: "k") }
        #expect(errors.map(\.code) == [.invalidValue], "\(name)")
        #expect(errors.first?.keys == ["k"])
        #expect(settings.string(forKey: "k") == "before", "\(name)")
        #expect(throws: AppGroupError.self) { try settings.setValue(make(), forKey: "k") }
        #expect(settings.string(forKey: "k") == "before", "\(name)")
    }

    @Test func `R66 the error says where the value is wrong`() {
        let settings = GroupDefaults.inMemory()
        let error = #expect(throws: AppGroupError.self) {
            try settings.setValue(["friends": [1, ["name": NSNull()]]] as [String: Any], forKey: "k")
        }
        #expect(error?.description.contains(#"["friends"][1]["name"]"#) == true)
    }

    @Test func `keys that no property list carries are refused and told`() {
        let settings = GroupDefaults.inMemory()
        for key in [String(repeating: "k", count: 1025), "a\u{0}"] {
            #expect(reports(of: settings) { settings.set(1, forKey: key) }.map(\.code) == [.invalidKey])
            #expect(throws: AppGroupError.self) { try settings.setValue(1, forKey: key) }
            #expect(throws: AppGroupError.self) { try settings.set(Profile(), forKey: key) }
        }
        #expect(settings.ownKeys == [])
    }

    @Test func `what bridges from Foundation's classes is taken`() {
        let settings = GroupDefaults.inMemory()
        settings.set(NSNumber(value: true), forKey: "bool")
        settings.set(NSNumber(value: 1), forKey: "int")
        settings.set(NSNumber(value: 1.5), forKey: "real")
        settings.set(NSString("text"), forKey: "text")
        settings.set(NSArray(array: [1, "b"]), forKey: "array")
        settings.set(NSDictionary(dictionary: ["a": NSData()]), forKey: "dictionary")
        #expect(settings.object(forKey: "bool") as? Bool == true)
        #expect(settings.object(forKey: "int") as? Int == 1)
        #expect(settings.object(forKey: "real") as? Double == 1.5)
        #expect(settings.string(forKey: "text") == "text")
        #expect(settings.array(forKey: "array")?.count == 2)
        #expect(settings.dictionary(forKey: "dictionary")?["a"] as? Data == Data())
    }

    @Test(arguments: WorldKind.allCases) func `typed keys`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let (writer, reader) = (world.writer, world.reader)
        #expect(reader[.isDarkMode] == false)
        #expect(reader[.theme] == .light)
        #expect(reader[.nickname] == nil)
        #expect(reader[.profile] == Profile())
        #expect(reader.ownKeys == [], "R67: a default is never written")
        writer[.isDarkMode].toggle()
        writer[.theme] = .dark
        writer[.nickname] = "ace"
        writer[.profile].name = "Grace"
        writer[.tags] = ["a": [1, 2]]
        writer[.site] = URL(string: "https://example.org/a")
        writer[.level] = .high
        try await world.settle()
        #expect(reader[.isDarkMode])
        #expect(reader[.theme] == .dark)
        #expect(reader.string(forKey: "theme") == "dark")
        #expect(reader[.nickname] == "ace")
        #expect(reader[.profile] == Profile(name: "Grace"))
        #expect(reader.dictionary(forKey: "profile")?["name"] as? String == "Grace")
        #expect(reader[.tags] == ["a": [1, 2]])
        #expect(reader[.site]?.absoluteString == "https://example.org/a")
        #expect(reader[.level] == .high)
        #expect(reader.integer(forKey: "level") == 2)
        writer[.nickname] = nil
        writer.reset(.theme)
        try await world.settle()
        #expect(reader[.nickname] == nil)
        #expect(!reader.exists("nickname"))
        #expect(reader[.theme] == .light)
    }

    @Test func `A10 R64 a wrong type gives the default and one report`() {
        let settings = GroupDefaults.inMemory()
        settings.set("3.5", forKey: "size")
        #expect(settings[GroupDefaults.Key("size", default: 1.0)] == 3.5)
        settings.set([1], forKey: "isDarkMode")
        settings.set("sepia", forKey: "theme")
        settings.set("text", forKey: "profile")
        settings.set(["a": "x"], forKey: "tags")
        let errors = reports(of: settings) {
            for _ in 0..<3 {
                #expect(settings[.isDarkMode] == false)
                #expect(settings[.theme] == .light)
                #expect(settings[.profile] == Profile())
                #expect(settings[.tags] == [:])
            }
        }
        #expect(errors.map(\.code) == [.wrongType, .wrongType, .wrongType, .wrongType])
        #expect(errors.flatMap(\.keys) == ["isDarkMode", "theme", "profile", "tags"])
    }

    @Test func `R67 a default can be stored for those who do not know it`() {
        let settings = GroupDefaults.inMemory()
        let id = GroupDefaults.Key("id", default: UUID().uuidString)
        settings.ensure(id)
        #expect(settings.string(forKey: "id") == id.defaultValue)
        settings.ensure(GroupDefaults.Key("id", default: "another"))
        #expect(settings.string(forKey: "id") == id.defaultValue)
    }
}

private enum Theme: String, Codable { case light, dark }
private enum Level: Int {
    case low = 1
    case high
}

extension GroupDefaults.Key<Bool> {
    fileprivate static var isDarkMode: Self { Self("isDarkMode", default: false) }
}

extension GroupDefaults.Key<Theme> {
    fileprivate static var theme: Self { Self("theme", default: .light) }
}

extension GroupDefaults.Key<Level?> {
    fileprivate static var level: Self { Self("level") }
}

extension GroupDefaults.Key<String?> {
    fileprivate static var nickname: Self { Self("nickname") }
}

extension GroupDefaults.Key<URL?> {
    fileprivate static var site: Self { Self("site") }
}

extension GroupDefaults.Key<SetterTests.Profile> {
    fileprivate static var profile: Self { Self("profile", default: SetterTests.Profile()) }
}

extension GroupDefaults.Key<[String: [Int]]> {
    fileprivate static var tags: Self { Self("tags", default: [:]) }
}
