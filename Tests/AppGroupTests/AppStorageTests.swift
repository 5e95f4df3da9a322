import Foundation
import Observation
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// `@AppStorage`: the overloads, the default, wrong types, and the binding.
@Suite struct AppStorageTests {
    enum Mode: Int, Sendable { case slow, fast }
    enum Tone: String, Codable, Sendable { case low, high }

    struct Profile: Codable, Equatable, Sendable {
        var name = "nobody"
        var age = 0
    }

    /// Every overload; they compile as people write them.
    struct Form {
        @AppStorage var bool: Bool
        @AppStorage var int: Int
        @AppStorage var double: Double
        @AppStorage var float: Float
        @AppStorage var string: String
        @AppStorage var url: URL
        @AppStorage var data: Data
        @AppStorage var date: Date
        @AppStorage var mode: Mode
        @AppStorage var theme: Shade
        @AppStorage var tone: Tone
        @AppStorage var list: [String]
        @AppStorage var table: [String: Int]
        @AppStorage var profile: Profile
        @AppStorage var profiles: [Profile]

        init(_ store: GroupDefaults) {
            _bool = AppStorage(wrappedValue: true, "bool", store: store)
            _int = AppStorage(wrappedValue: 10, "int", store: store)
            _double = AppStorage(wrappedValue: 1.5, "double", store: store)
            _float = AppStorage(wrappedValue: 2.5, "float", store: store)
            _string = AppStorage(wrappedValue: "s", "string", store: store)
            _url = AppStorage(wrappedValue: URL(filePath: "/"), "url", store: store)
            _data = AppStorage(wrappedValue: Data([1]), "data", store: store)
            _date = AppStorage(wrappedValue: Date(timeIntervalSince1970: 0), "date", store: store)
            _mode = AppStorage(wrappedValue: .fast, "mode", store: store)
            _theme = AppStorage(wrappedValue: .light, "theme", store: store)
            _tone = AppStorage(wrappedValue: .low, "tone", store: store)
            _list = AppStorage(wrappedValue: ["a"], "list", store: store)
            _table = AppStorage(wrappedValue: ["a": 1], "table", store: store)
            _profile = AppStorage(wrappedValue: Profile(), "profile", store: store)
            _profiles = AppStorage(wrappedValue: [], "profiles", store: store)
        }
    }

    struct Optionals {
        @AppStorage var bool: Bool?
        @AppStorage var int: Int?
        @AppStorage var double: Double?
        @AppStorage var string: String?
        @AppStorage var url: URL?
        @AppStorage var data: Data?
        @AppStorage var date: Date?
        @AppStorage var mode: Mode?
        @AppStorage var theme: Shade?
        @AppStorage var tone: Tone?
        @AppStorage var list: [String]?
        @AppStorage var profile: Profile?

        init(_ store: GroupDefaults) {
            _bool = AppStorage("bool", store: store)
            _int = AppStorage("int", store: store)
            _double = AppStorage("double", store: store)
            _string = AppStorage("string", store: store)
            _url = AppStorage("url", store: store)
            _data = AppStorage("data", store: store)
            _date = AppStorage("date", store: store)
            _mode = AppStorage("mode", store: store)
            _theme = AppStorage("theme", store: store)
            _tone = AppStorage("tone", store: store)
            _list = AppStorage("list", store: store)
            _profile = AppStorage("profile", store: store)
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `A01 A03 A05 every overload honours its store and brings back what was set`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let (here, there) = (Form(world.writer), Form(world.reader))
        #expect(there.int == 10 && there.mode == .fast && there.profile == Profile())
        here.bool = false
        here.int = -7
        here.double = 0.1
        here.float = 0.1
        here.string = "größer"
        here.url = try #require(URL(string: "https://example.org/a?b#c"))
        here.data = Data([0, 255])
        here.date = Date(timeIntervalSince1970: 1_234_567.25)
        here.mode = .slow
        here.theme = .dark
        here.tone = .high
        here.list = ["x", "y"]
        here.table = ["x": 1]
        here.profile.name = "Ada"
        here.profiles = [Profile(name: "Bob", age: 2)]
        try await world.settle()
        #expect(there.bool == false)
        #expect(there.int == -7)
        #expect(there.double == 0.1)
        #expect(there.float == 0.1)
        #expect(there.string == "größer")
        #expect(there.url.absoluteString == "https://example.org/a?b#c")
        #expect(there.data == Data([0, 255]))
        #expect(there.date == Date(timeIntervalSince1970: 1_234_567.25))
        #expect(there.mode == .slow)
        #expect(there.theme == .dark)
        #expect(there.tone == .high)
        #expect(world.reader.string(forKey: "tone") == "high")
        #expect(there.list == ["x", "y"])
        #expect(there.table == ["x": 1])
        #expect(there.profile == Profile(name: "Ada"))
        #expect(world.reader.dictionary(forKey: "profile")?["name"] as? String == "Ada")
        #expect(there.profiles == [Profile(name: "Bob", age: 2)])
    }

