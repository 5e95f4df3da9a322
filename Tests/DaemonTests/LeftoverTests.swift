import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// The file is written by an exchange of two names. What an exchange leaves under the other name, killed or unable to remove
/// it, is either the older text, which must take nothing back, or somebody's edit, which must not be lost.
@Suite("What an interrupted exchange leaves")
struct LeftoverTests {
    private static let group = "group.com.example.app"
    private let kernel: FakeKernel
    private let daemon: RunningDaemon

    init() throws {
        kernel = try FakeKernel()
        daemon = try RunningDaemon(
            configuration: ["PollIntervalSec=50ms", "SettleSec=1h"], environment: kernel.environment)
    }

    private var path: String { daemon.plist(Self.group) }
    private var directory: String { URL(filePath: path).deletingLastPathComponent().path }
    private var leftover: String { "\(directory)/.\(Self.group).plist.appgroupd-swap" }

    /// A group whose file holds this.
    private func peer(_ edits: [Edit]) throws -> SettingsPeer {
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, edits)
        try peer.synchronize()
        return peer
    }

    /// Everything agrees, nothing is left, and no file has ever taken a write back.
    private func expect(_ values: [Key: Value], fileCommits: Int = 0) throws {
        let peer = try SettingsPeer(daemon)
        try peer.synchronize()
        #expect(try peer.read(.example).values == values)
        #expect(try Plist.entries(path) == values)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["\(Self.group).plist"])
        let commits = try peer.history(.example).filter { $0.origin.kind == .file }
        #expect(commits.count == fileCommits, "\(commits)")
    }

    /// Writes, and has the daemon killed right after the exchange.
    private func dieAfterExchange(_ peer: SettingsPeer, _ edits: [Edit]) throws {
        try kernel.obey("die-after-exchange")
        try peer.write(.example, edits)
        _ = try daemon.process?.waitForEnd()
        try kernel.obey()
        try #require(Plist.exists(leftover))
    }

    @Test("the older text is removed at the next start, and takes no write back")
    func olderText() throws {
        let peer = try peer([.set("a", .integer(1)), .set("b", .integer(1))])
        let text = try Plist.read(path)
        try dieAfterExchange(peer, [.set("a", .integer(2)), .remove("b"), .set("c", .integer(1))])
        #expect(try Plist.read(leftover) == text)
        try daemon.start()
        try expect(["a": .integer(2), "c": .integer(1)])
    }

    @Test("what a program wrote into the older file meanwhile comes in, key by key, and nothing else of it")
    func editOfTheOlderFile() throws {
        let peer = try peer([.set("a", .integer(1)), .set("b", .integer(1))])
        try dieAfterExchange(peer, [.set("a", .integer(2))])
        // The program had opened it before the exchange.
        let text = try Plist.read(leftover).replacing("</dict>", with: "\t<key>mine</key>\n\t<true/>\n</dict>")
        try Plist.overwrite(leftover, with: text)
        try daemon.start()
        try expect(["a": .integer(2), "b": .integer(1), "mine": .boolean(true)], fileCommits: 1)
    }

    @Test("what cannot be read of it is set aside under a name that everybody sees")
    func damaged() throws {
        let peer = try peer([.set("a", .integer(1))])
        try dieAfterExchange(peer, [.set("a", .integer(2))])
        try Plist.overwrite(leftover, with: "half a t")
        try daemon.start()
        let again = try SettingsPeer(daemon)
        try again.synchronize()
        #expect(try again.read(.example).values == ["a": .integer(2)])
        let others = try FileManager.default.contentsOfDirectory(atPath: directory)
            .filter { $0 != "\(Self.group).plist" }
        #expect(others.count == 1 && others.first?.hasPrefix("\(Self.group).plist.damaged-") == true, "\(others)")
        #expect(try Plist.read("\(directory)/\(others.first ?? "")") == "half a t")
    }

    @Test(
        "an older text that cannot be removed takes nothing back, from clients and files, over a restart too",
        arguments: [false, true])
    func stuck(restarts: Bool) throws {
        var peer = try peer([.set("a", .integer(1)), .set("b", .integer(1))])
        try kernel.obey("unlink \(EIO) .appgroupd-swap")
        try peer.write(.example, [.set("a", .integer(2))])
        guard case .storageFailed(_, EIO)? = try peer.refusal(of: .synchronize(.example)) else {
            Issue.record("Synchronize did not say it")
            return
        }
        #expect(try Plist.entries(path) == ["a": .integer(2), "b": .integer(1)])
        #expect(try Plist.entries(leftover) == ["a": .integer(1), "b": .integer(1)])
        // Longer than from one look to the next.
        try peer.write(.example, [.set("a", .integer(3)), .set("c", .integer(1))])
        for _ in 0..<5 {
            Thread.sleep(forTimeInterval: 0.05)
            _ = try peer.refusal(of: .synchronize(.example))
        }
        if restarts {
            try daemon.kill()
            try daemon.start()
            peer = try SettingsPeer(daemon)
            _ = try peer.refusal(of: .synchronize(.example))
        } else {
            // Somebody saves what the file holds, with a change.
            let watcher = try daemon.watcher(of: .example)
            let text = try Plist.read(path).replacing("</dict>", with: "\t<key>mine</key>\n\t<true/>\n</dict>")
            try Plist.replace(path, with: text)
            #expect(try watcher.nextCommit().keys == ["mine"])
        }
        #expect(try peer.read(.example).values["a"] == .integer(3))
        try kernel.obey()
        #expect(eventually { !Plist.exists(leftover) }, "it is left for ever")
        #expect(try eventually { try peer.refusal(of: .synchronize(.example)) == nil })
        var values: [Key: Value] = ["a": .integer(3), "b": .integer(1), "c": .integer(1)]
        if !restarts { values["mine"] = .boolean(true) }
        try expect(values, fileCommits: restarts ? 0 : 1)
    }

    @Test("our own text that could be neither put in place nor removed takes nothing back either")
    func withdrawn() throws {
        let peer = try peer([.set("a", .integer(1))])
        try kernel.obey("unlink \(EIO) .appgroupd-swap", "exchange \(EIO)")
        try peer.write(.example, [.set("a", .integer(2))])
        _ = try peer.refusal(of: .synchronize(.example))
        #expect(try Plist.entries(leftover) == ["a": .integer(2)])
        #expect(try Plist.entries(path) == ["a": .integer(1)])
        try peer.write(.example, [.set("a", .integer(3))])
        _ = try peer.refusal(of: .synchronize(.example))
        try kernel.obey()
        #expect(try eventually { try peer.refusal(of: .synchronize(.example)) == nil })
        try expect(["a": .integer(3)])
    }
}
