import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// Directories that move, vanish and come back, and links on the way.
@Suite("Where the files are")
struct PlaceTests {
    static let group = "group.com.example.app"
    static let quick = ["PollIntervalSec=100ms"]

    @Test("R09: a root that vanishes is held, and taken up again when it is back")
    func rootAway() throws {
        let daemon = try RunningDaemon(configuration: Self.quick)
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        let away = daemon.directory.file("away")
        try Plist.move(daemon.root, to: away)
        #expect(try eventually { try peer.status(of: .example)?.plist == .unreachable })
        #expect(try peer.read(.example).values == ["a": .integer(1)])
        try peer.write(.example, [.set("a", .integer(2))])
        #expect(try watcher.nextCommit().revision == 2)
        guard case .storageFailed? = try peer.refusal(of: .synchronize(.example)) else {
            Issue.record("Synchronize did not say it")
            return
        }
        // Nothing is made anew in its place: all groups would look deleted.
        guard case .storageFailed? = try peer.refusal(of: .createGroup(.example)) else {
            Issue.record("a root was made anew")
            return
        }
        #expect(!Plist.exists(daemon.root))
        // An empty mount point is not the root either.
        try FileManager.default.createDirectory(atPath: daemon.root, withIntermediateDirectories: false)
        _ = try peer.refusal(of: .synchronize(.example))
        #expect(try peer.read(.example).values == ["a": .integer(2)])
        try Plist.remove(daemon.root)
        try Plist.move(away, to: daemon.root)
        #expect(try eventually { try peer.status(of: .example)?.plist == .clean })
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["a": .integer(2)])
        // Watched as before: a save and a new group are seen.
        try Plist.replace(daemon.plist(Self.group), with: Plist.text(["a": "<integer>3</integer>"]))
        #expect(try watcher.nextCommit().changes == [Change(key: "a", old: .integer(2), new: .integer(3))])
        try FileManager.default.createDirectory(
            atPath: "\(daemon.root)/group.new", withIntermediateDirectories: false)
        #expect(try eventually { try peer.groups() == [Self.group, "group.new"] })
    }

    @Test(
        "without its root the daemon starts, serves what the journals have, and deletes nothing",
        arguments: [false, true])
    func startWithoutRoot(isEmptyMountPoint: Bool) throws {
        let daemon = try RunningDaemon(configuration: Self.quick)
        try daemon.peer(with: .example).write(.example, [.set("a", .integer(1))])
        try daemon.stop()
        let away = daemon.directory.file("away")
        try Plist.move(daemon.root, to: away)
        if isEmptyMountPoint {
            try FileManager.default.createDirectory(atPath: daemon.root, withIntermediateDirectories: false)
        }
        try daemon.start()
        let peer = try SettingsPeer(daemon)
        #expect(try peer.read(.example).values == ["a": .integer(1)])
        #expect(try peer.status(of: .example)?.plist == .unreachable)
        #expect(try peer.write(.example, [.set("b", .integer(2))]).position?.revision == 2)
        if isEmptyMountPoint { try Plist.remove(daemon.root) }
        try Plist.move(away, to: daemon.root)
        #expect(try eventually { try peer.status(of: .example)?.plist == .clean })
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["a": .integer(1), "b": .integer(2)])
    }

    @Test("a container that is deleted is a deleted group, its journal kept in the trash")
    func containerDeleted() throws {
        // The file goes first: on a busy machine its directory follows so late that the file alone would count as deleted.
        let daemon = try RunningDaemon(configuration: ["SettleSec=3s"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        try Plist.remove("\(daemon.root)/\(Self.group)")
        #expect(try watcher.deletion() == Self.group)
        #expect(try peer.groups() == [])
        // It goes where the container would be, which nobody waits for.
        #expect(eventually { !Plist.exists(daemon.journal(Self.group)) })
        let trash = try FileManager.default.contentsOfDirectory(atPath: "\(daemon.root)/.trash")
        #expect(trash.count == 1)
        #expect(Plist.exists("\(daemon.root)/.trash/\(trash.first ?? "")/\(Self.group).journal"))
        try peer.create(.example)
        #expect(try watcher.snapshot().reason == "otherEpoch")
    }

    @Test("a container deleted while the daemon is away is a deleted group too")
    func containerDeletedMeanwhile() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.create(GroupIdentifier(known: "group.stays"))
        try peer.write(.example, [.set("a", .integer(1))])
        try daemon.stop()
        try Plist.remove("\(daemon.root)/\(Self.group)")
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(try eventually { try again.groups() == ["group.stays"] })
        #expect(!Plist.exists(daemon.journal(Self.group)))
    }

    @Test("a directory on the way that is gone is held, not taken for a reset")
    func directoryOnTheWay() throws {
        let daemon = try RunningDaemon(configuration: Self.quick)
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let library = "\(daemon.root)/\(Self.group)/Library"
        try Plist.move(library, to: daemon.directory.file("Library"))
        #expect(try eventually { try peer.status(of: .example)?.plist == .unreachable })
        #expect(try peer.read(.example).values == ["a": .integer(1)])
        try Plist.move(daemon.directory.file("Library"), to: library)
        #expect(try eventually { try peer.status(of: .example)?.plist == .clean })
        let watcher = try daemon.watcher(of: .example)
        try Plist.replace(daemon.plist(Self.group), with: Plist.text(["a": "<integer>3</integer>"]))
        #expect(try watcher.nextCommit().keys == ["a"])
    }

    @Test("a container that is a link to elsewhere works, and edits there are seen")
    func linkedContainer() throws {
        let daemon = try RunningDaemon { daemon in
            let target = daemon.directory.file("dotfiles/Library/Preferences")
            try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
            try FileManager.default.createDirectory(
                atPath: daemon.root, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try FileManager.default.createSymbolicLink(
                atPath: "\(daemon.root)/\(Self.group)", withDestinationPath: daemon.directory.file("dotfiles"))
        }
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        let target = daemon.directory.file("dotfiles/Library/Preferences/\(Self.group).plist")
        #expect(try Plist.entries(target) == ["a": .integer(1)])
        try Plist.replace(target, with: Plist.text(["a": "<integer>2</integer>"]))
        #expect(try watcher.nextCommit().keys == ["a"])
    }
}
