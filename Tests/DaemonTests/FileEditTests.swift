import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Edits of the file")
struct FileEditTests {
    static let group = "group.com.example.app"

    enum Saving: String, CaseIterable, Sendable {
        case rename, inPlace, link
    }

    static func save(_ text: String, to path: String, _ saving: Saving) throws {
        switch saving {
        case .rename: try Plist.replace(path, with: text)
        case .inPlace: try Plist.overwrite(path, with: text)
        case .link:
            // As a backup tool does: the old one away, the new one linked into its place.
            try Data(text.utf8).write(to: URL(filePath: path + ".new"))
            try Plist.remove(path)
            try FileManager.default.linkItem(atPath: path + ".new", toPath: path)
            try Plist.remove(path + ".new")
        }
    }

    @Test("a save is one commit of origin file, with the keys that changed", arguments: Saving.allCases)
    func save(_ saving: Saving) throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("same", .integer(1)), .set("changed", .integer(1)), .set("gone", .integer(1))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        let text = Plist.text([
            "same": "<integer>1</integer>", "changed": "<string>x</string>", "new": "<true/>",
        ])
        try Self.save(text, to: daemon.plist(Self.group), saving)
        let commit = try watcher.nextCommit()
        #expect(commit.origin == .file)
        #expect(commit.revision == 2)
        #expect(
            commit.changes.sorted { $0.key < $1.key } == [
                Change(key: "changed", old: .integer(1), new: .string("x")),
                Change(key: "gone", old: .integer(1), new: nil),
                Change(key: "new", old: nil, new: .boolean(true)),
            ])
        // The text is theirs, and stays so.
        try peer.synchronize()
        #expect(try Plist.read(daemon.plist(Self.group)) == text)
        #expect(try peer.read(.example).position?.revision == 2)
    }

    @Test("R32, R84: a save is seen without any call, whichever way and as often as it is done")
    func unasked() throws {
        // However long a busy machine takes between a deletion and the new file.
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("n", .integer(0))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        for number in 1...12 {
            let saving = Saving.allCases[number % 3]
            let text = Plist.text(["n": "<integer>\(number)</integer>"], comment: "save \(number)")
            try Self.save(text, to: daemon.plist(Self.group), saving)
            let commit = try watcher.nextCommit()
            #expect(
                commit.changes == [Change(key: "n", old: .integer(Int64(number - 1)), new: .integer(Int64(number)))])
        }
    }

    @Test("comments, order and mode stay with what the daemon writes")
    func kept() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        let text = Plist.text(
            ["zebra": "<integer>1</integer>", "ant": "<string> a </string>"], comment: "mine & yours")
        try Plist.replace(path, with: text)
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: path)
        try peer.synchronize()
        try peer.write(.example, [.set("zebra", .integer(2))])
        try peer.synchronize()
        #expect(try Plist.read(path) == text.replacingOccurrences(of: "<integer>1<", with: "<integer>2<"))
        #expect(Plist.mode(path) == 0o640)
    }

    @Test("own writes are no events, and nothing is written that nobody asked for")
    func ownWrites() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let watcher = try daemon.watcher(of: .example)
        for number in 1...20 {
            try peer.write(.example, [.set("k", .integer(Int64(number)))])
            if number % 3 == 0 { try peer.synchronize() }
        }
        try peer.synchronize()
        for number in 1...20 {
            let commit = try watcher.nextCommit()
            #expect(commit.revision == Int64(number))
            #expect(commit.origin.kind == .client)
        }
        let identity = Plist.identity(daemon.plist(Self.group))
        try peer.synchronize()
        try peer.synchronize()
        #expect(Plist.identity(daemon.plist(Self.group)) == identity)
        #expect(try peer.read(.example).position?.revision == 20)
        #expect(watcher.peer.isQuiet(milliseconds: 50))
    }

    @Test("a deleted file is a reset by somebody")
    func deletion() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1)), .set("b", .integer(2))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        try Plist.remove(daemon.plist(Self.group))
        let commit = try watcher.nextCommit()
        #expect(commit.origin == .file)
        #expect(commit.keys == ["a", "b"])
        #expect(commit.changes.allSatisfy { $0.new == nil })
        try peer.write(.example, [.set("c", .integer(3))])
        try peer.synchronize()
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["c": .integer(3)])
    }

    @Test("a file that is gone for a moment only is no reset")
    func goneForAMoment() throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"])
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        try Plist.remove(path)
        try Plist.replace(path, with: Plist.text(["a": "<integer>2</integer>"]))
        #expect(try watcher.nextCommit().changes == [Change(key: "a", old: .integer(1), new: .integer(2))])
    }

    @Test("both sides change: key by key, and where both changed one key the file wins and both are shown")
    func merge() throws {
        // A save that is made while the daemon is away meets writes that are in the journal only.
        let daemon = try RunningDaemon(configuration: ["ProjectionDelaySec=40ms"])
        var peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try peer.write(.example, ["base", "ours", "theirs", "both", "removed"].map { .set($0, .string("old")) })
        try peer.synchronize()
        let text = try Plist.read(path)
        try peer.write(
            .example, [.set("ours", .string("ours")), .set("both", .string("ours")), .set("mine", .integer(1))])
        try daemon.kill()
        // The plist may have been written already: what the person saves was opened before.
        let saved =
            text.replacingOccurrences(
                of: "<key>theirs</key>\n\t<string>old", with: "<key>theirs</key>\n\t<string>theirs"
            )
            .replacingOccurrences(of: "<key>both</key>\n\t<string>old", with: "<key>both</key>\n\t<string>theirs")
            .replacingOccurrences(of: "\t<key>removed</key>\n\t<string>old</string>\n", with: "")
        #expect(saved != text)
        let wasProjected = try Plist.entries(path)["mine"] != nil
        try Plist.replace(path, with: saved)
        try daemon.start()
        peer = try SettingsPeer(daemon)
        try peer.synchronize()
        let read = try peer.read(.example)
        let commit = try #require(try peer.history(.example).first)
        #expect(commit.origin == .file)
        #expect(commit["both"] == Change(key: "both", old: .string("ours"), new: .string("theirs")))
        #expect(commit["removed"] == Change(key: "removed", old: .string("old"), new: nil))
        #expect(read.values["both"] == .string("theirs"))
        #expect(read.values["theirs"] == .string("theirs"))
        #expect(read.values["removed"] == nil)
        #expect(read.values["base"] == .string("old"))
        if !wasProjected {
            #expect(read.values["ours"] == .string("ours"))
            #expect(read.values["mine"] == .integer(1))
        }
        #expect(try Plist.entries(path) == read.values)
    }

    @Test("a save made while the daemon is away is merged at its start")
    func whileAway() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1)), .set("b", .integer(1))])
        let position = try #require(try peer.read(.example).position)
        try daemon.stop()
        try Plist.replace(
            daemon.plist(Self.group), with: Plist.text(["a": "<integer>2</integer>", "b": "<integer>1</integer>"]))
        try daemon.start()
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example, since: position)])
        let commit = try watcher.nextCommit()
        #expect(commit.changes == [Change(key: "a", old: .integer(1), new: .integer(2))])
        #expect(commit.origin == .file)
        #expect(commit.revision == 2)
    }

    @Test("a plist that was there before the daemon is its first commit")
    func before() throws {
        let daemon = try RunningDaemon { daemon in
            let directory = "\(daemon.root)/\(Self.group)/Library/Preferences"
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try Plist.replace(daemon.plist(Self.group), with: Plist.text(["k": "<real>1</real>"]))
        }
        let peer = try SettingsPeer(daemon)
        let read = try peer.read(.example)
        #expect(read.values == ["k": .real(1)])
        #expect(read.position?.revision == 1)
        #expect(try peer.history(.example).map(\.origin) == [.file])
    }

    @Test("a binary property list stays binary")
    func binary() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        let values: [String: Any] = ["n": 1, "big": UInt64.max, "text": "é", "date": Date(timeIntervalSince1970: 1.5)]
        let data = try PropertyListSerialization.data(fromPropertyList: values, format: .binary, options: 0)
        try data.write(to: URL(filePath: path + ".tmp"))
        try Plist.move(path + ".tmp", to: path)
        try peer.synchronize()
        #expect(try peer.read(.example).values["text"] == .string("é"))
        try peer.write(.example, [.set("n", .integer(2)), .set("more", .array([.boolean(true)]))])
        try peer.synchronize()
        let written = try Data(contentsOf: URL(filePath: path))
        #expect(written.starts(with: Data("bplist00".utf8)))
        let read = try unsafe PropertyListSerialization.propertyList(from: written, options: [], format: nil)
        let entries = try #require(read as? [String: Any])
        #expect(entries["n"] as? Int == 2)
        #expect(entries["big"] as? UInt64 == .max)
        #expect(entries["date"] as? Date == Date(timeIntervalSince1970: 1.5))
        #expect(entries["more"] as? [Bool] == [true])
        #expect(try peer.read(.example).position?.revision == 2)
    }
}
