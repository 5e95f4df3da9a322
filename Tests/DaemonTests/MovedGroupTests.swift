import Foundation
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import TestSupport
import Testing

/// The directory of a group is renamed while the daemon runs: away, back, and another one put into its place.
@Suite("The directory of a group is renamed")
struct MovedGroupTests {
    private static let group = "group.com.example.app"
    private static let other = GroupIdentifier(known: "group.com.example.other")

    private func container(_ daemon: RunningDaemon, _ group: String = group) -> String { "\(daemon.root)/\(group)" }

    @Test("away and back at once is nothing: epoch, writes and watches stay, and edits are seen")
    func awayAndBack() throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h", "PollIntervalSec=50ms"])
        let peer = try daemon.peer(with: .example)
        try peer.create(Self.other)
        try peer.write(.example, [.set("n", .integer(0))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        let epoch = try #require(try peer.read(.example).position?.epoch)
        let away = daemon.directory.file("away")
        for round in 1...20 {
            try Plist.move(container(daemon), to: away)
            // In every other round the daemon has surely seen that it is away.
            if round % 2 == 0 { try peer.synchronize(Self.other) }
            try peer.write(.example, [.set("n", .integer(Int64(round)))])
            try Plist.move(away, to: container(daemon))
            #expect(try watcher.nextCommit().revision == Int64(2 * round))
            try peer.synchronize()
            #expect(try Plist.entries(daemon.plist(Self.group))["n"] == .integer(Int64(round)))
            let text = try Plist.read(daemon.plist(Self.group))
                .replacing("</dict>", with: "\t<key>by hand \(round)</key>\n\t<true/>\n</dict>")
            try FileEditTests.save(text, to: daemon.plist(Self.group), FileEditTests.Saving.allCases[round % 3])
            let commit = try watcher.nextCommit()
            #expect(commit.keys == [Key("by hand \(round)")] && commit.origin == .file)
        }
        #expect(try peer.read(.example).position == Position(epoch: epoch, revision: 41))
    }

    @Test("away for good it is a deleted group; back again it begins anew, with what its file holds")
    func backLater() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("n", .integer(1))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        for round in 0..<5 {
            let away = daemon.directory.file("away")
            let plist = "\(away)/Library/Preferences/\(Self.group).plist"
            try Plist.move(container(daemon), to: away)
            #expect(try watcher.deletion() == Self.group)
            #expect(try peer.groups() == [])
            // What is done there is nobody's business meanwhile.
            try Plist.replace(plist, with: Plist.text(["n": "<integer>\(round)</integer>"]))
            try Plist.move(away, to: container(daemon))
            let snapshot = try watcher.snapshot()
            #expect(snapshot.reason == "otherEpoch" && snapshot.values == ["n": .integer(Int64(round))])
            try peer.write(.example, [.set("n", .integer(100))])
            #expect(try watcher.nextCommit().changes.map(\.new) == [.integer(100)])
            try peer.synchronize()
        }
        let trash = try FileManager.default.contentsOfDirectory(atPath: "\(daemon.root)/.trash")
        #expect(trash.count == 5, "the journal of each deletion is kept: \(trash)")
    }