    @Test func `A02 A09 optionals are nil while the key is absent, and nil removes it`() {
        let settings = GroupDefaults.inMemory()
        let form = Optionals(settings)
        #expect(form.bool == nil && form.int == nil && form.double == nil && form.string == nil && form.url == nil)
        #expect(form.data == nil && form.date == nil && form.mode == nil && form.theme == nil && form.tone == nil)
        #expect(form.list == nil && form.profile == nil)
        form.int = 0
        form.theme = .dark
        form.profile = Profile(name: "Ada")
        #expect(form.int == 0 && form.theme == .dark && form.profile?.name == "Ada")
        form.int = nil
        form.theme = nil
        form.profile = nil
        #expect(settings.ownDictionary().isEmpty)
    }

    @Test func `A06 A08 the default is never written, and is each wrapper's own`() {
        let settings = GroupDefaults.inMemory()
        let one = AppStorage(wrappedValue: 1, "k", store: settings)
        let two = AppStorage(wrappedValue: 2, "k", store: settings)
        #expect(one.wrappedValue == 1 && two.wrappedValue == 2)
        #expect(settings.object(forKey: "k") == nil)
        one.wrappedValue = 3
        #expect(one.wrappedValue == 3 && two.wrappedValue == 3)
    }

    @Test func `A07 A13 a registered default goes before the wrapper's`() {
        let settings = GroupDefaults.inMemory()
        let key = "AppStorageTests.A07"
        let storage = AppStorage(wrappedValue: 1, key, store: settings)
        #expect(storage.wrappedValue == 1)
        settings.register(defaults: [key: 5])
        #expect(storage.wrappedValue == 5)
        storage.wrappedValue = 6
        settings.removeObject(forKey: key)
        #expect(storage.wrappedValue == 5)
    }

    @Test(arguments: [
        ("string", "3.5" as any Sendable), ("array", [1, 2]), ("dictionary", ["a": 1]), ("date", Date()),
        ("data", Data([1])),
    ])
    func `A10 R64 a wrong type gives the default and one report`(_ name: String, _ stored: any Sendable) {
        let settings = GroupDefaults.inMemory()
        settings.set(stored as Any?, forKey: "k")
        let double = AppStorage(wrappedValue: 1.25, "k", store: settings)
        let reports = reports(of: settings) {
            for _ in 0..<3 { #expect(double.wrappedValue == (name == "string" ? 3.5 : 1.25)) }
        }
        #expect(reports.map(\.code) == (name == "string" ? [] : [.wrongType]))
    }

    @Test func `A10 a raw value without a case reads as the default`() {
        let settings = GroupDefaults.inMemory()
        settings.set("purple", forKey: "theme")
        settings.set(99, forKey: "mode")
        let form = Form(settings)
        #expect(form.theme == .light)
        #expect(form.mode == .fast)
    }

    @Test(arguments: WorldKind.allCases)
    func `A12 A13 A14 external writes and removals are seen, whatever the key`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        for key in ["plain", "with.dot", "@at"] {
            let storage = AppStorage(wrappedValue: "default", key, store: world.reader)
            #expect(storage.wrappedValue == "default")
            world.writer.set("new", forKey: key)
            try await world.settle()
            #expect(storage.wrappedValue == "new")
            world.writer.removeObject(forKey: key)
            try await world.settle()
            #expect(storage.wrappedValue == "default")
        }
    }

