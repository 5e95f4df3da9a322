import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// What somebody does with chmod(1) while the daemon runs. Root is let in everywhere: so it runs without that right.
@Suite("Files and directories that are closed with chmod 000")
struct ForbiddenPlaceTests {
    private static let group = "group.com.example.app"

    struct Place: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var path: @Sendable (RunningDaemon) -> String
        /// Whether the file is out of reach with it.
        var hidesFile = true
    }

    static let places = [
        Place(testDescription: "the file", path: { [group] in $0.plist(group) }),
        Place(
            testDescription: "the file's directory",
            path: { [group] in URL(filePath: $0.plist(group)).deletingLastPathComponent().path }),
        Place(testDescription: "the group's directory", path: { [group] in "\($0.root)/\(group)" }),
        Place(testDescription: "the root of all groups", path: { $0.root }),
        Place(testDescription: "the state directory", path: { $0.state }, hidesFile: false),
        Place(
            testDescription: "the runtime directory",
            path: { URL(filePath: $0.socket).deletingLastPathComponent().path }, hidesFile: false),
    ]

    private func start(_ daemon: RunningDaemon) throws -> ChildProcess {
        let withoutRight = ["--bounding-set", "-dac_override,-dac_read_search"]
        let process = try ChildProcess(
            geteuid() == 0 ? "/usr/bin/setpriv" : daemonProgram,
            (geteuid() == 0 ? withoutRight + [daemonProgram] : []) + daemon.commandLine,
            environment: ["HOME": daemon.directory.path])
        guard eventually({ (try? SettingsPeer(daemon).groups()) != nil }) else {
            process.kill(SIGKILL)
            throw TracedDaemon.Failed(description: try process.finish().errors)
        }
        return process
    }

    private func change(_ path: String, mode: Int) throws {
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    @Test(
        "last good values are served, writes are taken, and open again all goes on; nothing is lost", arguments: places)
    func closed(_ place: Place) throws {
        let daemon = try RunningDaemon(
            configuration: ["PollIntervalSec=50ms", "SyncIntervalSec=10ms", "HistoryCommits=5"], starts: false)
        var process = try start(daemon)
        var peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("n", .integer(0)), .set("kept", .integer(1))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        let path = place.path(daemon)
        let mode = Int(Plist.mode(path))
        try change(path, mode: 0)
        if place.hidesFile {
            #expect(try eventually { try peer.status(of: .example)?.plist == .unreachable })
            guard case .storageFailed? = try peer.refusal(of: .synchronize(.example)) else {
                Issue.record("Synchronize did not say it")
                return
            }
        }
        // Enough for a rewrite of the journal.
        for number in 1...30 {
            try peer.write(.example, [.set("n", .integer(Int64(number)))], durable: number % 10 == 0)
            #expect(try watcher.nextCommit()["n"]?.new == .integer(Int64(number)))
        }
        #expect(try peer.read(.example).values == ["n": .integer(30), "kept": .integer(1)])
        try change(path, mode: mode)
        #expect(try eventually { try peer.refusal(of: .synchronize(.example)) == nil })
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["n": .integer(30), "kept": .integer(1)])
        try Plist.replace(daemon.plist(Self.group), with: Plist.text(["n": "<integer>31</integer>"]))
        #expect(try watcher.nextCommit().keys == ["kept", "n"])
        process.kill(SIGKILL)
        try process.waitForEnd()
        process = try start(daemon)
        peer = try SettingsPeer(daemon)
        #expect(try peer.read(.example).values == ["n": .integer(31)])
        #expect(try peer.read(.example).position?.revision == 32)
        process.kill(SIGKILL)
        try process.waitForEnd()
    }
}
