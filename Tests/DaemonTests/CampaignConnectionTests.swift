import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// Many clients, and clients that do not do what a good client does.
@Suite(.serialized) struct CampaignConnectionTests {
    private let group = GroupIdentifier.example

    @Test func fiveHundredObserversGetACommitAndLeaveNoDescriptorBehind() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        try peer.create(group)
        try peer.call(.synchronize(group))
        let before = try daemon.descriptorCount()
        do {
            let observers = try (0..<500).map { _ in try SettingsPeer(socket: daemon.socket) }
            for observer in observers { try observer.watch([WatchedGroup(group: group)]) }
            for observer in observers { _ = try observer.event() }
            let position = try peer.write(group, [.set("key", .string("for all"))]).position
            for observer in observers { #expect(try observer.commit().revision == position?.revision) }
            #expect(try daemon.descriptorCount() >= before + 500)
        }
        #expect(try eventually { try daemon.descriptorCount() <= before })
        #expect(try peer.status(of: group)?.watchers == 0)
    }

    @Test func pipelinedWritesOfAClientThatDoesNotReadAreBoundedAndHarmNobody() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        try peer.create(group)
        let before = try daemon.residentSize()
        // Replies of more than the daemon keeps for one connection: it stops reading, and the sender comes to stand.
        let name = String(repeating: "k", count: 300)
        let client = try SettingsPeer(socket: daemon.socket)
        let (group, second, hasRead) = (group, dup(client.peer.descriptor), DispatchSemaphore(value: 0))
        let sending = Background {
            let sender = RawPeer(owning: second, timeoutSeconds: 60)
            for number in 0..<10_000 {
                let edit = Edit.set(Key("\(name)\(number % 10)"), .integer(Int64(number)))
                try sender.send(Request.write(WriteRequest(group: group, edits: [edit])).callBytes)
            }
            // Its end closes the connection for both.
            hasRead.wait()
        }
        #expect(try eventually { try (peer.read(group, keys: []).position?.revision ?? 0) > 1000 })
        for number in 0..<50 {
            #expect(try peer.write(group, [.set("other", .integer(Int64(number)))]).changed == ["other"])
        }
        #expect(try daemon.residentSize() - before < 30 << 20)
        var last: Int64 = 0
        for _ in 0..<10_000 {
            let reply = try client.checked(client.receive())
            let revision = reply["position"].flatMap(Position.init(wire:))?.revision ?? 0
            guard revision > last else {
                Issue.record("\(revision) after \(last)")
                break
            }
            last = revision
        }
        hasRead.signal()
        try sending.value()
        #expect(try peer.read(group).position?.revision == 10_050)
        #expect(try daemon.residentSize() - before < 30 << 20)
    }

    @Test(arguments: [false, true]) func writesOfAClientThatClosesAtOnceWithoutReadingAreApplied(isDurable: Bool) throws
    {
        let daemon = try RunningDaemon()
        let observer = try SettingsPeer(daemon)
        try observer.create(group)
        try observer.watch([WatchedGroup(group: group, keys: ["last"])])
        _ = try observer.event()
        let count = 6000
        do {
            let client = try SettingsPeer(socket: daemon.socket)
            var bytes: [UInt8] = []
            for number in 0..<count {
                let key: Key = number == count - 1 ? "last" : "key"
                bytes +=
                    Request.write(
                        WriteRequest(
                            group: group, edits: [.set(key, .integer(Int64(number)))], isDurable: isDurable)
                    ).callBytes
            }
            try client.peer.send(bytes)
        }
        #expect(try observer.commit().revision == Int64(count))
    }
}