    @Test("another directory exchanged with it is an edit; what is done to the one that is out concerns nobody")
    func exchanged() throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("same", .integer(1)), .set("n", .integer(0))])
        try peer.synchronize()
        let copy = daemon.directory.file("copy")
        try FileManager.default.copyItem(atPath: container(daemon), toPath: copy)
        let watcher = try daemon.watcher(of: .example)
        for round in 1...10 {
            let number = Int64(round * 10)
            let prepared = "\(copy)/Library/Preferences/\(Self.group).plist"
            try Plist.replace(
                prepared, with: Plist.text(["same": "<integer>1</integer>", "n": "<integer>\(number)</integer>"]))
            try Files.exchange(copy, container(daemon))
            let commit = try watcher.nextCommit()
            #expect(commit.keys == ["n"] && commit["n"]?.new == .integer(number) && commit.origin == .file)
            // An edit of the one that is out, right away, and one of the one that is in.
            let text = Plist.text(["garbage": "<true/>"])
            try Plist.overwrite(prepared, with: text)
            try peer.synchronize()
            try Plist.replace(
                daemon.plist(Self.group),
                with: Plist.text(["same": "<integer>1</integer>", "n": "<integer>\(number + 1)</integer>"]))
            #expect(try watcher.nextCommit()["n"]?.new == .integer(number + 1))
            try peer.write(.example, [.set("n", .integer(number + 2))])
            #expect(try watcher.nextCommit()["n"]?.new == .integer(number + 2))
            try peer.synchronize()
            #expect(try Plist.entries(daemon.plist(Self.group))["n"] == .integer(number + 2))
            #expect(try Plist.read(prepared) == text)
        }
    }

    @Test("two groups whose directories are exchanged lose nothing: exchanged again they are as they were")
    func groupsExchanged() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.create(Self.other)
        try peer.write(.example, [.set("mine", .integer(1))])
        try peer.write(Self.other, [.set("its", .integer(2))])
        try peer.synchronize(nil)
        let watcher = try daemon.watcher(of: .example)
        try Files.exchange(container(daemon), container(daemon, Self.other.string))
        // Its file is not there, while its directory stands: somebody reset it, and the history tells from what.
        #expect(try watcher.nextCommit().changes == [Change(key: "mine", old: .integer(1), new: nil)])
        try peer.synchronize(nil)
        #expect(try peer.read(Self.other).values == [:])
        #expect(try peer.groups().count == 2)
        try Files.exchange(container(daemon), container(daemon, Self.other.string))
        #expect(try watcher.nextCommit().changes == [Change(key: "mine", old: nil, new: .integer(1))])
        try peer.synchronize(nil)
        #expect(try peer.read(Self.other).values == ["its": .integer(2)])
        #expect(try peer.history(Self.other).map(\.revision) == [3, 2, 1])
    }

    @Test("the root of all groups is exchanged with a copy: settings, documents and new groups are those of the copy")
    func rootExchanged() throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=0.4", "PollIntervalSec=50ms"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("n", .integer(0))])
        try peer.synchronize()
        let (watcher, documents) = (try daemon.watcher(of: .example), try SettingsPeer(daemon))
        let note = "\(container(daemon))/Documents/note"
        try Data("0".utf8).write(to: URL(filePath: note))
        try documents.send(.watchDocuments(.example, path: nil))
        #expect(try documents.documentEvent() == .established)
        let copy = daemon.directory.file("copy")
        try FileManager.default.copyItem(atPath: daemon.root, toPath: copy)
        for round in 1...4 {
            try Plist.replace(
                "\(copy)/\(Self.group)/Library/Preferences/\(Self.group).plist",
                with: Plist.text(["n": "<integer>\(round * 10)</integer>"]))
            try Files.exchange(copy, daemon.root)
            #expect(try watcher.nextCommit()["n"]?.new == .integer(Int64(round * 10)))
            // Whenever its watches are on the new ones, what is done there is seen.
            try Plist.replace(
                daemon.plist(Self.group), with: Plist.text(["n": "<integer>\(round * 10 + 1)</integer>"]))
            #expect(try watcher.nextCommit()["n"]?.new == .integer(Int64(round * 10 + 1)))
            try Data("round \(round)".utf8).write(to: URL(filePath: note))
            try Data("\(round)".utf8).write(to: URL(filePath: "\(note)-\(round)"))
            while try !isMade("note-\(round)", documents.documentEvent()) {}
            try FileManager.default.createDirectory(
                atPath: "\(daemon.root)/group.round\(round)", withIntermediateDirectories: false)
            #expect(try eventually { try peer.groups().contains("group.round\(round)") })
        }
    }

    private func isMade(_ path: String, _ event: DocumentEvent) -> Bool {
        guard case .change(let change) = event else { return false }
        return change.path == path && change.kind == .created
    }

    @Test("renamed to another group's name it is another group, and its old file lies in it untouched")
    func otherName() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("n", .integer(1))])
        try peer.synchronize()
        let text = try Plist.read(daemon.plist(Self.group))
        let watcher = try daemon.watcher(of: .example)
        try Plist.move(container(daemon), to: container(daemon, Self.other.string))
        #expect(try watcher.deletion() == Self.group)
        #expect(try eventually { try peer.groups() == [Self.other.string] })
        try peer.write(Self.other, [.set("n", .integer(2))])
        try peer.synchronize(Self.other)
        #expect(try Plist.entries(daemon.plist(Self.other.string)) == ["n": .integer(2)])
        #expect(
            try Plist.read("\(container(daemon, Self.other.string))/Library/Preferences/\(Self.group).plist") == text)
        try Plist.move(container(daemon, Self.other.string), to: container(daemon))
        #expect(try watcher.snapshot().values == ["n": .integer(1)])
    }
}
