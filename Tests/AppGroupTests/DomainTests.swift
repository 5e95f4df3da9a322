import Foundation
import GroupModel
import PropertyList
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

/// Whole domains, suites, registered defaults and arguments.
@Suite struct DomainTests {
    /// A key of its own for each test: registered defaults are the whole process's, and tests run at the same time.
    private func freshKey(_ name: String = "key") -> String { "\(name).\(UUID().uuidString)" }

    private func changes(of settings: GroupDefaults, _ key: String, _ body: () -> Void) -> [[Value?]] {
        let log = ChangeLog()
        let id = settings.searchList.addObserver { _, changes in
            for change in changes where change.key.string == key { log.add([change.old, change.new]) }
        }
        defer { settings.searchList.removeObserver(id) }
        body()
        return log.all
    }

    // MARK: Registered defaults

    @Test(arguments: WorldKind.allCases) func `U32 U33 L14 R28 registered defaults come last and later ones win`(
        kind: WorldKind
    ) async throws {
        let world = try SettingWorld(kind)
        let key = freshKey()
        world.writer.register(defaults: [key: 12, freshKey(): "x"])
        #expect(world.writer.integer(forKey: key) == 12)
        #expect(world.reader.integer(forKey: key) == 12, "process-wide")
        #expect(GroupDefaults.inMemory().integer(forKey: key) == 12)
        world.writer.register(defaults: [key: 13])
        #expect(world.writer.integer(forKey: key) == 13)
        #expect(!world.writer.exists(key) && world.writer.contains(key))
        world.writer.set(1, forKey: key)
        try await world.settle()
        #expect(world.reader.integer(forKey: key) == 1)
        world.writer.register(defaults: [key: 14])
        #expect(world.writer.integer(forKey: key) == 1)
        world.writer.removeObject(forKey: key)
        try await world.settle()
        #expect(world.reader.integer(forKey: key) == 14, "U20: it shows through again")
        #expect(!world.reader.ownKeys.contains(key), "never stored")
        #expect(world.reader.dictionaryRepresentation()[key] as? Int == 14)
        #expect(world.reader.ownDictionary()[key] == nil)
        if kind == .memory { return }
        // R28: another process does not have them.
        #expect(world.daemon != nil)
        let other = try #require(world.daemon).control(["read", "group.com.example.app"])
        #expect(!other.output.contains(key))
    }

    @Test func `U53 readers hear of a registration where it is what they see`() {
        let settings = GroupDefaults.inMemory()
        let key = freshKey()
        #expect(changes(of: settings, key) { settings.register(defaults: [key: 1]) } == [[nil, .integer(1)]])
        #expect(changes(of: settings, key) { settings.register(defaults: [key: 1]) } == [])
        #expect(changes(of: settings, key) { settings.register(defaults: [key: 2]) } == [[.integer(1), .integer(2)]])
        #expect(changes(of: settings, key) { settings.set(2, forKey: key) } == [], "no effective change")
        #expect(changes(of: settings, key) { settings.register(defaults: [key: 3]) } == [], "hidden")
        #expect(changes(of: settings, key) { settings.removeObject(forKey: key) } == [[.integer(2), .integer(3)]])
    }

    @Test func `R66 a registration with one bad value registers nothing`() {
        let settings = GroupDefaults.inMemory()
        let key = freshKey()
        let errors = reports(of: settings) { settings.register(defaults: [key: 1, "bad": NSNull()]) }
        #expect(errors.map(\.keys) == [["bad"]])
        #expect(!settings.contains(key))
    }

    // MARK: Suites

