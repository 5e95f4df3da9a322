import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// What a person does about a damaged file: look, mend it, put back what was saved.
@Suite("Recovery by hand")
struct RepairTests {
    static let group = "group.com.example.app"

    private static func damaged(_ text: String) throws -> (daemon: RunningDaemon, peer: SettingsPeer) {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1)), .set("b", .string("x"))])
        try peer.synchronize()
        try Plist.replace(daemon.plist(group), with: text)
        #expect(try peer.refusal(of: .synchronize(.example)) != nil)
        try peer.write(.example, [.set("a", .integer(2))])
        return (daemon, peer)
    }

    private static func copies(_ daemon: RunningDaemon) throws -> [String] {
        let directory = URL(filePath: daemon.plist(group)).deletingLastPathComponent().path
        return try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.contains(".plist.damaged-") }
            .sorted().map { directory + "/" + $0 }
    }

    @Test("repair keeps the damaged text beside the file, and the file has the last good values and later writes")
    func repair() throws {
        let (daemon, peer) = try Self.damaged("<plist><dict><key>precious")
        let run = try daemon.control(["repair", Self.group])
        #expect(run.code == 0, "\(run.errors)")
        let copy = try #require(try Self.copies(daemon).first)
        #expect(run.errors == "appgroupctl: \(Self.group) is sound again; the damaged text is kept in \(copy)\n")
        #expect(try Plist.read(copy) == "<plist><dict><key>precious")
        #expect(Plist.mode(copy) == Plist.mode(daemon.plist(Self.group)))
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["a": .integer(2), "b": .string("x")])
        #expect(try peer.status(of: .example)?.plist == .clean)
        #expect(try peer.refusal(of: .synchronize(.example)) == nil)
        // The file is as live as before.
        let watcher = try daemon.watcher(of: .example)
        try Plist.replace(daemon.plist(Self.group), with: Plist.text(["a": "<integer>3</integer>"]))
        #expect(try watcher.nextCommit().keys == ["a", "b"])
    }

    @Test("a sound group is left alone, an unknown one refused, and one of which nothing is known as well")
    func nothingToRepair() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let identity = Plist.identity(daemon.plist(Self.group))
        #expect(try daemon.control(["repair", Self.group, "--json"]).output == "{}\n")
        #expect(Plist.identity(daemon.plist(Self.group)) == identity)
        #expect(try daemon.control(["repair", "no.such"]).code == 1)
        let other = try GroupIdentifier("group.com.example.other")
        try FileManager.default.createDirectory(
            atPath: daemon.root + "/\(other)/Library/Preferences", withIntermediateDirectories: true)
        try Plist.replace(daemon.plist(other.string), with: "garbage")
        #expect(try eventually { try peer.status(of: other)?.plist == .damaged })
        let run = try daemon.control(["repair", other.string])
        #expect(run.code == 1)
        #expect(run.errors.contains(daemon.plist(other.string)))
        #expect(try Plist.read(daemon.plist(other.string)) == "garbage")
    }

    @Test("a repaired link stays a link")
    func link() throws {
        let (daemon, peer) = try Self.damaged("sound until the link is turned")
        let path = daemon.plist(Self.group)
        let target = daemon.directory.file("dotfile.plist")
        try Plist.move(path, to: target)
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
        #expect(try peer.refusal(of: .synchronize(.example)) != nil)
        #expect(try daemon.control(["repair", Self.group]).code == 0)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == target)
        #expect(try Plist.entries(target) == ["a": .integer(2), "b": .string("x")])
    }

    @Test("check says what, where, what will happen, and the command")
    func check() throws {
        let (daemon, _) = try Self.damaged(Plist.text(["a": "<integer>x</integer>"]))
        let path = daemon.plist(Self.group)
        let run = try daemon.control(["check"])
        #expect(run.code == 1)
        #expect(run.output.hasPrefix("\(Self.group): "))
        #expect(run.output.contains("\n  at \(path):7:"))
        #expect(run.output.contains("appgroupctl repair \(Self.group)"))
        #expect(run.output.contains("the last good values are served"))
        let file = try daemon.control(["check", path])
        #expect(file.code == 1)
        #expect(file.output.contains("\(path):7:"))
        #expect(try daemon.control(["repair", Self.group]).code == 0)
        #expect(try daemon.control(["check", Self.group]).output == "\(Self.group): sound, 2 keys at revision 2\n")
        #expect(try daemon.control(["check", path]).output == "\(path): a sound property list, XML, 2 keys\n")
        #expect(try daemon.control(["check", "no.such"]).code == 1)
    }

    @Test("check tells a sound journal, a torn one and a damaged one")
    func checkJournal() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        for number in 1...5 { try peer.write(.example, [.set("n", .integer(Int64(number)))], durable: true) }
        try daemon.stop()
        let path = daemon.journal(Self.group)
        #expect(try daemon.control(["check", path]).output.contains("a sound journal: "))
        let bytes = try [UInt8](Data(contentsOf: URL(filePath: path)))
        try Data(bytes.dropLast(5)).write(to: URL(filePath: path))
        #expect(try daemon.control(["check", path]).output.contains("cut short"))
        var spoilt = bytes
        spoilt[bytes.count / 2] ^= 0xFF
        try Data(spoilt).write(to: URL(filePath: path))
        let run = try daemon.control(["check", path])
        #expect(run.code == 1)
        #expect(run.output.contains("damaged from byte "))
    }

    @Test("backup saves each group at one revision while writes go on; restore makes it so again")
    func backup() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let other = try GroupIdentifier("group.com.example.other")
        try peer.create(other)
        // Both keys are always written together: in no revision do they differ.
        let stop = Flag()
        let socket = daemon.socket
        let writer = Background {
            let peer = try SettingsPeer(socket: socket)
            var number: Int64 = 0
            while !stop.isRaised {
                number += 1
                try peer.write(.example, [.set("x", .integer(number)), .set("y", .integer(number))])
            }
        }
        try peer.write(
            other, [.set("d", .data([0, 1])), .set("r", .real(1)), .set("t", .date(Timestamp(microseconds: 5)))])
        let before = try peer.read(other).values
        let path = daemon.directory.file("all.backup")
        for _ in 1...5 { #expect(try daemon.control(["backup", path]).code == 0) }
        stop.raise()
        _ = try writer.value()
        #expect(Plist.mode(path) == 0o600)
        try peer.write(other, [.remove("d"), .set("new", .boolean(true))])
        let plan = try daemon.control(["restore", "--dry-run", other.string, path])
        #expect(plan.output == "\(other) d: absent → data(AAE=)\n\(other) new: true → absent\n")
        #expect(try peer.read(other).values["new"] == .boolean(true))
        #expect(try daemon.control(["delete-group", other.string]).code == 0)
        #expect(try daemon.control(["restore", path]).code == 0)
        #expect(try peer.read(other).values == before)
        let values = try peer.read(.example).values
        #expect(values["x"] == values["y"])
        // Through a pipe, and what is no backup.
        let piped = try daemon.control(["backup", Self.group, "-"])
        #expect(piped.output.hasPrefix(#"{"appgroupd":"backup","format":1,"groups":[{"group":"\#(Self.group)""#))
        try Data("{}".utf8).write(to: URL(filePath: path))
        let refused = try daemon.control(["restore", path])
        #expect(refused.code == 1)
        #expect(refused.errors.contains("is no backup"))
    }
}
