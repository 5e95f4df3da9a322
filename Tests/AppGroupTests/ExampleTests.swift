import Foundation
import Testing

@testable import AppGroup

/// The examples of the documentation comments, compiled and run.
@Suite struct ExampleTests {
    struct Profile: Codable, Equatable {
        var name: String
        var birthday: Date?
    }

    @Test func `getters and setters`() {
        let settings = GroupDefaults.inMemory()
        // Registered defaults are the whole process's: no other test may use these keys.
        settings.register(defaults: ["example.fontSize": 12, "example.theme": "light"])
        settings.set(["size": 12, "name": "Inter"], forKey: "font")
        settings.set(URL(string: "https://example.org"), forKey: "home")
        settings.set(Date.now, forKey: "lastOpened")
        #expect(settings.integer(forKey: "example.fontSize") == 12)
        #expect(settings.dictionary(forKey: "font")?["name"] as? String == "Inter")
        #expect(settings.url(forKey: "home")?.host() == "example.org")
        settings.removeObject(forKey: "home")
        settings["example.theme"] = "dark"
        #expect(settings["example.theme"] as? String == "dark")
    }

    @Test func `Codable values`() throws {
        let settings = GroupDefaults.inMemory()
        try settings.set(Profile(name: "Ada"), forKey: "profile")
        let profile = try settings.value(Profile.self, forKey: "profile")
        #expect(profile?.name == "Ada")
        #expect(settings.dictionary(forKey: "profile")?.count == 1, "members that are nil are left out")
    }

    @Test func `typed keys`() {
        let settings = GroupDefaults.inMemory()
        settings[.isDarkMode] = true
        settings[.isDarkMode].toggle()
        settings[.launches] += 1
        #expect(!settings[.isDarkMode])
        #expect(settings[.launches] == 1)
        settings.reset(.isDarkMode)
        #expect(!settings.exists("isDarkMode"))
    }

    @Test func `writes of several keys, and changes in the daemon`() async throws {
        let settings = GroupDefaults.inMemory()
        try await settings.write {
            $0["name"] = "Ada"
            $0["age"] = 36
            $0.increment("launches")
        }
        settings.increment("launches")
        settings.append("first.txt", forKey: "recent")
        settings.merge(["width": 800], forKey: "window")
        settings.toggle("sidebar")
        let isMine = try await settings.compareAndSet("owner", expected: nil, to: "me")
        #expect(isMine)
        #expect(settings.integer(forKey: "launches") == 2)
        #expect(settings.bool(forKey: "sidebar"))
    }

    @Test func `suites and whole domains`() {
        let settings = GroupDefaults.inMemory()
        settings.setPersistentDomain(["accent": "blue"], forName: "group.com.example.shared")
        settings.addSuite(named: "group.com.example.shared")
        #expect(settings.string(forKey: "accent") == "blue")
        #expect(settings.ownDictionary().isEmpty)
        #expect(settings.dictionaryRepresentation()["accent"] as? String == "blue")
        settings.removeSuite(named: "group.com.example.shared")
        #expect(settings.string(forKey: "accent") == nil)
    }
}

extension GroupDefaults.Key<Bool> {
    fileprivate static var isDarkMode: Self { Self("isDarkMode", default: false) }
}

extension GroupDefaults.Key<Int> {
    fileprivate static var launches: Self { Self("launches", default: 0) }
}
