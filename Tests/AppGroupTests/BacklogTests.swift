import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// Many writes that wait: what they cost, what becomes of them when a connection breaks, and that readers see at all times
/// what is confirmed with all writes laid over it.
@Suite struct BacklogTests {
    private static let epoch = Epoch(high: 1, low: 2)

    private func machine() -> ReplicaMachine {
        var machine = ReplicaMachine(tagPrefix: "t")
        let position = Position(epoch: Self.epoch, revision: 0)
        _ = machine.take(.init(group: "none", position: position, values: [:], reason: "initial", isPartial: false))
        return machine
    }

    private func commit(_ revision: Int64, tag: String? = nil, _ changes: [Change]) -> Commit {
        Commit(
            group: .none, revision: revision, time: Timestamp(microseconds: 0), origin: Origin(kind: .client, tag: tag),
            changes: changes)
    }

    /// Sends, answers and tells of everything, one message after the other.
    private func drain(_ machine: inout ReplicaMachine, disturbedBy other: Key? = nil) -> [Key: Value] {
        var (values, revision) = ([Key: Value](), Int64(0))
        while let (number, write) = machine.nextToSend() {
            if let other {
                revision += 1
                let old = values[other]
                values[other] = .integer((revision))
                _ = machine.take(commit(revision, [Change(key: other, old: old, new: values[other])]), coalesced: nil)
            }
            var olds: [Key: Value?] = [:]
            for edit in write.edits {
                if olds.index(forKey: edit.key) == nil { olds.updateValue(values[edit.key], forKey: edit.key) }
                try? edit.apply(to: &values[edit.key])
            }
            revision += 1
            _ = machine.acknowledged(number, at: Position(epoch: Self.epoch, revision: revision), changed: true)
            let changes = olds.map { Change(key: $0, old: $1, new: values[$0]) }
            _ = machine.take(commit(revision, tag: machine.tag(of: number), changes), coalesced: nil)
        }
        return values
    }

