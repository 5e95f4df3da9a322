import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// What the kernel tells nothing of: more events than its queue holds, no watches left, files that other machines write.
@Suite("Edits that no event tells of")
struct UnseenEventTests {
    private static let group = "group.com.example.app"
    private static let other = GroupIdentifier(known: "group.com.example.other")

    @Test("R88: after more events than the kernel keeps everything is looked at: edits, deletions, new groups")
    func overflow() throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=0.1"])
        let peer = try daemon.peer(with: .example)
        try peer.create(Self.other)
        try peer.write(.example, [.set("n", .integer(1))])
        try peer.write(Self.other, [.set("n", .integer(1))])
        try peer.synchronize(nil)
        let watcher = try daemon.watcher(of: .example)
        let process = try #require(daemon.process)
        process.kill(SIGSTOP)
        // Two events a rename.
        let limit = try #require(Int(Plist.read("/proc/sys/fs/inotify/max_queued_events").dropLast()))
        let directory = URL(filePath: daemon.plist(Self.group)).deletingLastPathComponent().path
        try Data().write(to: URL(filePath: "\(directory)/noise.0"))
        for number in 0..<limit / 2 + 1000 {
            try Plist.move("\(directory)/noise.\(number % 2)", to: "\(directory)/noise.\((number + 1) % 2)")
        }
        try Plist.replace(daemon.plist(Self.group), with: Plist.text(["n": "<integer>2</integer>"]))
        try Plist.remove(daemon.plist(Self.other.string))
        let new = "\(daemon.root)/group.new/Library/Preferences"
        try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
        try Plist.replace("\(new)/group.new.plist", with: Plist.text(["n": "<integer>3</integer>"]))
        process.kill(SIGCONT)
        #expect(try watcher.nextCommit().changes == [Change(key: "n", old: .integer(1), new: .integer(2))])
        #expect(try eventually { try peer.read(Self.other).values == [:] })
        #expect(try eventually { try peer.groups().contains("group.new") })
        #expect(try peer.read(GroupIdentifier(known: "group.new")).values == ["n": .integer(3)])
        // And all is watched as before.
        try Plist.overwrite(daemon.plist(Self.group), with: Plist.text(["n": "<integer>4</integer>"]))
        #expect(try watcher.nextCommit()["n"]?.new == .integer(4))
        try Plist.replace("\(new)/group.new.plist", with: Plist.text(["n": "<integer>5</integer>"]))
        #expect(try eventually { try peer.read(GroupIdentifier(known: "group.new")).values == ["n": .integer(5)] })
        #expect(try daemon.stop().errors.contains("overflowed"))
    }

    @Test("R92: without a watch the file is polled, the status says so, and it passes when there are watches again")
    func noWatches() throws {
        let mounted = try MountedDaemon(
            configuration: ["PollIntervalSec=50ms"], ofUsers: true,
            mounts: "echo 2 > /proc/sys/user/max_inotify_watches")
        let peer = try mounted.daemon.peer(with: .example)
        try peer.write(.example, [.set("n", .integer(1))])
        try peer.synchronize()
        #expect(try eventually { try peer.status(of: .example)?.watching == .polling })
        let watcher = try mounted.daemon.watcher(of: .example)
        for number in 2...4 {
            try Plist.replace(
                mounted.daemon.plist(Self.group), with: Plist.text(["n": "<integer>\(number)</integer>"]))
            #expect(try watcher.nextCommit()["n"]?.new == .integer(Int64(number)))
        }
        try mounted.run("echo 1000 > /proc/sys/user/max_inotify_watches")
        #expect(try eventually { try peer.status(of: .example)?.watching == .inotify })
        #expect(try mounted.stop().errors.contains("max_user_watches"))
    }

    @Test("R39: a network file system is polled, also behind a link, and the status says so", arguments: [false, true])
    func network(isLinked: Bool) throws {
        let kernel = try FakeKernel()
        let daemon = try RunningDaemon(
            configuration: ["PollIntervalSec=50ms"], environment: kernel.environment, starts: false)
        let home = isLinked ? daemon.directory.file("dotfiles") : daemon.root
        try kernel.obey("network \(home)")
        try daemon.start()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("n", .integer(1))])
        try peer.synchronize()
        if isLinked {
            try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: false)
            try Plist.move(daemon.plist(Self.group), to: "\(home)/settings")
            try FileManager.default.createSymbolicLink(
                atPath: daemon.plist(Self.group), withDestinationPath: "\(home)/settings")
        }
        let file = isLinked ? "\(home)/settings" : daemon.plist(Self.group)
        #expect(try eventually { try peer.status(of: .example)?.watching == .polling })
        let watcher = try daemon.watcher(of: .example)
        for number in 2...4 {
            try FileEditTests.save(
                Plist.text(["n": "<integer>\(number)</integer>"]), to: file, FileEditTests.Saving.allCases[number - 2])
            #expect(try watcher.nextCommit()["n"]?.new == .integer(Int64(number)))
        }
        try peer.write(.example, [.set("n", .integer(5))])
        try peer.synchronize()
        #expect(try Plist.entries(file) == ["n": .integer(5)])
        if !isLinked {
            // Another machine makes a group.
            let new = "\(daemon.root)/group.new/Library/Preferences"
            try FileManager.default.createDirectory(atPath: new, withIntermediateDirectories: true)
            #expect(try eventually { try peer.groups().contains("group.new") })
        }
    }
}
