import GroupModel
import Observation
import PropertyList
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

/// `withObservationTracking` and `Observations` on what is read through a group or `@AppStorage`.
@Suite struct ObservationTests {
    /// What is read, and how often a change of it was announced. Tracks once, as the function does.
    private func tracked(_ read: () -> Void) -> Once {
        let once = Once()
        withObservationTracking(read) { once.finish() }
        return once
    }

    @Test(arguments: WorldKind.allCases)
    func `R58 R59 tracking fires for a set, a removal, and by which process ever`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let storage = AppStorage(wrappedValue: false, "isDark", store: world.reader)
        let reads: [() -> Void] = [
            { _ = world.reader.bool(forKey: "isDark") },
            { _ = world.reader.object(forKey: "isDark") },
            { _ = storage.wrappedValue },
            { _ = storage.projectedValue.wrappedValue },
        ]
        var isDark = true
        for read in reads {
            let change = tracked(read)
            world.writer.set(isDark, forKey: "isDark")
            await change.wait()
            isDark.toggle()
        }
        let removal = tracked { _ = storage.wrappedValue }
        world.writer.removeObject(forKey: "isDark")
        await removal.wait()
    }

    @Test func `equal values, other keys and what does not show do not fire`() throws {
        let domains = ProcessDomains(arguments: ["argued": .integer(1)])
        let memory = MemoryGroup(try GroupIdentifier("group.test"))
        let list = SearchList(own: memory.replica, domains: domains)
        defer { list.close() }
        let fired = Mutex<[String]>([])
        func track(_ key: Key) {
            withObservationTracking {
                _ = list.value(key.string)
            } onChange: {
                fired.withLock { $0.append(key.string) }
            }
        }
        domains.register(["registered": .integer(5)])
        _ = try memory.submit(.init([.set("k", .integer(1))]))
        for key in ["k", "argued", "registered"] as [Key] { track(key) }
        // The same again, another key, hidden by an argument, the value of the registered default.
        _ = try memory.submit(.init([.set("k", .integer(1))]))
        _ = try memory.submit(.init([.set("other", .integer(1))]))
        _ = try memory.submit(.init([.set("argued", .integer(2))]))
        _ = try memory.submit(.init([.set("registered", .integer(5))]))
        _ = try memory.submit(.init([.remove("registered")]))
        #expect(fired.withLock { $0 } == [])
        #expect(list.value("argued") == .integer(1))
        // A registered default that shows.
        domains.register(["registered": .integer(6)])
        #expect(fired.withLock { $0 } == ["registered"])
        #expect(list.value("registered") == .integer(6))
    }

    @Test func `U53 removal shows the registered default as the new value`() throws {
        let domains = ProcessDomains(arguments: [:])
        let memory = MemoryGroup(try GroupIdentifier("group.test"))
        let list = SearchList(own: memory.replica, domains: domains)
        defer { list.close() }
        domains.register(["k": .integer(5)])
        let seen = Mutex<[EffectiveChange]>([])
        _ = list.addObserver { _, changes in seen.withLock { $0 += changes } }
        _ = try memory.submit(.init([.set("k", .integer(7))]))
        _ = try memory.submit(.init([.remove("k")]))
        #expect(
            seen.withLock { $0 } == [
                EffectiveChange(key: "k", old: .integer(5), new: .integer(7)),
                EffectiveChange(key: "k", old: .integer(7), new: .integer(5)),
            ])
    }

    @Test func `suites show through, and fire when they do`() async throws {
        let settings = GroupDefaults.inMemory()
        let suite = MemoryGroup(try GroupIdentifier("group.suite"))
        let storage = AppStorage(wrappedValue: 0, "k", store: settings)
        _ = try suite.submit(.init([.set("k", .integer(1))]))
        var change = tracked { _ = storage.wrappedValue }
        settings.searchList.addSuite(suite.replica)
        await change.wait()
        #expect(storage.wrappedValue == 1)
        change = tracked { _ = storage.wrappedValue }
        _ = try suite.submit(.init([.set("k", .integer(2))]))
        await change.wait()
        #expect(storage.wrappedValue == 2)
        settings.set(9, forKey: "k")
        #expect(storage.wrappedValue == 9)
        settings.removeObject(forKey: "k")
        settings.searchList.removeSuite(suite.replica)
        #expect(storage.wrappedValue == 0)
    }

    @Test(arguments: WorldKind.allCases)
    func `Observations deliver every state that stays`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let model = Model(world.reader)
        let values = Observations { model.count }.makeAsyncIterator()
        var iterator = values
        #expect(await iterator.next() == 0)
        for number in 1...5 {
            world.writer.set(number, forKey: "count")
            #expect(await iterator.next() == number)
        }
    }

    @Test func `a wrapper in an observable class is tracked by itself`() async {
        let settings = GroupDefaults.inMemory()
        let model = Model(settings)
        let change = tracked { _ = model.count }
        settings.set(3, forKey: "count")
        await change.wait()
        #expect(model.count == 3)
        model.count = 4
        #expect(settings.integer(forKey: "count") == 4)
    }

    @Observable final class Model: Sendable {
        @ObservationIgnored let storage: AppStorage<Int>

        init(_ settings: GroupDefaults) {
            storage = AppStorage(wrappedValue: 0, "count", store: settings)
        }

        var count: Int {
            get { storage.wrappedValue }
            set { storage.wrappedValue = newValue }
        }
    }
}
