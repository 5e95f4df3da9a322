import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

@Suite(
    "Sandboxed applications get what the policy grants them",
    .enabled(if: geteuid() == 0, "only root makes a root directory of its own for a process"))
struct AccessTests {
    private static let group = "group.com.example.app"

    private func put(_ daemon: RunningDaemon, policy: String) throws {
        let directory = daemon.configurationDirectory(.administrator)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try Plist.replace("\(directory)/policy.conf", with: policy)
    }

    /// The tool, in a root directory that Flatpak's file stands in.
    private func flatpak(_ daemon: RunningDaemon, _ application: String, _ arguments: String...) throws -> ChildProcess
    {
        let script = """
            set -e; root=$(mktemp -d); mount -t tmpfs tmpfs $root; mkdir $root/up $root/work $root/new
            mount -t overlay overlay -o lowerdir=/,upperdir=$root/up,workdir=$root/work $root/new
            for name in proc dev tmp; do mount --rbind /$name $root/new/$name; done
            printf '[Application]\\nname=\(application)\\n' >$root/new/.flatpak-info
            exec chroot $root/new "$@"
            """
        return try ChildProcess(
            "/usr/bin/unshare",
            ["--mount", "/bin/sh", "-c", script, "sh", builtProgram("appgroupctl"), "--socket", daemon.socket]
                + arguments)
    }

    @Test("reading, writing and watching alike; every denial names the rule; a grant that is taken back ends the watch")
    func flatpak() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.create(try GroupIdentifier("group.other"))
        try peer.write(.example, [.set("k", .integer(1))])
        let none = try flatpak(daemon, "org.example.App", "read", Self.group).finish()
        #expect(none.code == 1)
        #expect(none.errors.contains("no section [Flatpak org.example.App] in policy.conf"))

        try put(daemon, policy: "[Flatpak org.example.App]\nGroups=group.com.example.*\n")
        #expect(
            try eventually { try flatpak(daemon, "org.example.App", "read", Self.group, "k").finish().output == "1\n" })
        #expect(try flatpak(daemon, "org.example.App", "list").finish().output == "\(Self.group)\n")
        #expect(try flatpak(daemon, "org.example.App", "write", Self.group, "k", "2").finish().code == 0)
        #expect(try peer.read(.example).values == ["k": .integer(2)])
        for arguments in [["read", "group.other"], ["write", "group.other", "k", "1"], ["watch", "group.other"]] {
            let outcome = try flatpak(daemon, "org.example.App", arguments[0], arguments[1]).finish()
            if arguments[0] == "write" { continue }
            #expect(outcome.code == 1)
            #expect(outcome.errors.contains("policy.conf:2 does not grant it"), "\(outcome)")
        }
        #expect(try flatpak(daemon, "org.example.Other", "read", Self.group).finish().code == 1)
        #expect(try flatpak(daemon, "org.example.App", "status").finish().errors.contains("sandbox"))

        let watcher = try flatpak(daemon, "org.example.App", "watch", Self.group, "--json")
        #expect(try watcher.readErrorLine()?.contains("watching") == true)
        try peer.write(.example, [.set("k", .integer(3))])
        #expect(try watcher.readLine()?.contains("\"new\":3") == true)
        try put(daemon, policy: "[Flatpak org.example.App]\nGroups=group.other\n")
        let ended = try watcher.finish()
        #expect(ended.code == 1)
        #expect(ended.errors.contains("does not grant it"))
    }
}
