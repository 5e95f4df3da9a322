import Dispatch
import GroupModel
import PropertyList
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

/// What an observer hears goes on from what it heard last, whichever layers of the search list change at the same moment.
@Suite struct SearchListOrderTests {
    /// What one observer has heard, and the values that it began with.
    private final class Chain: Sendable {
        private let heard = Mutex<[EffectiveChange]>([])
        private let start = Mutex<[Key: Value]>([:])
        private let id = Mutex<UInt64>(0)

        init(_ list: SearchList, _ more: @escaping @Sendable () -> Void = {}) {
            let (id, values) = list.addObserver(valuesOf: .all) { [self] _, changes in
                heard.withLock { $0 += changes }
                more()
            }
            start.withLock { $0 = values }
            self.id.withLock { $0 = id }
        }

        func end(_ list: SearchList) { list.removeObserver(id.withLock { $0 }) }

        /// What it takes the values to be, and what did not go on from the change before.
        func follow() -> (values: [Key: Value], breaks: [String]) {
            var values = start.withLock { $0 }
            var breaks: [String] = []
            for change in heard.withLock({ $0 }) {
                if change.old != values[change.key] || change.old == change.new {
                    let last = String(describing: values[change.key])
                    breaks.append("\(change.key): \(last), then \(String(describing: change.old))")
                }
                values[change.key] = change.new
            }
            return (values, breaks)
        }
    }

    private final class Chains: Sendable {
        private let chains = Mutex<[Chain]>([])
        var all: [Chain] { chains.withLock { $0 } }
        func add(_ chain: Chain) { chains.withLock { $0.append(chain) } }
    }

    /// A search list with two suites and registered defaults of its own.
    private struct World: Sendable {
        let group: MemoryGroup
        let suites: [MemoryGroup]
        let domains = ProcessDomains(arguments: ["argued": .integer(-1)])
        let list: SearchList

        init() throws {
            group = MemoryGroup(try GroupIdentifier("group.own"))
            suites = [
                MemoryGroup(try GroupIdentifier("group.first")), MemoryGroup(try GroupIdentifier("group.second")),
            ]
            list = SearchList(own: group.replica, domains: domains)
        }

        static let keys: [Key] = ["a", "b", "c", "argued"]

        /// Changes one of the layers, or which there are.
        func act(_ random: inout SplitMix64) {
            let key = Self.keys.randomElement(using: &random) ?? "a"
            let value = Value.integer(Int64.random(in: 0..<4, using: &random))
            let edit = Bool.random(using: &random) ? Edit.set(key, value) : .remove(key)
            let suite = suites[Int.random(in: 0..<2, using: &random)]
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4: _ = try? group.submit(.init([edit]))
            case 4..<7: _ = try? suite.submit(.init([edit]))
            case 7: domains.register([key: value])
            case 8: list.addSuite(suite.replica)
            default: list.removeSuite(suite.replica)
            }
        }

        func check(_ chains: [Chain]) {
            for chain in chains {
                let (values, breaks) = chain.follow()
                #expect(breaks == [])
                #expect(values == list.allValues)
            }
        }
    }

    @Test func `one that comes while another is told of older changes begins with the newest values`() throws {
        let world = try World()
        defer { world.list.close() }
        world.list.addSuite(world.suites[0].replica)
        let late = Chains()
        let early = Chain(world.list) {
            guard late.all.isEmpty else { return }
            // All of it is under way while the first change is being told.
            _ = try? world.suites[0].submit(.init([.set("a", .integer(2))]))
            world.domains.register(["a": .integer(3), "b": .integer(4)])
            _ = try? world.group.submit(.init([.remove("a")]))
            late.add(Chain(world.list))
            world.list.removeSuite(world.suites[0].replica)
            world.list.addSuite(world.suites[1].replica)
            late.add(Chain(world.list))
            _ = try? world.suites[1].submit(.init([.set("a", .integer(5))]))
        }
        _ = try world.group.submit(.init([.set("a", .integer(1))]))
        world.check([early] + late.all)
        #expect(world.list.value("a") == .integer(5))
    }

    /// What callbacks do, until it is enough.
    private final class Reaction: Sendable {
        private let world: World
        private let state: Mutex<(random: SplitMix64, rest: Int)>

        init(_ world: World, _ random: SplitMix64) {
            self.world = world
            state = Mutex((random, 60))
        }

        func act(_ chains: Chains) {
            let seed = state.withLock { state -> UInt64? in
                state.rest -= 1
                return state.rest > 0 ? state.random.next() : nil
            }
            guard let seed else { return }
            var random = SplitMix64(seed: seed)
            world.act(&random)
            if random.next() % 3 == 0 { chains.add(Chain(world.list) { [self] in act(chains) }) }
            world.act(&random)
        }
    }

    @Test func `callbacks that change every layer and come and go`() throws {
        try SplitMix64.withSeed { random in
            for _ in 0..<30 {
                let world = try World()
                defer { world.list.close() }
                let (chains, reaction) = (Chains(), Reaction(world, SplitMix64(seed: random.next())))
                let first = Chain(world.list) { reaction.act(chains) }
                for _ in 0..<40 { world.act(&random) }
                world.check([first] + chains.all)
            }
        }
    }

    @Test func `threads that change every layer at the same moment, and observers that come and go`() throws {
        try SplitMix64.withSeed { random in
            for _ in 0..<3 {
                let world = try World()
                defer { world.list.close() }
                let first = Chain(world.list)
                let chains = Chains()
                let threads = DispatchGroup()
                for _ in 0..<6 {
                    let seed = random.next()
                    DispatchQueue(label: "layers").async(group: threads) { disturb(world, seed, chains) }
                }
                threads.wait()
                world.check([first] + chains.all)
            }
        }
    }

    private func disturb(_ world: World, _ seed: UInt64, _ chains: Chains) {
        var random = SplitMix64(seed: seed)
        for round in 0..<300 {
            world.act(&random)
            guard round % 20 == 0 else { continue }
            let chain = Chain(world.list)
            if Bool.random(using: &random) { chains.add(chain) } else { chain.end(world.list) }
        }
    }

    @Test func `what is put together for slow observers goes on from what each began with`() throws {
        let world = try World()
        defer { world.list.close() }
        world.list.addSuite(world.suites[0].replica)
        let late = Chains()
        let early = Chain(world.list) {
            guard late.all.isEmpty else { return }
            for number in 0..<2000 {
                _ = try? world.group.submit(.init([.set("a", .integer(Int64(number))), .set("b", .integer(1))]))
                _ = try? world.suites[0].submit(.init([.set("c", .integer(Int64(number)))]))
                world.domains.register(["d": .integer(Int64(number))])
                if number % 100 == 50 { late.add(Chain(world.list)) }
                if number % 5 == 0 { _ = try? world.group.submit(.init([.remove("a")])) }
            }
        }
        _ = try world.group.submit(.init([.set("b", .integer(0))]))
        world.check([early] + late.all)
    }
}