    @Test(arguments: [Edit.Operation.increment, .append, .merge, .set])
    func `a backlog of steps costs in proportion to its length`(_ operation: Edit.Operation) throws {
        let count = 20_000
        var machine = machine()
        for number in 0..<count {
            let value: Value = operation == .merge ? .dictionary([Key("\(number % 9)"): .integer(1)]) : .integer(1)
            _ = try machine.submit([Edit(key: "k", operation: operation, value: value)])
        }
        if operation != .append { #expect(machine.writes.count <= 256) }
        let expected = machine.visible
        #expect(drain(&machine) == expected)
        #expect(machine.visible == expected)
        #expect(!machine.hasUnconfirmedWrites)
        #expect(machine.overlaidCount <= 8 * count, "edits laid over values: \(machine.overlaidCount)")
    }

    @Test func `so does one that is told of others' commits all the time`() throws {
        let count = 20_000
        var machine = machine()
        for number in 0..<count {
            _ = try machine.submit([Edit(key: "list", operation: .append, value: .integer(Int64(number)))])
            _ = try machine.submit([.set(Key("k\(number % 50)"), .integer(1))])
        }
        let expected = machine.visible
        var values = drain(&machine, disturbedBy: "other")
        values["other"] = nil
        #expect(values == expected)
        #expect(machine.overlaidCount <= 20 * count, "edits laid over values: \(machine.overlaidCount)")
    }

    @Test func `counts that were put together are answered together, and those made together stay so`() throws {
        var machine = machine()
        _ = try machine.submit([
            Edit(key: "a", operation: .increment, value: .integer(1)), .set("b", .integer(1)),
        ])
        for _ in 0..<1000 { _ = try machine.submit([Edit(key: "a", operation: .increment, value: .integer(1))]) }
        #expect(machine.visible["a"] == .integer(1001))
        #expect(machine.writes.first?.edits.count == 2)
        #expect(!machine.isAnswered(upTo: 500))
        #expect(drain(&machine) == ["a": .integer(1001), "b": .integer(1)])
        #expect(machine.isAnswered(upTo: machine.newestNumber))
    }

    // MARK: A reader sees what is confirmed with all writes laid over it

    private func expectTrue(_ machine: ReplicaMachine) {
        var values = machine.confirmed
        for write in machine.writes where write.isVisible {
            if write.isReset { values = [:] }
            for edit in write.edits { try? edit.apply(to: &values[edit.key]) }
        }
        #expect(machine.visible == values)
    }

    @Test func `whatever happens in whichever order`() {
        SplitMix64.withSeed { random in
            for _ in 0..<300 { run(&random) }
        }
    }

    private func run(_ random: inout SplitMix64) {
        var (machine, revision, sent) = (machine(), Int64(0), [UInt64]())
        // Soon, so that it happens at all.
        machine.coalesceAt = 8
        for _ in 0..<120 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<5:
                let edits = (0..<Int.random(in: 1...2, using: &random)).map { _ in edit(&random) }
                if (try? machine.submit(edits)) != nil { machine.coalesceAt = 8 }
            case 5:
                let edits = (0..<Int.random(in: 0...2, using: &random)).map { _ in edit(&random) }
                _ = try? machine.submit(.replacement(edits))
            case 6, 7:
                if let next = machine.nextToSend(limit: 4) { sent.append(next.number) }
            case 8:
                guard !sent.isEmpty else { continue }
                let number = sent.removeFirst()
                if Bool.random(using: &random) {
                    if !machine.divide(number) { _ = machine.refused(number) }
                } else {
                    let position = Position(epoch: Self.epoch, revision: revision + 1)
                    _ = machine.acknowledged(number, at: position, changed: true)
                }
            case 9:
                machine.connectionLost()
                _ = machine.resolveUnknown(found: [:], keptFrom: .random(in: 0...3, using: &random))
                for (number, _) in machine.undecided { _ = machine.refused(number) }
                sent = []
            default:
                revision += 1
                let key = Self.keys.randomElement(using: &random) ?? "a"
                let change = Change(key: key, old: nil, new: value(&random))
                let tag = Bool.random(using: &random) ? nil : sent.first.map(machine.tag(of:))
                _ = machine.take(commit(revision, tag: tag, [change]), coalesced: nil)
            }
            expectTrue(machine)
        }
    }

    private static let keys: [Key] = ["a", "b", "c"]

    private func value(_ random: inout SplitMix64) -> Value? {
        switch Int.random(in: 0..<5, using: &random) {
        case 0: nil
        case 1: .array([])
        case 2: .dictionary(["x": .integer(1)])
        case 3: .boolean(true)
        default: .integer(Int64.random(in: 0..<5, using: &random))
        }
    }

    private func edit(_ random: inout SplitMix64) -> Edit {
        let key = Self.keys.randomElement(using: &random) ?? "a"
        let operation = Edit.Operation.allCases.randomElement(using: &random) ?? .set
        let number = Value.integer(Int64.random(in: 0..<5, using: &random))
        switch operation {
        case .remove, .toggle: return Edit(key: key, operation: operation, value: nil)
        case .merge:
            let otherwise: Value? = Bool.random(using: &random) ? nil : .dictionary(["y": number])
            return Edit(key: key, operation: .merge, value: .dictionary(["z": number]), otherwise: otherwise)
        case .increment, .append: return Edit(key: key, operation: operation, value: number)
        case .set: return .set(key, value(&random) ?? number)
        }
    }

    @Test func `what is sent again after a refusal is seen, whatever was sent before it is told of`() throws {
        var machine = machine()
        _ = try machine.submit([.set("a", .integer(1))])
        _ = try machine.submit([.set("b", .integer(2))])
        let both = machine.nextToSend()
        #expect(both?.write.parts.count == 2)
        _ = try machine.submit([.set("c", .integer(3))])
        let later = machine.nextToSend()
        // The daemon refuses the two, as one of them is too large; then it takes the third, and each of the two by itself.
        let isDivided = machine.divide(try #require(both).number)
        #expect(isDivided)
        let again = [machine.nextToSend(), machine.nextToSend()]
        #expect(again.map(\.?.write.edits) == [[.set("a", .integer(1))], [.set("b", .integer(2))]])
        let all: [Key: Value] = ["a": .integer(1), "b": .integer(2), "c": .integer(3)]
        let change = Change(key: "c", old: nil, new: .integer(3))
        let tag = machine.tag(of: try #require(later).number)
        let step = machine.take(commit(1, tag: tag, [change]), coalesced: nil)
        #expect(step.changes == [] && machine.visible == all)
        // With the commit of the second it has come to the first, which therefore changed nothing or was refused.
        let second = Change(key: "b", old: nil, new: .integer(2))
        let secondTag = machine.tag(of: try #require(again[1]).number)
        _ = machine.take(commit(2, tag: secondTag, [second]), coalesced: nil)
        #expect(machine.visible == ["b": .integer(2), "c": .integer(3)])
    }

    // MARK: Replies that were lost

    @Test func `what may count twice is not sent again where nobody knows what became of it`() throws {
        var machine = machine()
        _ = try machine.submit([Edit(key: "n", operation: .increment, value: .integer(1))])
        _ = try machine.submit([.set("k", .integer(1))])
        _ = try machine.submit([Edit(key: "m", operation: .merge, value: .dictionary(["a": .integer(1)]))])
        _ = try machine.submit([Edit(key: "t", operation: .toggle, value: nil)])
        let sent = machine.nextToSend()
        #expect(sent?.write.parts.count == 4)
        machine.connectionLost()
        // The history begins at revision 10: the commit may have been one before.
        _ = machine.resolveUnknown(found: [:], keptFrom: 10)
        #expect(machine.undecided.map(\.keys) == [["n"], ["t"]])
        for (number, _) in machine.undecided { _ = machine.refused(number) }
        #expect(machine.visible == ["k": .integer(1), "m": .dictionary(["a": .integer(1)])])
        #expect(machine.nextToSend()?.write.edits.map(\.key) == ["k"])
        #expect(machine.nextToSend()?.write.edits.map(\.key) == ["m"])
        #expect(machine.nextToSend() == nil)
    }

    @Test func `a compare-and-set and a reset whose answers are lost`() throws {
        var machine = machine()
        var conditional = ReplicaMachine.Submission([.set("k", .integer(1))])
        (conditional.unchangedSince, conditional.isOptimistic) = (0, false)
        let number = try machine.submit(conditional).number
        _ = try machine.submit(.reset)
        _ = machine.nextToSend()
        _ = machine.nextToSend()
        machine.connectionLost()
        _ = machine.resolveUnknown(found: [:], keptFrom: 10)
        #expect(machine.undecided.map(\.number) == [number])
        _ = machine.refused(number)
        #expect(machine.nextToSend()?.write.isReset == true)
    }

    @Test func `what the history reaches back to is sent again`() throws {
        var machine = machine()
        _ = try machine.submit([Edit(key: "n", operation: .increment, value: .integer(1))])
        let sent = machine.nextToSend()
        machine.connectionLost()
        _ = machine.resolveUnknown(found: [:], keptFrom: 1)
        #expect(machine.undecided.isEmpty)
        #expect(machine.nextToSend()?.number == sent?.number)
    }

    @Test func `a write that nobody waits for any more is taken back, until it is sent`() throws {
        var machine = machine()
        var conditional = ReplicaMachine.Submission([.set("k", .integer(1))])
        (conditional.unchangedSince, conditional.isOptimistic) = (0, false)
        let first = try machine.submit(conditional).number
        let second = try machine.submit(conditional).number
        let plain = try machine.submit([.set("k", .integer(2))]).number
        #expect(machine.nextToSend()?.number == first)
        // One is under way, and one is seen.
        let isWithdrawn = [first, second, plain].map { machine.withdraw($0) }
        #expect(isWithdrawn == [false, true, false])
        #expect(machine.nextToSend()?.number == plain)
    }
}

extension BacklogTests {
    @Test func `every wait ends when its task is cancelled`() async throws {
        let nowhere = DaemonLink(DaemonAddress(path: "/nonexistent/socket"), tagPrefix: "t")
        let settings = GroupDefaults(suiteName: "group.com.example.app", link: nowhere)
        let waits: [@Sendable () async throws -> Void] = [
            { try await settings.write { $0["a"] = 1 } },
            { try await settings.commit() },
            { try await settings.commit(durable: true) },
            { _ = try await settings.compareAndSet("b", expected: nil, to: 1) },
            { _ = try await settings.compareAndSet(GroupDefaults.Key("b", default: 0), expected: 0, to: 1) },
        ]
        for wait in waits {
            let task = Task { try await wait() }
            await Task.yield()
            task.cancel()
            let error = await #expect(throws: AppGroupError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
        #expect(!settings.contains("b"))
        // The time limit of somebody who has one.
        settings.set(1, forKey: "c")
        await #expect(throws: AppGroupError.self) {
            try await withThrowingTaskGroup { group in
                group.addTask { try await settings.commit() }
                group.addTask { try await Task.sleep(for: .milliseconds(1)) }
                try await group.next()
                group.cancelAll()
                try await group.waitForAll()
            }
        }
        #expect(settings.integer(forKey: "c") == 1, "the write waits on")
    }

    @Test func `a task that is cancelled already writes nothing`() async throws {
        let settings = GroupDefaults.inMemory()
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            try await settings.write { $0["a"] = 1 }
        }
        task.cancel()
        await #expect(throws: AppGroupError.self) { try await task.value }
        #expect(!settings.exists("a"))
    }
}
