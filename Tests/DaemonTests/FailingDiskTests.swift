import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// Calls that fail under the real daemon: the disk breaks, a quota is used up.
@Suite("Disks that fail")
struct FailingDiskTests {
    private static let group = "group.com.example.app"

    private func failure(_ peer: SettingsPeer, _ request: Request) throws -> Int32? {
        guard case .storageFailed(_, let errno)? = try peer.refusal(of: request) else { return nil }
        return errno
    }

    @Test(
        "a commit that the journal does not take is refused with the reason, and told to nobody",
        arguments: [EIO, EDQUOT, ENOSPC])
    func journal(_ errno: Int32) throws {
        let kernel = try FakeKernel()
        let daemon = try RunningDaemon(environment: kernel.environment)
        var peer = try daemon.peer(with: .example)
        let watcher = try daemon.watcher(of: .example)
        try peer.write(.example, [.set("n", .integer(1))])
        #expect(try watcher.nextCommit().revision == 1)
        try kernel.obey("pwrite \(errno)", "ftruncate \(errno)")
        for durable in [false, true] {
            let write = WriteRequest(group: .example, edits: [.set("n", .integer(2))], isDurable: durable)
            #expect(try failure(peer, .write(write)) == errno)
        }
        #expect(try peer.read(.example).values == ["n": .integer(1)])
        #expect(try peer.status()?.groups.count == 1)
        try kernel.obey()
        try peer.write(.example, [.set("n", .integer(3))])
        let commit = try watcher.nextCommit()
        #expect(commit.revision == 2 && commit.changes == [Change(key: "n", old: .integer(1), new: .integer(3))])
        try daemon.kill()
        try daemon.start()
        peer = try SettingsPeer(daemon)
        #expect(try peer.read(.example).values == ["n": .integer(3)])
        #expect(try peer.read(.example).position?.revision == 2)
    }

    @Test(
        "a failed sync is told to all who wait for it, and nothing counts as durable until the journal is written anew",
        arguments: [EIO, EDQUOT])
    func sync(_ errno: Int32) throws {
        let kernel = try FakeKernel()
        let daemon = try RunningDaemon(environment: kernel.environment)
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("n", .integer(1))], durable: true)
        let journal = Plist.identity(daemon.journal(Self.group)).first
        // The new journal needs an fsync too: nothing is durable as long as there is none.
        try kernel.obey("fdatasync \(errno)", "fsync \(errno)")
        for number in 2...4 {
            let write = WriteRequest(
                group: .example, edits: [.set("n", .integer(Int64(number)))], isDurable: true)
            #expect(try failure(peer, .write(write)) == errno)
            // It is in the journal all the same, and survives the daemon.
            #expect(try peer.read(.example).values == ["n": .integer(Int64(number))])
        }
        try kernel.obey()
        // Nobody writes any more: it is tried again all the same.
        #expect(try eventually { try peer.refusal(of: .synchronize(.example)) == nil })
        try peer.write(.example, [.set("n", .integer(5))], durable: true)
        // What the kernel forgot of the old file is in a new one.
        #expect(Plist.identity(daemon.journal(Self.group)).first != journal)
        try daemon.kill()
        try daemon.start()
        #expect(try SettingsPeer(daemon).read(.example).values == ["n": .integer(5)])
    }

    @Test("a file that cannot be written stays as it was, and is written later", arguments: [EIO, EDQUOT, ENOSPC])
    func projection(_ errno: Int32) throws {
        let kernel = try FakeKernel()
        let daemon = try RunningDaemon(
            configuration: ["PollIntervalSec=100ms"], environment: kernel.environment)
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("n", .integer(1))])
        try peer.synchronize()
        let path = daemon.plist(Self.group)
        let text = try Plist.read(path)
        try kernel.obey("fsync \(errno)", "exchange \(errno)")
        try peer.write(.example, [.set("n", .integer(2))])
        #expect(try failure(peer, .synchronize(.example)) == errno)
        #expect(try Plist.read(path) == text)
        try kernel.obey()
        #expect(try eventually { try Plist.entries(path) == ["n": .integer(2)] })
        // What came out of the exchange goes a moment later.
        let directory = URL(filePath: path).deletingLastPathComponent().path
        #expect(
            try eventually {
                try FileManager.default.contentsOfDirectory(atPath: directory) == ["\(Self.group).plist"]
            })
    }
}
