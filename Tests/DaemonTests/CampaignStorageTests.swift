import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// Durable writes, and the journal's compaction under load.
@Suite(.serialized) struct CampaignStorageTests {
    private let group = GroupIdentifier.example

    @Test func durableWritesManyDeepAreAnsweredInOrderAndSurvive() throws {
        let daemon = try RunningDaemon(configuration: ["Durability=power"])
        let peer = try SettingsPeer(daemon)
        try peer.create(group)
        let writer = Writer(socket: daemon.socket, group: group, name: "w", depth: 64, keyCount: 64, count: 2000)
        let acknowledged = try Background { try writer.run() }.value()
        #expect(acknowledged.map(\.revision) == Array(1...2000))
        let before = try peer.read(group)
        try daemon.kill()
        try daemon.start()
        let after = try SettingsPeer(daemon).read(group)
        #expect(after.position == before.position)
        #expect(after.values == before.values)
    }

    @Test func aShortHistoryKeepsTheJournalSmallAndTheStateWhole() throws {
        let daemon = try RunningDaemon(configuration: ["HistoryCommits=200"])
        let peer = try SettingsPeer(daemon)
        try peer.create(group)
        let writers = (0..<4).map { number in
            let writer = Writer(
                socket: daemon.socket, group: group, name: "w\(number)", depth: 16, count: 2000)
            return Background { try writer.run() }
        }
        for writer in writers { #expect(try writer.value().count == 2000) }
        // Twice the history, then it is rewritten; every write looks whether it is time.
        #expect(
            try eventually {
                try peer.write(group, [.set("tick", .integer(Int64.random(in: 0 ... .max)))])
                return try recordCount(daemon) < 2 * 200 + 50
            })
        let before = try peer.read(group)
        let revision = try #require(before.position?.revision)
        #expect(try peer.wholeHistory(of: group).keys.max() == revision)
        for _ in 0..<3 {
            try daemon.kill()
            try daemon.start()
            let after = try SettingsPeer(daemon).read(group)
            #expect(after.position == before.position)
            #expect(after.values == before.values)
        }
        try expectResumption(daemon, before.position, before.values)
    }

    private func recordCount(_ daemon: RunningDaemon) throws -> Int {
        try Data(contentsOf: URL(filePath: daemon.journal(group.string))).count { $0 == UInt8(ascii: "\n") }
    }

    /// A position within the history is resumed without a gap; an older one gets a snapshot that says so.
    private func expectResumption(_ daemon: RunningDaemon, _ newest: Position?, _ values: [Key: Value]) throws {
        let newest = try #require(newest)
        let tooOld = try SettingsPeer(daemon)
        try tooOld.watch([WatchedGroup(group: group, since: Position(epoch: newest.epoch, revision: 1))])
        guard case .snapshot(let snapshot) = try tooOld.event() else {
            Issue.record("no snapshot")
            return
        }
        #expect(snapshot.reason == "tooOld")
        #expect(snapshot.position == newest)
        #expect(snapshot.values == values)
        let recent = try SettingsPeer(daemon)
        let since = Position(epoch: newest.epoch, revision: newest.revision - 100)
        try recent.watch([WatchedGroup(group: group, since: since)])
        for revision in since.revision + 1...newest.revision { #expect(try recent.commit().revision == revision) }
    }
}
