import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Watching")
struct WatchTests {
    static let other = GroupIdentifier(known: "group.other")

    @Test("a snapshot first, then every commit once and in order")
    func snapshotThenCommits() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(0)), .set("b", .string("x"))])
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example)])
        let snapshot = try watcher.snapshot()
        #expect(snapshot.reason == "initial")
        #expect(!snapshot.isPartial)
        #expect(snapshot.position.revision == 1)
        #expect(snapshot.values == ["a": .integer(0), "b": .string("x")])
        for number in 1...100 {
            try peer.send(.write(WriteRequest(group: .example, edits: [.set("a", .integer(Int64(number)))])))
        }
        for number in 1...100 {
            let commit = try watcher.nextCommit()
            #expect(commit.revision == Int64(number + 1))
            #expect(
                commit.changes == [Change(key: "a", old: .integer(Int64(number - 1)), new: .integer(Int64(number)))])
        }
        for _ in 1...100 { _ = try peer.receive() }
    }

    @Test("keys cut commits and leave out those that touch none of them")
    func globs() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let watcher = try daemon.watcher(of: .example, keys: ["a.*", "z"])
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.write(.example, [.set("a.b", .integer(1)), .set("b", .integer(1)), .set("z", .integer(1))])
        try peer.write(.example, [.remove("a.b")])
        let first = try watcher.nextCommit()
        #expect(first.revision == 2)
        #expect(first.keys == ["a.b", "z"])
        #expect(try watcher.nextCommit().revision == 3)
    }

    @Test("an empty list of keys watches nothing, but the group's end")
    func emptyList() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let watcher = try daemon.watcher(of: .example, keys: [])
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.call(.deleteGroup(.example))
        #expect(try watcher.deletion() == "group.com.example.app")
    }

    @Test("since the present position nothing is said but that the watch stands")
    func sincePresent() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        for number in 1...3 { try peer.write(.example, [.set("a", .integer(Int64(number)))]) }
        let position = try peer.read(.example).position
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example, since: position)])
        #expect(try watcher.receive() == Reply(continues: true))
        try peer.write(.example, [.set("a", .integer(4))])
        #expect(try watcher.nextCommit().revision == 4)
    }

    @Test("since a past position what was missed comes, as it was recorded", arguments: [false, true])
    func sincePast(restarts: Bool) throws {
        let daemon = try RunningDaemon()
        var peer = try daemon.peer(with: .example)
        for number in 1...5 {
            try peer.write(
                .example, [.set(number % 2 == 0 ? "even" : "odd", .integer(Int64(number)))], tag: "t\(number)")
        }
        var position = try #require(try peer.read(.example).position)
        let history = try peer.history(.example)
        if restarts {
            try daemon.kill()
            try daemon.start()
            peer = try SettingsPeer(daemon)
        }
        position.revision = 2
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example, since: position)])
        for revision in 3...5 { #expect(try watcher.nextCommit() == history[5 - revision]) }
        position.revision = 0
        let cut = try SettingsPeer(daemon)
        try cut.watch([WatchedGroup(group: .example, keys: ["even"], since: position)])
        #expect(try cut.nextCommit().revision == 2)
        #expect(try cut.nextCommit().revision == 4)
        try peer.write(.example, [.set("even", .integer(6))])
        #expect(try cut.nextCommit().revision == 6)
        #expect(try watcher.nextCommit().revision == 6)
    }

    @Test("a position that has not been yet, or of another epoch, gives a snapshot")
    func sinceElsewhere() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        let position = try #require(try peer.read(.example).position)
        var future = position
        future.revision = 2
        var negative = position
        negative.revision = -1
        let elsewhere = Position(epoch: Epoch(high: 1, low: 2), revision: 1)
        for since in [future, negative, elsewhere] {
            let watcher = try SettingsPeer(daemon)
            try watcher.watch([WatchedGroup(group: .example, since: since)])
            let snapshot = try watcher.snapshot()
            #expect(snapshot.position == position)
            #expect(snapshot.values == ["a": .integer(1)])
            #expect(snapshot.reason == "otherEpoch")
        }
    }

    @Test("a position that is too old gives a snapshot in the same stream")
    func tooOld() throws {
        let daemon = try RunningDaemon(configuration: ["HistoryCommits=10"])
        let peer = try daemon.peer(with: .example)
        for number in 1...100 { try peer.write(.example, [.set("a", .integer(Int64(number)))]) }
        // The rewrite is under way by now; its end shows in the history.
        #expect(try eventually { try peer.history(.example, limit: 1000).count <= 21 })
        var position = try #require(try peer.read(.example).position)
        #expect(position.revision == 100)
        position.revision = 1
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example, since: position)])
        let snapshot = try watcher.snapshot()
        #expect(snapshot.reason == "tooOld")
        #expect(snapshot.position.revision == 100)
        try peer.write(.example, [.set("a", .integer(101))])
        #expect(try watcher.nextCommit().revision == 101)
        // And all of it survives a kill.
        try daemon.kill()
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(try again.read(.example).values == ["a": .integer(101)])
        position.revision = 99
        let resumed = try SettingsPeer(daemon)
        try resumed.watch([WatchedGroup(group: .example, since: position)])
        #expect(try resumed.nextCommit().revision == 100)
    }

    @Test("R37: several groups share one stream, each for itself")
    func severalGroups() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.create(Self.other)
        try peer.write(.example, [.set("a", .integer(1))])
        let position = try peer.read(.example).position
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([
            WatchedGroup(group: Self.other), WatchedGroup(group: .example, keys: ["b"], since: position),
        ])
        #expect(try watcher.snapshot().group == "group.other")
        try peer.write(.example, [.set("a", .integer(2))])
        try peer.write(Self.other, [.set("x", .integer(1))])
        try peer.write(.example, [.set("b", .integer(2))])
        let commits = [try watcher.nextCommit(), try watcher.nextCommit()]
        #expect(Set(commits.map(\.group)) == [Self.other, .example])
        #expect(commits.map(\.changes.count) == [1, 1])
        try peer.call(.deleteGroup(Self.other))
        #expect(try watcher.deletion() == "group.other")
        try peer.write(.example, [.set("b", .integer(3))])
        #expect(try watcher.nextCommit().group == .example)
    }

    @Test("a watch of no group stands and says nothing more")
    func noGroup() throws {
        let daemon = try RunningDaemon()
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([])
        #expect(try watcher.receive() == Reply(continues: true))
    }

    @Test("a watch outlives its group, and begins again with one made under the name")
    func madeAgain() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        let before = try #require(try peer.read(.example).position)
        let watcher = try daemon.watcher(of: .example)
        for _ in 1...3 {
            try peer.call(.deleteGroup(.example))
            #expect(try watcher.deletion() == "group.com.example.app")
            try peer.create(.example)
            let snapshot = try watcher.snapshot()
            #expect(snapshot.reason == "otherEpoch")
            #expect(snapshot.position.revision == 0)
            #expect(snapshot.position.epoch != before.epoch)
            #expect(snapshot.values == [:])
            try peer.write(.example, [.set("b", .integer(1))])
            #expect(try watcher.nextCommit().revision == 1)
        }
    }

    @Test("a large snapshot comes in parts of one position")
    func parts() throws {
        let daemon = try RunningDaemon(configuration: ["MaxValueSize=4M", "MaxGroupSize=16M"])
        let peer = try daemon.peer(with: .example)
        let text = Value.string(String(repeating: "x", count: 2_100_000))
        for key in ["a", "b"] { try peer.write(.example, [.set(Key(key), text)]) }
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example)])
        let first = try watcher.snapshot()
        let second = try watcher.snapshot()
        #expect(first.isPartial)
        #expect(!second.isPartial)
        #expect(first.position == second.position)
        #expect(Set(first.values.keys).union(second.values.keys) == ["a", "b"])
        #expect(first.values.count + second.values.count == 2)
        try peer.write(.example, [.set("d", .integer(1))])
        #expect(try watcher.nextCommit().revision == 3)
    }

    @Test("no message is larger than messages may be, whatever a group holds and a commit changes")
    func largeMessages() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        // A line feed is one byte in the file and for the caps, and six in a message.
        let names = (0..<4).map { "k\($0)" }
        let lines = String(repeating: "\n", count: 1_000_000)
        let text =
            "<plist><dict>" + names.map { "<key>\($0)</key><string>\(lines)</string>" }.joined() + "</dict></plist>"
        try Plist.replace(daemon.plist("group.com.example.app"), with: text)
        try peer.synchronize()
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example)])
        var seen: [String: Int] = [:]
        while seen.count < names.count {
            let part = try snapshot(watcher, "initial")
            for (key, value) in part.values { seen[key.string] = value.encodedSize }
        }
        #expect(seen == Dictionary(uniqueKeysWithValues: names.map { ($0, lines.utf8.count + 1) }))
        // The commit has all that was there before: the observer gets the state that it made.
        _ = try peer.call(.reset(.example, tag: nil))
        let after = try snapshot(watcher, "overflow")
        #expect(after.values.isEmpty)
        #expect(after.position.revision == 2)
        try peer.write(.example, [.set("k0", .integer(1))])
        #expect(try watcher.nextCommit().revision == 3)
        #expect(try peer.history(.example, limit: 10).map(\.revision) == [3])
        #expect(throws: GroupError.self) { try peer.history(.example, before: 3) }
        #expect(try peer.history(.example, keys: ["k1"], before: 3).map(\.revision) == [2])
    }

    private func snapshot(_ watcher: SettingsPeer, _ reason: String) throws -> WatchEvent.SnapshotPart {
        let bytes = try watcher.peer.readMessageBytes()
        #expect(bytes.count <= SettingsInterface.messageLimit)
        guard let event = WatchEvent(wire: try watcher.checked(Reply(parsing: bytes))), case .snapshot(let part) = event
        else { throw SettingsPeer.UnexpectedEvent(description: "no snapshot") }
        #expect(part.reason == reason)
        return part
    }

    @Test("an observer that does not read gets the newest values, marked, and the others get everything")
    func coalesced() throws {
        let daemon = try RunningDaemon(configuration: ["MaxQueueSize=64K"])
        let peer = try daemon.peer(with: .example)
        let stopped = try daemon.watcher(of: .example)
        let lively = try daemon.watcher(of: .example)
        let filler = String(repeating: "x", count: 2000)
        for number in 1...1000 {
            try peer.write(.example, [.set("n", .integer(Int64(number))), .set("text", .string(filler + "\(number)"))])
            #expect(try lively.nextCommit().revision == Int64(number))
        }
        var last: Int64 = 0
        var stood: Int64 = 0
        while last < 1000 {
            guard case .commit(let commit, let coalesced) = try stopped.event() else { continue }
            #expect(commit.revision == last + (coalesced ?? 1))
            #expect(commit["n"]?.old == (last == 0 ? nil : .integer(last)))
            #expect(commit["n"]?.new == .integer(commit.revision))
            last = commit.revision
            stood = max(stood, coalesced ?? 1)
        }
        #expect(stood > 1)
    }
}
