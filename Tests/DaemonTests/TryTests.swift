import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// `try`: a change that is taken back by itself, whatever becomes of the tool and of the daemon.
@Suite("Trials")
struct TryTests {
    private static let group = "group.com.example.app"

    private func tryOut(
        _ peer: SettingsPeer, _ edits: [Edit], seconds: Double = 3600
    ) throws -> (revision: Int64, changed: [String]) {
        let reply = try peer.call(.tryOut(TryRequest(group: .example, edits: edits, seconds: seconds, tag: "trial")))
        let position = try #require(reply["position"].flatMap(Position.init(wire:)))
        return (position.revision, reply["changed"]?.arrayValue?.compactMap(\.stringValue) ?? [])
    }

    private func end(_ peer: SettingsPeer, _ revision: Int64, keeps: Bool) throws -> Bool? {
        try peer.call(.endTrial(.example, revision: revision, keeps: keeps))["ended"]?.booleanValue
    }

    @Test("is a commit, and is taken back by one of the daemon when its time is over")
    func takenBack() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        let watcher = try daemon.watcher(of: .example)
        let trial = try tryOut(
            peer, [.set("n", .integer(42)), .set("fresh", .boolean(true)), .remove("flag")], seconds: 0.1)
        #expect(trial.revision == 2 && trial.changed == ["n", "fresh", "flag"])
        let first = try watcher.nextCommit()
        #expect(first.revision == 2 && first.changes.count == 3)
        let second = try watcher.nextCommit()
        #expect(second.revision == 3 && Set(second.keys) == ["n", "fresh", "flag"])
        let values = try peer.read(.example).values
        #expect(values["n"] == .integer(41) && values["fresh"] == nil && values["flag"] == .boolean(false))
        let log = try daemon.control(["log", Self.group, "--limit", "1"]).output
        #expect(log.contains("daemon \"end of the trial of revision 2\""))
        #expect(try end(peer, 2, keeps: true) == false)
        #expect(!daemon.directory.exists("state/\(Self.group).trials"))
    }

    @Test("is kept, or taken back at once; what is the same already is no trial")
    func ended() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        defer { withExtendedLifetime(daemon) {} }
        let kept = try tryOut(peer, [.set("n", .integer(42))])
        let other = try tryOut(peer, [.set("name", .string("x"))])
        #expect(try end(peer, kept.revision, keeps: true) == true)
        #expect(try end(peer, other.revision, keeps: false) == true)
        #expect(try end(peer, other.revision, keeps: false) == false)
        let values = try peer.read(.example).values
        #expect(values["n"] == .integer(42) && values["name"] == .string("plain"))
        #expect(try tryOut(peer, [.set("n", .integer(42))]).changed == [])
    }

    @Test("what others change meanwhile stays")
    func others() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        defer { withExtendedLifetime(daemon) {} }
        let trial = try tryOut(
            peer, [.set("n", .integer(42)), .set("name", .string("x")), .set("flag", .boolean(true))])
        try peer.write(.example, [.set("n", .integer(50)), .remove("flag")])
        #expect(try end(peer, trial.revision, keeps: false) == true)
        let values = try peer.read(.example).values
        #expect(values["n"] == .integer(50) && values["name"] == .string("plain") && values["flag"] == nil)
    }

    @Test("outlives the daemon: killed and started again it takes back what is due, and keeps waiting for the rest")
    func restart() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        _ = try tryOut(peer, [.set("n", .integer(42))], seconds: 0.1)
        let rest = try tryOut(peer, [.set("name", .string("x"))])
        try daemon.kill()
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(eventually { (try? again.read(.example).values["n"]) == .integer(41) })
        #expect(try again.read(.example).values["name"] == .string("x"))
        #expect(try end(again, rest.revision, keeps: false) == true)
        #expect(try again.read(.example).values["name"] == .string("plain"))
        try daemon.kill()
        try daemon.start()
        #expect(try end(try SettingsPeer(daemon), rest.revision, keeps: false) == false)
    }

    @Test("a promise whose change was never made, or whose file is damaged, touches nothing")
    func unmade() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        _ = try tryOut(peer, [.set("n", .integer(42))])
        let path = daemon.directory.file("state/\(Self.group).trials")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for wrong in [text.replacing("\"revision\":2", with: "\"revision\":3"), "{", ""] {
            try daemon.kill()
            try Data(wrong.utf8).write(to: URL(filePath: path))
            try daemon.start()
            let peer = try SettingsPeer(daemon)
            #expect(try peer.read(.example).values["n"] == .integer(42))
            try peer.write(.example, [.set("n", .integer(42))])
            #expect(try end(peer, 3, keeps: false) == false)
        }
    }

    @Test("a group that is deleted takes its trials along")
    func deleted() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        let trial = try tryOut(peer, [.set("n", .integer(42))])
        _ = try peer.call(.deleteGroup(.example))
        #expect(!daemon.directory.exists("state/\(Self.group).trials"))
        _ = try peer.call(.createGroup(.example))
        #expect(try end(peer, trial.revision, keeps: false) == false)
    }

    @Test("times outside the bounds are refused", arguments: [0.0, -1, 0.05, 2_592_001])
    func bounds(_ seconds: Double) throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        defer { withExtendedLifetime(daemon) {} }
        #expect(throws: (any Error).self) { try tryOut(peer, [.set("n", .integer(42))], seconds: seconds) }
        #expect(try peer.read(.example).values["n"] == .integer(41))
    }

    @Test("the tool: into a pipe it prints the revision, which keep takes; the tool may be gone")
    func tool() throws {
        let (daemon, peer) = try ControlVerbTests.daemon()
        try daemon.expect(["try", Self.group, "n", "-int", "42", "--for", "2h"], "2\n")
        #expect(try peer.read(.example).values["n"] == .integer(42))
        try daemon.expect(["keep", Self.group, "2"], "")
        try daemon.expect(
            ["keep", Self.group, "2"], code: 1, "",
            "appgroupctl: there is no trial of revision 2: it was kept, or is over\n")
        #expect(try daemon.control(["try", Self.group, "n", "43", "--for", "soon"]).code == 64)
        try daemon.expect(["try", Self.group, "n", "44", "--for", "100ms"], "3\n")
        #expect(eventually { (try? peer.read(.example).values["n"]) == .integer(42) })
    }
}
