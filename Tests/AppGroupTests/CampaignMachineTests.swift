import GroupModel
import GroupProtocol
import PropertyList
import Testing

@testable import AppGroup

/// What the campaigns found, as single steps of the replica's machine.
@Suite struct CampaignMachineTests {
    @Test func `nothing is sent before it is known what became of what was sent before`() throws {
        var machine = ReplicaMachine(tagPrefix: "t")
        _ = try machine.submit([.set("k", .integer(1))])
        let sent = machine.nextToSend()
        _ = try machine.submit([.set("k", .integer(2))])
        machine.connectionLost()
        let early = machine.nextToSend()
        #expect(early?.number == nil)
        // It was not applied: it goes first.
        _ = machine.resolveUnknown(found: [:], keptFrom: 0)
        let both = machine.nextToSend()
        #expect(both?.write.edits == [.set("k", .integer(2))])
        #expect(both?.write.first == sent?.number)
    }

    @Test func `the history is looked at as far back as what was sent can be`() throws {
        var machine = ReplicaMachine(tagPrefix: "t")
        _ = try machine.submit([Edit(key: "n", operation: .increment, value: .integer(1))])
        let sent = machine.nextToSend()
        let number = try #require(sent).number
        #expect(!machine.isUnknown(before: 300, besides: [:]))
        machine.connectionLost()
        #expect(machine.isUnknown(before: 300, besides: [:]))
        #expect(machine.isUnknown(before: 2, besides: [:]))
        #expect(!machine.isUnknown(before: 1, besides: [:]))
        #expect(!machine.isUnknown(before: 300, besides: [number: 310]))
    }

    @Test func `an answer that comes late does not turn revisions back`() throws {
        var machine = ReplicaMachine(tagPrefix: "t")
        let epoch = Epoch(high: 1, low: 2)
        _ = machine.take(
            WatchEvent.SnapshotPart(
                group: "g", position: Position(epoch: epoch, revision: 10), values: [:], reason: "initial",
                isPartial: false))
        _ = try machine.submit([Edit(key: "n", operation: .increment, value: .integer(1))])
        let sent = machine.nextToSend()
        // Several commits in one, which names only the last of them.
        let last = Commit(
            group: .none, revision: 12, time: Timestamp(microseconds: 0), origin: Origin(kind: .client, tag: "other"),
            changes: [Change(key: "n", old: nil, new: .integer(5))])
        _ = machine.take(last, coalesced: 2)
        let step = machine.acknowledged(
            try #require(sent).number, at: Position(epoch: epoch, revision: 11), changed: true)
        #expect(step.revision == 12)
        #expect(machine.visible["n"] == .integer(5))
    }
}
