import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Disks that are full or read-only")
struct StorageTests {
    static let group = "group.com.example.app"
    /// Of the container, as a shell has it.
    static let mountPoint = "\"$ROOT/group.com.example.app\""

    @Test("R03: a full disk refuses writes, takes nothing half, and all goes on when there is room")
    func journalFull() throws {
        let mounted = try MountedDaemon(mounts: "mount -t tmpfs -o size=256k,mode=700 state \"$STATE\"")
        let peer = try mounted.daemon.peer(with: .example)
        let watcher = try mounted.daemon.watcher(of: .example)
        try mounted.run("head -c 100000 /dev/zero > \"$STATE/filler\"")
        var acknowledged: Int64 = 0
        var refusal: GroupError?
        while refusal == nil, acknowledged < 1000 {
            let text = Value.string(String(repeating: "x", count: 3000) + "\(acknowledged)")
            refusal = try peer.refusal(of: .example, [.set("n", .integer(acknowledged + 1)), .set("text", text)])
            if refusal == nil { acknowledged += 1 }
        }
        guard case .storageFailed(_, ENOSPC)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(acknowledged > 5)
        let read = try peer.read(.example)
        #expect(read.position?.revision == acknowledged)
        #expect(read.values["n"] == .integer(acknowledged))
        try mounted.run("rm \"$STATE/filler\"")
        #expect(try peer.write(.example, [.set("n", .integer(0))]).position?.revision == acknowledged + 1)
        for revision in 1...acknowledged + 1 { #expect(try watcher.nextCommit().revision == revision) }
        try peer.synchronize()
        #expect(try peer.history(.example, limit: 1).first?.revision == acknowledged + 1)
        #expect(try mounted.stop().code == 0)
    }

    @Test("a plist that cannot be written for want of room stays as it was, and is written when there is some")
    func plistFull() throws {
        let mounted = try MountedDaemon(
            configuration: ["PollIntervalSec=100ms"], mounts: "mount -t tmpfs -o size=256k,mode=700 root \"$ROOT\"")
        let peer = try mounted.daemon.peer(with: .example)
        let path = mounted.inside(mounted.daemon.plist(Self.group))
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let before = try Plist.read(path)
        try mounted.run("head -c 300000 /dev/zero > \"$ROOT/filler\" || true")
        try peer.write(.example, [.set("b", .string(String(repeating: "x", count: 20000)))])
        guard case .storageFailed(_, ENOSPC)? = try peer.refusal(of: .synchronize(.example)) else {
            Issue.record("Synchronize did not say it")
            return
        }
        #expect(try Plist.read(path) == before)
        let status = try #require(try peer.status(of: .example))
        #expect(status.plist == .pending)
        #expect(status.problem?.reason.contains("space") == true)
        #expect(try peer.read(.example).values.count == 2)
        try mounted.run("rm \"$ROOT/filler\"")
        #expect(eventually { (try? Plist.entries(path))?.count == 2 })
        try peer.synchronize()
        #expect(try peer.status(of: .example)?.plist == .clean)
        #expect(try peer.status(of: .example)?.problem == nil)
    }

    @Test("a read-only file is ReadOnly: served, watched, not written; and writable again it is written")
    func readOnly() throws {
        let mounted = try MountedDaemon(
            configuration: ["PollIntervalSec=100ms"],
            mounts: "umask 077; mkdir \(Self.mountPoint); mount --bind \(Self.mountPoint) \(Self.mountPoint)")
        let peer = try mounted.daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        try mounted.run("mount -o remount,bind,ro \(Self.mountPoint)")
        // It learns of it at the next projection: this one is taken by the journal.
        try peer.write(.example, [.set("b", .integer(1))])
        guard case .readOnly(Self.group, _)? = try peer.refusal(of: .synchronize(.example)) else {
            Issue.record("Synchronize did not say it")
            return
        }
        for request in [
            Request.write(WriteRequest(group: .example, edits: [.set("c", .integer(1))])), .reset(.example, tag: nil),
        ] {
            try peer.send(request)
            let reply = try peer.receive()
            #expect(reply.error == "io.appgroupd.Settings.ReadOnly")
            #expect(settingsInterface.matches(parameters: reply.parameters, error: "ReadOnly"))
        }
        #expect(try peer.status(of: .example)?.plist == .readOnly)
        #expect(try peer.read(.example).values == ["a": .integer(1), "b": .integer(1)])
        let watcher = try mounted.daemon.watcher(of: .example)
        // The owner of the file changes it, from outside the mount.
        let path = mounted.daemon.plist(Self.group)
        try Plist.replace(path, with: Plist.text(["a": "<integer>2</integer>"]))
        #expect(try watcher.nextCommit()["a"]?.new == .integer(2))
        try mounted.run("mount -o remount,bind,rw \(Self.mountPoint)")
        #expect(try eventually { try peer.refusal(of: .example, [.set("c", .integer(1))]) == nil })
        try peer.synchronize()
        #expect(try Plist.entries(path) == peer.read(.example).values)
        #expect(try peer.status(of: .example)?.plist == .clean)
        // Told when it changes, and not at each look.
        #expect(try mounted.stop().errors.split(separator: "\n").filter { $0.contains(Self.group) }.count <= 4)
    }
}
