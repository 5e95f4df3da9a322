import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// The machine that goes down under the daemon. Its boot is told by a file of the kernel, over which a mount puts another.
@Suite struct TortureBootTests {
    private let group = GroupIdentifier.example

    /// The daemon in a boot of this name, on a store; served when this returns.
    private func start(_ daemon: RunningDaemon, boot: String) throws -> ChildProcess {
        let file = try daemon.directory.write("boot-\(boot)", "\(boot)\n")
        let process = try ChildProcess(
            "/usr/bin/unshare",
            MountedDaemon.namespaces + [
                "/bin/sh", "-ec",
                "mount --bind \"$BOOT\" /proc/sys/kernel/random/boot_id; exec \"$0\" \"$@\"", daemonProgram,
            ] + daemon.commandLine,
            environment: ["BOOT": file, "HOME": daemon.directory.path])
        guard eventually({ (try? SettingsPeer(daemon).groups()) != nil }) else {
            process.kill(SIGKILL)
            throw TracedDaemon.Failed(description: try process.finish().errors)
        }
        return process
    }

    @Test("after a loss of power nobody resumes at a revision that was lost, and that others have now")
    func powerLoss() throws {
        let daemon = try RunningDaemon(starts: false)
        var process = try start(daemon, boot: "one")
        var peer = try daemon.peer(with: group)
        for number in 1...3 { try peer.write(group, [.set("n", .integer(Int64(number)))]) }
        let told = try #require(try peer.read(group).position)
        process.kill(SIGKILL)
        try process.waitForEnd()
        // What was not synced is gone.
        let url = URL(filePath: daemon.journal(group.string))
        let lines = String(decoding: try Data(contentsOf: url), as: UTF8.self).split(separator: "\n")
        let kept = lines.prefix { !$0.contains("\"revision\":3") }.map { $0 + "\n" }.joined()
        try Data(kept.utf8).write(to: url)
        try Plist.replace(daemon.plist(group.string), with: Plist.text(["n": "<integer>2</integer>"]))

        process = try start(daemon, boot: "two")
        peer = try SettingsPeer(daemon)
        for number in 11...14 { try peer.write(group, [.set("m", .integer(Int64(number)))]) }
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: group, since: told)])
        let snapshot = try watcher.snapshot()
        #expect(snapshot.reason == "otherEpoch")
        #expect(snapshot.values == ["n": .integer(2), "m": .integer(14)])
        #expect(snapshot.position.revision == 6)
        process.kill(SIGKILL)
        try process.waitForEnd()
    }

    @Test("a kill, an orderly end and another boot after it keep the epoch", arguments: [SIGKILL, SIGTERM])
    func noLoss(_ signal: Int32) throws {
        let daemon = try RunningDaemon(starts: false)
        var process = try start(daemon, boot: "one")
        var peer = try daemon.peer(with: group)
        try peer.write(group, [.set("n", .integer(1))])
        let told = try #require(try peer.read(group).position)
        // After a kill the same boot goes on; after an orderly end it may be another, as often as one likes.
        for boot in signal == SIGKILL ? ["one", "one"] : ["two", "three"] {
            process.kill(signal)
            try process.waitForEnd()
            process = try start(daemon, boot: boot)
            peer = try SettingsPeer(daemon)
            #expect(try peer.read(group).position == told)
        }
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: group, since: told)])
        #expect(try watcher.isEstablished())
        try peer.write(group, [.set("n", .integer(2))])
        #expect(try watcher.nextCommit().revision == 2)
        process.kill(SIGKILL)
        try process.waitForEnd()
    }
}
