import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// A disk on which no sync comes to its end: only those wait who asked for it. Nothing that the loop does itself may be a sync.
@Suite("A disk that hangs") struct HangingDiskTests {
    private let group = GroupIdentifier.example
    private let other = GroupIdentifier(known: "group.other")
    private let third = GroupIdentifier(known: "group.third")
    private let kernel: FakeKernel
    private let daemon: RunningDaemon
    private let peer: SettingsPeer

    init() throws {
        kernel = try FakeKernel()
        daemon = try RunningDaemon(environment: kernel.environment)
        peer = try daemon.peer(with: group)
        for group in [other, third] { try peer.create(group) }
        try peer.write(group, [.set("n", .integer(0))])
        try peer.call(.synchronize(nil))
    }

    /// What of the daemon's ordinary work goes on: it is asked of a group with which nothing else is done.
    private func expectService(_ number: Int64) throws {
        let observer = try SettingsPeer(daemon)
        try observer.watch([WatchedGroup(group: group)])
        _ = try observer.event()
        try peer.write(group, [.set("n", .integer(number))])
        #expect(try observer.commit().changes.first?.new == .integer(number))
        #expect(try peer.read(group).values == ["n": .integer(number)])
        #expect(try peer.history(group, limit: 1).count == 1)
        #expect(try peer.status() != nil)
    }

    @Test("while a group is made, everybody else is served; those who ask for it wait, and get one")
    func makeGroup() throws {
        let (new, made) = (GroupIdentifier(known: "group.new"), GroupIdentifier(known: "group.by.hand"))
        let waiting = try (0..<2).map { _ in try SettingsPeer(daemon) }
        try kernel.obey("hang")
        // What is sent behind it on its connection may be about the group.
        for peer in waiting { try peer.send(.createGroup(new)) }
        try waiting[0].send(.write(WriteRequest(group: new, edits: [.set("a", .integer(1))])))
        try FileManager.default.createDirectory(
            atPath: "\(daemon.root)/\(made)", withIntermediateDirectories: false)
        try expectService(1)
        #expect(try !peer.groups().contains(new.string))
        #expect(throws: GroupError.noSuchGroup(new.string)) { try peer.read(new) }
        try expectService(2)
        try kernel.obey()
        for peer in waiting { _ = try peer.checked(peer.receive()) }
        _ = try waiting[0].checked(waiting[0].receive())
        #expect(try peer.read(new).values == ["a": .integer(1)])
        try peer.call(.synchronize(nil))
        #expect(try peer.groups().contains(made.string))
        let names = try FileManager.default.contentsOfDirectory(atPath: daemon.state)
        #expect(names.filter { $0.hasSuffix(".new") } == [])
    }

    @Test("a one-way call that makes a group holds up the calls behind it, too")
    func makeGroupOneWay() throws {
        let new = GroupIdentifier(known: "group.new")
        try kernel.obey("hang")
        let waiting = try SettingsPeer(daemon)
        try waiting.peer.sendMessage(
            #"{"method":"io.appgroupd.Settings.CreateGroup","parameters":{"group":"\#(new)"},"oneway":true}"#)
        try waiting.send(.write(WriteRequest(group: new, edits: [.set("a", .integer(1))])))
        try expectService(1)
        try kernel.obey()
        #expect(try waiting.checked(waiting.receive())["changed"]?.arrayValue?.count == 1)
    }

    @Test("while groups are removed, everybody else is served, and one made again under the name is another")
    func removeGroup() throws {
        let epoch = try peer.read(other).position?.epoch
        try peer.write(other, [.set("old", .integer(1))])
        // Else its plist is what the worker for files hangs on, before it sees that another group's directory is gone.
        try peer.synchronize(other)
        let waiting = try (0..<2).map { _ in try SettingsPeer(daemon) }
        try kernel.obey("hang")
        try Plist.remove("\(daemon.root)/\(third)")
        #expect(try eventually { try !peer.groups().contains(third.string) })
        try waiting[0].send(.deleteGroup(other))
        #expect(try eventually { try !peer.groups().contains(other.string) })
        try waiting[1].send(.createGroup(other))
        try expectService(1)
        try kernel.obey()
        for peer in waiting { _ = try peer.checked(peer.receive()) }
        let again = try peer.read(other)
        #expect(again.values == [:] && again.position?.epoch != epoch)
        try peer.call(.synchronize(nil))
        let names = try FileManager.default.contentsOfDirectory(atPath: daemon.state)
        #expect(names.filter { $0.contains(".journal") }.sorted() == ["\(group).journal", "\(other).journal"])
    }

    @Test("a durable write is not told to be safe before a journal that was removed is at its place again")
    func removedJournal() throws {
        try Plist.remove(daemon.journal(group.string))
        try kernel.obey("hang .journal.new")
        let edits = [Edit.set("n", .integer(1))]
        try peer.send(.write(WriteRequest(group: group, edits: edits, isDurable: true)))
        #expect(eventually { kernel.hasHung })
        try daemon.kill()
        #expect(throws: (any Error).self) { try peer.receive() }
    }

    @Test("SIGTERM ends the daemon all the same, after a while, and what it had acknowledged is there")
    func terminate() throws {
        try kernel.obey("hang")
        let acknowledged = try peer.write(group, [.set("n", .integer(7))]).position
        // The worker is to be in the middle of it.
        #expect(
            try eventually {
                try FileManager.default.contentsOfDirectory(
                    atPath: "\(daemon.root)/\(group)/Library/Preferences"
                ).contains { $0.hasSuffix("-new") }
            })
        let outcome = try daemon.stop()
        #expect(outcome.code == 0)
        #expect(outcome.errors.contains("could not be written in time"))
        #expect(!Plist.exists(daemon.socket))
        try kernel.obey()
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(try again.read(group).position == acknowledged)
        try again.synchronize(group)
        #expect(try Plist.entries(daemon.plist(group.string)) == ["n": .integer(7)])
    }
}