    @Test func `U30 U38 suites come after the group, in their order, before registered defaults`() {
        let settings = GroupDefaults.inMemory()
        let (first, second) = (GroupDefaults.inMemory(), GroupDefaults.inMemory())
        let key = freshKey()
        settings.register(defaults: [key: "registered"])
        first.set("first", forKey: key)
        second.set("second", forKey: key)
        func seen(_ body: () -> Void) -> [[Value?]] { changes(of: settings, key, body) }
        #expect(seen { settings.addSuite(second) } == [[.string("registered"), .string("second")]])
        #expect(seen { settings.addSuite(first) } == [], "hidden by the one added before")
        #expect(settings.string(forKey: key) == "second")
        #expect(seen { second.set("changed", forKey: key) } == [[.string("second"), .string("changed")]])
        #expect(seen { first.set("other", forKey: key) } == [])
        #expect(seen { second.removeObject(forKey: key) } == [[.string("changed"), .string("other")]])
        #expect(seen { settings.set("own", forKey: key) } == [[.string("other"), .string("own")]])
        #expect(seen { settings.removeObject(forKey: key) } == [[.string("own"), .string("other")]])
        #expect(settings.dictionaryRepresentation()[key] as? String == "other")
        #expect(seen { settings.removeSuite(first) } == [[.string("other"), .string("registered")]])
        settings.removeSuite(second)
        #expect(settings.string(forKey: key) == "registered")
        settings.addSuite(settings)
        #expect(settings.string(forKey: key) == "registered")
    }

    // MARK: Whole domains

    @Test(arguments: WorldKind.allCases) func `U40 U41 U42 U43 a domain is read, replaced and removed whole`(
        kind: WorldKind
    ) async throws {
        let world = try SettingWorld(kind)
        let (writer, reader) = (world.writer, world.reader)
        let name = writer.suiteName
        #expect(writer.persistentDomain(forName: name) == nil)
        writer.set(1, forKey: "gone")
        writer.set(1, forKey: "kept")
        try await world.settle()
        let log = ChangeLog()
        let id = reader.searchList.addObserver { _, changes in log.add(changes.map { .string($0.key.string) }) }
        writer.setPersistentDomain(["kept": 1, "new": ["a": true], "changed": "x"], forName: name)
        try await world.settle()
        reader.searchList.removeObserver(id)
        // One commit, and no equal value in it.
        #expect(log.all.contains([.string("changed"), .string("gone"), .string("new")]))
        #expect(Set(reader.ownDictionary().keys) == ["kept", "new", "changed"])
        #expect(reader.persistentDomain(forName: name)?["kept"] as? Int == 1)
        let errors = reports(of: writer) { writer.setPersistentDomain(["x": NSNull()], forName: name) }
        #expect(errors.map(\.code) == [.invalidValue])
        #expect(writer.ownKeys.count == 3, "nothing of it")
        writer.removePersistentDomain(forName: name)
        try await world.settle()
        #expect(reader.ownKeys == [])
        #expect(reader.persistentDomain(forName: name) == nil)
    }

