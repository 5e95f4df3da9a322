import Foundation
import GroupModel
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// Writes of several keys as one, and changes made in the daemon.
@Suite struct WritingTests {
    @Test(arguments: WorldKind.allCases) func `several edits are one commit`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let log = ChangeLog()
        let id = world.reader.searchList.addObserver { _, changes in log.add(changes.map { .string($0.key.string) }) }
        let name = GroupDefaults.Key("name", default: "")
        try await world.writer.write {
            $0["a"] = 1
            $0["b"] = ["x": true]
            $0[name] = "Ada"
            $0.increment("n", by: 2)
            $0.increment("n")
            $0.increment("r", by: 0.5)
            $0.toggle("t")
            $0.append("first", forKey: "list")
            $0.append(["second": 2], forKey: "list")
            $0.merge(["k": "v"], forKey: "map")
            $0.set(SetterTests.Profile(), forKey: "profile")
            $0["c"] = 1
            $0["c"] = nil
            #expect($0["n"] as? Int == 3, "reading gives what the edits make of it")
            #expect($0["c"] == nil)
            #expect($0[name] == "Ada")
        }
        try await world.settle()
        world.reader.searchList.removeObserver(id)
        #expect(log.all.contains(["a", "b", "list", "map", "n", "name", "profile", "r", "t"].map { .string($0) }))
        #expect(world.reader.integer(forKey: "n") == 3)
        #expect(world.reader.double(forKey: "r") == 0.5)
        #expect(world.reader.bool(forKey: "t"))
        #expect(world.reader.array(forKey: "list")?.count == 2)
        #expect(world.reader.dictionary(forKey: "map")?["k"] as? String == "v")
        #expect(try world.reader.value(SetterTests.Profile.self, forKey: "profile") == SetterTests.Profile())
    }

    @Test(arguments: WorldKind.allCases) func `an edit that cannot be made makes none`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let writer = world.writer
        writer.set("text", forKey: "text")
        let bodies: [@Sendable (inout GroupDefaults.Edits) -> Void] = [
            { $0["bad"] = NSNull() },
            { $0.append(NSNull(), forKey: "list") },
            { $0.toggle("text") },
            { $0.increment("text") },
            { $0.append(1, forKey: "text") },
            { $0.merge(["a": 1], forKey: "text") },
            { $0.set(CodableTests.Silent(), forKey: "bad") },
            { $0["c"] = "\u{0}" },
        ]
        for body in bodies {
            await #expect(throws: AppGroupError.self) {
                try await writer.write {
                    $0["a"] = 1
                    body(&$0)
                    $0["b"] = 1
                }
            }
        }
        let errors = reports(of: writer) {
            writer.toggle("text")
            writer.increment("text")
            writer.increment("text", by: 1.5)
            writer.append(1, forKey: "text")
            writer.merge(["a": 1], forKey: "text")
        }
        #expect(errors.map(\.code) == Array(repeating: .wrongType, count: 5))
        try await world.settle()
        #expect(world.reader.ownKeys == ["text"])
    }

    @Test(arguments: WorldKind.allCases) func `the forms that do not wait`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        edit(world.writer)
        try await world.settle()
        #expect(world.reader.integer(forKey: "n") == 11)
        #expect(world.reader.double(forKey: "r") == 1.5)
        #expect(world.reader.bool(forKey: "t") == false)
        #expect(world.reader.stringArray(forKey: "list") == ["a", "b"])
        #expect(world.reader.dictionary(forKey: "map")?.count == 2)
        #expect(world.reader.bool(forKey: "x") && world.reader.bool(forKey: "y"))
    }

    /// Not `async`: here `write` is the form that does not wait.
    private func edit(_ settings: GroupDefaults) {
        settings.increment("n")
        settings.increment("n", by: 10)
        settings.increment("r", by: 1.5)
        settings.toggle("t")
        settings.toggle("t")
        settings.append("a", forKey: "list")
        settings.append("b", forKey: "list")
        settings.merge(["a": 1], forKey: "map")
        settings.merge(["b": 2], forKey: "map")
        do throws(AppGroupError) {
            try settings.write {
                $0["x"] = true
                $0["y"] = true
            }
        } catch {
            Issue.record(error)
        }
    }

    @Test(arguments: WorldKind.allCases) func `compare and set`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let writer = world.writer
        #expect(try await writer.compareAndSet("owner", expected: "x", to: "me") == false)
        #expect(try await writer.compareAndSet("owner", expected: nil, to: "me"))
        #expect(writer.string(forKey: "owner") == "me", "seen at once")
        #expect(try await writer.compareAndSet("owner", expected: nil, to: "you") == false)
        // After a write that is not confirmed yet.
        writer.set("third", forKey: "owner")
        #expect(try await writer.compareAndSet("owner", expected: "third", to: nil))
        #expect(!writer.exists("owner"))
        try await world.settle()
        #expect(!world.reader.exists("owner"))
        await #expect(throws: AppGroupError.self) {
            try await writer.compareAndSet("owner", expected: nil, to: NSNull())
        }
    }

    @Test(arguments: WorldKind.allCases)
    func `R01 R02 nothing is lost where many change the same key`(kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let all = [world.writer, world.reader]
        let wins = try await withThrowingTaskGroup(of: Int.self) { group in
            for index in 0..<8 {
                group.addTask {
                    let settings = all[index % 2]
                    var wins = 0
                    for round in 0..<10 {
                        Self.count(settings)
                        if try await settings.compareAndSet("turn.\(round)", expected: nil, to: index) { wins += 1 }
                    }
                    return wins
                }
            }
            return try await group.reduce(0, +)
        }
        try await world.settle()
        #expect(world.reader.integer(forKey: "n") == 80)
        #expect(world.reader.array(forKey: "list")?.count == 80)
        #expect(wins == 10, "each turn was won once")
    }

    private static func count(_ settings: GroupDefaults) {
        settings.increment("n")
        settings.append(1, forKey: "list")
    }

    @Test func `the daemon's refusal reaches the write that caused it, and no other`() async throws {
        let world = try SettingWorld(.daemon, configuration: ["MaxValueSize=100"])
        let settings = world.writer
        let log = ErrorLog()
        let id = try errorObserver(settings, log)
        // A burst, so that writes are sent together.
        for index in 0..<500 { settings.set(index, forKey: "k\(index)") }
        settings.set(String(repeating: "x", count: 200), forKey: "large")
        for index in 500..<1000 { settings.set(index, forKey: "k\(index)") }
        try await settings.write { $0["after"] = 1 }
        await #expect(throws: AppGroupError.self) {
            try await settings.write { $0["large too"] = String(repeating: "x", count: 200) }
        }
        try await settings.write { $0["last"] = 1 }
        try await world.settle()
        #expect(log.all.map(\.code) == [.tooLarge], "the one that nobody awaited")
        #expect(!settings.exists("large") && !settings.exists("large too"))
        let other = SettingWorld.open(try #require(world.daemon))
        #expect(other.ownKeys.count == 1002)
        if case .daemon(let link, _) = settings.backend { link.removeObserver(id) }
    }

    private func errorObserver(_ settings: GroupDefaults, _ log: ErrorLog) throws -> UInt64 {
        guard case .daemon(let link, _) = settings.backend else { return 0 }
        return link.addErrorObserver { _, error in log.add(error) }
    }

    @Test func `a condition in memory holds for the named keys only`() throws {
        let settings = GroupDefaults.inMemory()
        try settings.submit([.set("a", .integer(1))])
        try settings.submit([.set("b", .integer(1))])
        var write = ReplicaMachine.Submission([.set("a", .integer(2))])
        write.unchangedSince = 1
        try settings.submit(write)
        write.edits = [.set("b", .integer(2))]
        #expect(throws: AppGroupError.self) { try settings.submit(write) }
        #expect(settings.integer(forKey: "b") == 1)
    }
}