    @Test func `A15 the binding reads, sets, and reaches into the value`() {
        let settings = GroupDefaults.inMemory()
        let form = Form(settings)
        let name: Binding<String> = form.$profile.name
        name.wrappedValue = "Ada"
        #expect(form.profile == Profile(name: "Ada"))
        #expect(form.$profile.exists)
        form.$profile.age.wrappedValue = 36
        name.reset()
        #expect(form.profile == Profile(name: "nobody", age: 36))
        form.$profile.reset()
        #expect(!form.$profile.exists)
        #expect(form.profile == Profile())
    }

    @Test func `bindings of functions and constants`() {
        let settings = GroupDefaults.inMemory()
        let binding = Binding(
            get: { settings.integer(forKey: "n") * 2 }, set: { settings.set($0 / 2, forKey: "n") })
        binding.wrappedValue = 10
        #expect(settings.integer(forKey: "n") == 5)
        #expect(binding.wrappedValue == 10)
        let constant = Binding.constant(3)
        constant.wrappedValue = 4
        #expect(constant.wrappedValue == 3)
        @Binding(get: { 1 }, set: { _ in }) var wrapped: Int
        #expect(wrapped == 1)
    }

    @Test(arguments: WorldKind.allCases)
    func `the binding tells of changes with old and new`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let form = Form(world.reader)
        let log = TokenTests.Log()
        let tokens = [
            form.$theme.onChange { old, new in log.add("\(old) \(new)") },
            form.$profile.name.onChange { old, new in log.add("\(old) \(new)") },
        ]
        let changes = form.$theme.changes.makeAsyncIterator()
        world.writer.set("dark", forKey: "theme")
        let first = try #require(await changes.next())
        #expect([first.old, first.new] == [.light, .dark])
        // An age is no change of the name; what reads like the default is none of the theme.
        try world.writer.set(Profile(name: "nobody", age: 3), forKey: "profile")
        try world.writer.set(Profile(name: "Ada", age: 3), forKey: "profile")
        await log.wait(for: 2)
        world.writer.set("purple", forKey: "theme")
        let second = try #require(await changes.next())
        #expect([second.old, second.new] == [.dark, .light])
        await log.wait(for: 3)
        #expect(log.entries == ["light dark", "nobody Ada", "dark light"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `A17 any thread may read and write`() async {
        let settings = GroupDefaults.inMemory()
        let storage = AppStorage(wrappedValue: 0, "k", store: settings)
        let text = AppStorage(wrappedValue: "", "t", store: settings)
        await withTaskGroup { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<2000 {
                        storage.wrappedValue = writer * 10_000 + number
                        text.wrappedValue = "\(number)"
                        _ = storage.wrappedValue + (Int(text.wrappedValue) ?? 0)
                    }
                }
            }
        }
        #expect(storage.wrappedValue == settings.integer(forKey: "k"))
        #expect(text.wrappedValue == settings.string(forKey: "t"))
    }

    /// As people write it.
    @Test func `the examples of the documentation`() {
        let settings = GroupDefaults.inMemory()
        struct Appearance {
            @AppStorage("isDarkMode") var isDarkMode = false
            @AppStorage("theme") var theme = Shade.light
            @AppStorage("lastOpened") var lastOpened: Date?
            @AppStorage("count") var count: Int? = nil
            @AppStorage(.fontSize) var fontSize: Int
        }
        GroupDefaults.defaultAppStorage = settings
        defer { GroupDefaults.defaultAppStorage = .standard }
        let appearance = Appearance()
        appearance.isDarkMode.toggle()
        #expect(settings.bool(forKey: "isDarkMode"))
        #expect(appearance.lastOpened == nil && appearance.count == nil && appearance.fontSize == 12)
        func toggle(_ isOn: Binding<Bool>) { isOn.wrappedValue.toggle() }
        toggle(appearance.$isDarkMode)
        #expect(!appearance.isDarkMode)
        let token = appearance.$theme.onChange { old, new in print(old, "→", new) }
        token.cancel()
    }
}
