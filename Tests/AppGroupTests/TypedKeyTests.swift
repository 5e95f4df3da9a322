import AppGroupScenarios
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

extension GroupDefaults.Key<Int> {
    fileprivate static var count: Self { Self("count", default: 0) }
    fileprivate static var maximum: Self { Self("maximum", default: 10) }
}
extension GroupDefaults.Key<Double> {
    fileprivate static var volume: Self { Self("volume", default: 0.5) }
}
extension GroupDefaults.Key<Bool> {
    fileprivate static var isLoud: Self { Self("isLoud", default: false) }
    fileprivate static var isOpen: Self { Self("isOpen", default: true) }
}
extension GroupDefaults.Key<[String]> {
    fileprivate static var recent: Self { Self("recent", default: ["first"]) }
}
extension GroupDefaults.Key<[AppStorageTests.Profile]> {
    fileprivate static var people: Self { Self("people", default: []) }
}
extension GroupDefaults.Key<[String: Int]> {
    fileprivate static var scores: Self { Self("scores", default: ["nobody": 0]) }
}
extension GroupDefaults.Key<String?> {
    fileprivate static var owner: Self { Self("owner") }
}

/// Wherever a key is named by its text it can be named by a typed key.
@Suite struct TypedKeyTests {
    @Test(arguments: WorldKind.allCases)
    func `steps made in the daemon begin at the key's default`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        stepOnce(world.writer)
        try await world.settle()
        let reader = world.reader
        #expect(reader[.count] == 2)
        #expect(reader[.maximum] == 15)
        #expect(reader[.volume] == 0.75)
        #expect(reader[.isLoud])
        #expect(!reader[.isOpen])
        #expect(reader[.recent] == ["first", "second"])
        #expect(reader[.people].map(\.name) == ["Ada", "Grace"])
        #expect(reader[.scores] == ["nobody": 0, "Ada": 3])
        // From now on at what is there.
        stepOnce(reader)
        try await world.settleBothWays()
        #expect(world.writer[.count] == 4)
        #expect(world.writer[.maximum] == 20)
        #expect(!world.writer[.isLoud])
        #expect(world.writer[.isOpen])
        #expect(world.writer[.recent] == ["first", "second", "second"])
        #expect(world.writer[.people].count == 4)
    }

    private func stepOnce(_ settings: GroupDefaults) {
        settings.increment(.count, by: 2)
        settings.increment(.maximum, by: 5)
        settings.increment(.volume, by: 0.25)
        settings.toggle(.isLoud)
        settings.toggle(.isOpen)
        settings.append("second", forKey: .recent)
        settings.append(AppStorageTests.Profile(name: "Ada"), forKey: .people)
        settings.append(AppStorageTests.Profile(name: "Grace"), forKey: .people)
        settings.merge(["Ada": 3], forKey: .scores)
    }

    @Test(arguments: WorldKind.allCases) func `within a write`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        world.writer[.owner] = "me"
        world.writer[.volume] = 1
        try await world.writer.write {
            $0.increment(.maximum)
            $0.increment(.count)
            $0.increment(.volume, by: 1)
            $0.toggle(.isOpen)
            $0.append("x", forKey: .recent)
            $0.merge(["Ada": 1], forKey: .scores)
            $0[.scores]["Bob"] = 2
            $0.removeObject(forKey: .owner)
            #expect($0[.maximum] == 11)
            #expect($0[.owner] == nil)
        }
        try await world.settle()
        #expect(world.reader[.maximum] == 11)
        #expect(world.reader[.volume] == 2)
        #expect(!world.reader[.isOpen])
        #expect(world.reader[.recent] == ["first", "x"])
        #expect(world.reader[.scores] == ["nobody": 0, "Ada": 1, "Bob": 2])
        #expect(!world.reader.exists(.owner))
        try await world.writer.write { $0.reset(.maximum) }
        #expect(!world.writer.exists(.maximum) && !world.writer.contains(.maximum))
        #expect(!world.writer.objectIsForced(forKey: .maximum))
    }

    @Test(arguments: WorldKind.allCases) func `compare and set`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let settings = world.writer
        #expect(try await settings.compareAndSet(.owner, expected: "you", to: "me") == false)
        #expect(try await settings.compareAndSet(.owner, expected: nil, to: "me"))
        #expect(settings[.owner] == "me")
        #expect(try await settings.compareAndSet(.owner, expected: nil, to: "you") == false)
        // An absent key reads as its default.
        #expect(try await settings.compareAndSet(.maximum, expected: 10, to: 20))
        #expect(try await settings.compareAndSet(.maximum, expected: 10, to: 30) == false)
        #expect(try await settings.compareAndSet(.maximum, expected: 20, to: 30))
        #expect(settings[.maximum] == 30)
        settings.removeObject(forKey: .maximum)
        #expect(settings[.maximum] == 10)
        try await world.settle()
    }

    @Test(arguments: WorldKind.allCases)
    func `changes and callbacks tell of values`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let seen = Log()
        let tokens = [
            world.reader.observe(.maximum, initial: true) { change in
                seen.add("\(change.old) \(change.new)\(change.isInitial ? " initial" : "")")
            },
            world.reader.observe(.maximum, onMain: { change in seen.add("main \(change.old) \(change.new)") }),
        ]
        let changes = world.reader.changes(for: .maximum, initial: true).makeAsyncIterator()
        let initial = try #require(await changes.next())
        #expect(initial.isInitial && initial.old == 10 && initial.new == 10 && initial.origin == nil)
        // What reads like the default is no change.
        world.writer[.maximum] = 10
        world.writer[.maximum] = 11
        let change = try #require(await changes.next())
        #expect([change.old, change.new] == [10, 11])
        #expect(!change.isInitial)
        #expect(change.origin?.isOwn == (world.reader === world.writer))
        if world.reader !== world.writer { #expect(change.revision != nil) }
        await seen.wait(for: 3)
        #expect(seen.entries.sorted() == ["10 10 initial", "10 11", "main 10 11"])
        withExtendedLifetime(tokens) {}
    }

    @Test(arguments: WorldKind.allCases)
    func `a binding tells of its changes, with the initial value if asked`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let storage = AppStorage(.maximum, store: world.reader)
        let profile = AppStorage(
            wrappedValue: AppStorageTests.Profile(), "profile", store: world.reader)
        let seen = Log()
        let tokens = [
            storage.projectedValue.onChange(initial: true) { old, new in seen.add("\(old) \(new)") },
            storage.projectedValue.onChange { change in
                seen.add("own \(change.origin?.isOwn == true) \(change.new)")
            },
            profile.projectedValue.name.onChange(initial: true) { change in
                seen.add("name \(change.new) \(change.isInitial)")
            },
        ]
        #expect(seen.entries == ["10 10", "name nobody true"])
        let changes = storage.projectedValue.changes(initial: true).makeAsyncIterator()
        #expect(await changes.next()?.isInitial == true)
        world.writer[.maximum] = 11
        #expect(await changes.next()?.new == 11)
        await seen.wait(for: 4)
        #expect(seen.entries.suffix(2).sorted() == ["10 11", "own \(world.reader === world.writer) 11"])
        withExtendedLifetime(tokens) {}
    }

    @Test func `a registered default goes before the key's own`() {
        let settings = GroupDefaults.inMemory()
        let name = "typed.\(UInt64.random(in: .min ... .max))"
        let key = GroupDefaults.Key(name, default: 3)
        settings.register(defaultOf: key)
        #expect(settings.integer(forKey: name) == 3)
        settings.register(7, forKey: key)
        #expect(settings[key] == 7)
        settings.increment(key)
        #expect(settings[key] == 8, "a step begins at what is read")
        #expect(!settings.exists(.maximum))
    }
}
