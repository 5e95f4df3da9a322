import AppGroupScenarios
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
        let log = Log()
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