    @Test(arguments: WorldKind.allCases)
    func `R27 other groups by name: asking does not make them`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let (writer, reader) = (world.writer, world.reader)
        let other = "group.com.example.other"
        #expect(writer.persistentDomain(forName: other) == nil)
        writer.removePersistentDomain(forName: other)
        if let daemon = world.daemon { #expect(!FileManager.default.fileExists(atPath: daemon.plist(other))) }
        writer.setPersistentDomain(["a": 1], forName: other)
        #expect(writer.persistentDomain(forName: other)?["a"] as? Int == 1)
        #expect(writer.object(forKey: "a") == nil)
        if let daemon = world.daemon {
            let opened = SettingWorld.open(daemon, other)
            await SettingWorld.see("a", .integer(1), in: opened) {}
            #expect(reader.persistentDomain(forName: other)?["a"] as? Int == 1)
        }
        for name in ["", "../x", "a/b"] {
            let errors = reports(of: writer) { #expect(writer.persistentDomain(forName: name) == nil) }
            #expect(errors.map(\.code) == [.invalidGroup])
        }
    }

    @Test func `R27 U36 a name that is no group is an error with its reason, never a private store`() {
        let bad = GroupDefaults(suiteName: "no/group")
        let errors = reports(of: bad) { bad.set(1, forKey: "k") }
        #expect(errors.map(\.code) == [.invalidGroup])
        #expect(bad.object(forKey: "k") == nil)
        #expect(throws: AppGroupError.self) { try bad.setValue(1, forKey: "k") }
        #expect(throws: AppGroupError.self) { try bad.write { $0["k"] = 1 } }
        #expect(bad.ownKeys == [])
    }

    @Test func `the standard domain is named after the program`() throws {
        let names = [
            "/usr/bin/tool": "tool", "tool": "tool", "./a.out": "a.out", "/x/my tool": "my_tool",
            "/x/.hidden": "_.hidden", "-sh": "_-sh", "": "program", "/": "program", "/x/a..b": "a._b", "/x/é": "__",
            "/x/...": "_._.",
        ]
        for (path, name) in names { #expect(GroupDefaults.domainName(ofProgram: path) == name, "\(path)") }
        for path in names.keys.map({ $0 + String(repeating: ".", count: 500) }) {
            _ = try GroupIdentifier(GroupDefaults.domainName(ofProgram: path))
        }
        _ = try GroupIdentifier(GroupDefaults.standard.suiteName)
    }

    // MARK: Arguments

    static let arguments: [(String, Value)] = [
        ("YES", .string("YES")),
        ("5", .string("5")),
        ("(a, b)", .array([.string("a"), .string("b")])),
        ("(a, \"b c\", (1,),)", .array([.string("a"), .string("b c"), .array([.string("1")])])),
        ("()", .array([])),
        ("{}", .dictionary([:])),
        ("{a = 1; \"b c\" = (x); }", .dictionary(["a": .string("1"), "b c": .array([.string("x")])])),
        ("{a=1;b=2}", .dictionary(["a": .string("1"), "b": .string("2")])),
        ("<0fbd 77>", .data([0x0f, 0xbd, 0x77])),
        ("\"quoted \\\"text\\\" \\U00e9\\n\"", .string("quoted \"text\" é\n")),
        ("'single'", .string("single")),
        ("<true/>", .boolean(true)),
        ("<integer>5</integer>", .integer(5)),
        ("<array><real>1</real></array>", .array([.real(1)])),
        ("<plist version=\"1.0\"><string>x</string></plist>", .string("x")),
        (
            "<?xml version=\"1.0\"?><plist><dict><key>k</key><false/></dict></plist>",
            .dictionary(["k": .boolean(false)])
        ),
        // What is no list is text.
        ("John Doe", .string("John Doe")),
        ("(a, b", .string("(a, b")),
        ("{a}", .string("{a}")),
        ("<xyz>", .string("<xyz>")),
        ("<0f1>", .string("<0f1>")),
        ("<integer>1</integer></dict>", .string("<integer>1</integer></dict>")),
        ("<true/><key>z</key><true/>", .string("<true/><key>z</key><true/>")),
        ("\"open", .string("\"open")),
        ("", .string("")),
        (String(repeating: "(", count: 10_000), .string(String(repeating: "(", count: 10_000))),
    ]

    @Test(arguments: DomainTests.arguments.indices)
    func `U31 L12 an argument is a property list or its text`(index: Int) {
        let (text, value) = Self.arguments[index]
        #expect(ArgumentDomain.value(text) == value)
    }

    @Test func `U31 which arguments are settings`() {
        let parsed = ArgumentDomain.parse([
            "file", "-a", "1", "--long", "x", "-flag", "-b", "(x)", "-", "y", "-n", "-5", "-last",
        ])
        #expect(parsed == ["a": .string("1"), "b": .array([.string("x")]), "n": .string("-5")])
    }
}

final class ChangeLog: Sendable {
    private let changes = Mutex<[[Value?]]>([])
    func add(_ change: [Value?]) { changes.withLock { $0.append(change) } }
    var all: [[Value?]] { changes.withLock { $0 } }
}
