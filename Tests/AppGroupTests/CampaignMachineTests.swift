import GroupModel
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
        _ = machine.resolveUnknown(found: [:])
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
}
