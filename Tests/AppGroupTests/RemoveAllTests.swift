import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// All keys of a group at once.
@Suite struct RemoveAllTests {
    @Test(arguments: WorldKind.allCases)
    func `every key goes, at once here and as one commit everywhere`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        for number in 0..<20 { world.writer.set(number, forKey: "k\(number)") }
        try await world.settle()
        let commits = world.reader.commits().makeAsyncIterator()
        world.writer.removeAll()
        #expect(world.writer.ownKeys.isEmpty, "seen at once")
        world.writer.set("new", forKey: "after")
        #expect(world.writer.ownKeys == ["after"])
        // Other tests of the process register defaults, which are told to everybody.
        var commit = try #require(await commits.next())
        while !commit.changes.contains(where: { $0.key == "k0" }) { commit = try #require(await commits.next()) }
        #expect(commit.changes.count == 20)
        #expect(commit.changes.allSatisfy { $0.new == nil })
        try await world.settleBothWays()
        #expect(world.reader.ownKeys.filter { !$0.hasPrefix("\u{2021}") } == ["after"])
        #expect(world.writer.ownKeys == world.reader.ownKeys)
        world.writer.removeAll()
        world.writer.removeAll()
        try await world.writer.commit()
        #expect(world.writer.ownKeys.isEmpty)
    }

    @Test func `keys that this process has not heard of go too`() async throws {
        let world = try SettingWorld(.twoLinks)
        for round in 0..<50 {
            let key = "key \(round)"
            try await world.reader.write { $0[key] = round }
            // Acknowledged to the other; whether this process knows of it is a matter of luck.
            world.writer.removeAll()
            try await world.writer.commit()
            let fresh = SettingWorld.open(try #require(world.daemon))
            #expect(fresh.ownKeys.isEmpty)
        }
    }

    @Test
    func `a domain that is set has no other keys, not even those that this process has not heard of`() async throws {
        let world = try SettingWorld(.twoLinks)
        for round in 0..<50 {
            let key = "key \(round)"
            try await world.reader.write { $0[key] = round }
            world.writer.setPersistentDomain(["set": round], forName: world.writer.suiteName)
            #expect(world.writer.ownKeys == ["set"], "seen at once")
            try await world.writer.commit()
            let fresh = SettingWorld.open(try #require(world.daemon))
            #expect(fresh.ownDictionary() as? [String: Int] == ["set": round])
        }
    }

    @Test func `a replacement is one write of the replica, whatever is told while it waits`() throws {
        var machine = ReplicaMachine(tagPrefix: "t")
        let position = Position(epoch: Epoch(high: 1, low: 2), revision: 1)
        let values: [Key: Value] = ["a": .integer(1), "n": .integer(5)]
        _ = machine.take(
            .init(group: "none", position: position, values: values, reason: "initial", isPartial: false))
        let increment = Edit(key: "n", operation: .increment, value: .integer(1))
        let (number, step) = try machine.submit(.replacement([.set("b", .integer(2)), increment]))
        #expect(
            step.changes == [
                Change(key: "a", old: .integer(1), new: nil), Change(key: "b", old: nil, new: .integer(2)),
                Change(key: "n", old: .integer(5), new: .integer(1)),
            ])
        let sent = machine.nextToSend()
        #expect(sent?.write.isReset == true && sent?.write.edits.count == 2)
        let commit = Commit(
            group: .none, revision: 2, time: Timestamp(microseconds: 0), origin: Origin(kind: .client),
            changes: [Change(key: "d", old: nil, new: .integer(4)), Change(key: "b", old: nil, new: .integer(9))])
        _ = machine.take(commit, coalesced: nil)
        #expect(machine.visible == ["b": .integer(2), "n": .integer(1)])
        _ = machine.refused(number)
        #expect(machine.visible == ["a": .integer(1), "b": .integer(9), "d": .integer(4), "n": .integer(5)])
    }

    @Test func `a group in memory, its registered defaults and observers`() async throws {
        let settings = GroupDefaults.inMemory()
        let key = "removeAll.\(UInt64.random(in: .min ... .max))"
        settings.register(defaults: [key: "registered"])
        settings.set("own", forKey: key)
        let changes = settings.changes(for: key).makeAsyncIterator()
        settings.removeAll()
        let change = try #require(await changes.next())
        #expect(change.old?.string == "own" && change.new?.string == "registered")
        settings.setPersistentDomain(["a": 1, "b": 2], forName: "group.memory.other")
        settings.removePersistentDomain(forName: "group.memory.other")
        #expect(settings.persistentDomain(forName: "group.memory.other") == nil)
    }

    @Test func `a reset that waits hides what is confirmed below it, and what is refused comes back`() throws {
        var machine = ReplicaMachine(tagPrefix: "t")
        let position = Position(epoch: Epoch(high: 1, low: 2), revision: 1)
        _ = machine.take(
            .init(group: "none", position: position, values: ["a": .integer(1)], reason: "initial", isPartial: false))
        _ = try machine.submit([.set("b", .integer(2))])
        let (number, step) = try machine.submit(.reset)
        #expect(step.changes.map(\.key) == ["a", "b"])
        #expect(machine.visible.isEmpty)
        _ = try machine.submit([.set("c", .integer(3))])
        // Somebody else's commit comes before the daemon has come to the reset.
        let commit = Commit(
            group: .none, revision: 2, time: Timestamp(microseconds: 0), origin: Origin(kind: .client),
            changes: [Change(key: "d", old: nil, new: .integer(4))])
        _ = machine.take(commit, coalesced: nil)
        #expect(machine.visible == ["c": .integer(3)])
        #expect(machine.nextToSend()?.write.edits == [.set("b", .integer(2))], "sent by itself")
        let sent = machine.nextToSend()
        #expect(sent?.number == number && sent?.write.isReset == true)
        #expect(machine.nextToSend()?.write.edits == [.set("c", .integer(3))])
        _ = machine.refused(number)
        #expect(machine.visible == ["a": .integer(1), "b": .integer(2), "c": .integer(3), "d": .integer(4)])
    }
}
