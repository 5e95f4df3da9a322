import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Journals that were hurt")
struct JournalDamageTests {
    static let group = "group.com.example.app"

    /// A store with three commits, the daemon ended by a kill.
    private static func store() throws -> (daemon: RunningDaemon, position: Position, journal: [UInt8]) {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        for number in 1...3 { try peer.write(.example, [.set("n", .integer(Int64(number)))]) }
        try peer.synchronize()
        let position = try #require(try peer.read(.example).position)
        try daemon.kill()
        return (daemon, position, [UInt8](try Data(contentsOf: URL(filePath: daemon.journal(group)))))
    }

    @Test("a tail torn at any byte is cut off, and what is whole stands")
    func tornTail() throws {
        let (daemon, position, journal) = try Self.store()
        // The last commit, and the notes about the plist behind it.
        let text = String(decoding: journal, as: UTF8.self)
        let mark = try #require(text.range(of: "\"revision\":3"))
        let start = text.utf8.distance(from: text.startIndex, to: mark.lowerBound)
        let lineStart = journal[..<start].lastIndex(of: 10).map { $0 + 1 } ?? 0
        let lineEnd = journal[start...].firstIndex(of: 10) ?? journal.count
        // Each byte of the commit; one daemon start costs a moment, so every third in the middle of it.
        let cuts = Array(lineStart...lineEnd + 1).enumerated().filter { $0 < 24 || $0 % 9 == 0 || $1 >= lineEnd - 1 }
            .map(\.element)
        for cut in cuts {
            try Data(journal[..<cut]).write(to: URL(filePath: daemon.journal(Self.group)))
            try? Plist.remove(daemon.plist(Self.group))
            try Plist.replace(daemon.plist(Self.group), with: Plist.text(["n": "<integer>2</integer>"]))
            try daemon.start()
            let peer = try SettingsPeer(daemon)
            try peer.synchronize()
            let read = try peer.read(.example)
            #expect(read.position?.epoch == position.epoch, "cut at \(cut)")
            #expect((read.position?.revision ?? 0) >= (cut > lineEnd ? 3 : 2), "cut at \(cut)")
            #expect(try peer.history(.example, before: 3).map(\.revision) == [2, 1])
            // And it goes on from there.
            let next = try peer.write(.example, [.set("more", .integer(1))])
            #expect(next.position?.revision == (read.position?.revision ?? 0) + 1)
            try daemon.kill()
        }
    }

    @Test("a journal damaged in its middle is set aside, and the plist begins a new epoch")
    func damagedMiddle() throws {
        let (daemon, position, journal) = try Self.store()
        var damaged = journal
        let text = String(decoding: journal, as: UTF8.self)
        let mark = try #require(text.range(of: "\"revision\":2"))
        damaged[text.utf8.distance(from: text.startIndex, to: mark.lowerBound) + 11] = UInt8(ascii: "9")
        try Data(damaged).write(to: URL(filePath: daemon.journal(Self.group)))
        try daemon.start()
        let peer = try SettingsPeer(daemon)
        let read = try peer.read(.example)
        #expect(read.values == ["n": .integer(3)])
        #expect(read.position?.epoch != position.epoch)
        #expect(read.position?.revision == 1)
        let aside = try FileManager.default.contentsOfDirectory(atPath: daemon.state).filter {
            $0.contains(".damaged-")
        }
        #expect(aside.count == 1)
        #expect(try Data(contentsOf: URL(filePath: "\(daemon.state)/\(aside.first ?? "")")) == Data(damaged))
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example, since: position)])
        #expect(try watcher.snapshot().reason == "otherEpoch")
        #expect(try daemon.stop().errors.contains("damaged"))
    }

    @Test("a journal of garbage, or of no bytes, is set aside too", arguments: ["", "garbage\n", "{}"])
    func garbage(_ text: String) throws {
        let (daemon, _, _) = try Self.store()
        try Data(text.utf8).write(to: URL(filePath: daemon.journal(Self.group)))
        try daemon.start()
        #expect(try SettingsPeer(daemon).read(.example).values == ["n": .integer(3)])
    }

    @Test("a journal that is gone begins anew with what the plist holds")
    func gone() throws {
        let (daemon, position, _) = try Self.store()
        try Plist.remove(daemon.journal(Self.group))
        try daemon.start()
        let read = try SettingsPeer(daemon).read(.example)
        #expect(read.values == ["n": .integer(3)])
        #expect(read.position?.epoch != position.epoch)
    }

    @Test("a journal that cannot be read fails its group only, and says so")
    func unreadable() throws {
        let (daemon, _, _) = try Self.store()
        try Plist.remove(daemon.journal(Self.group))
        try FileManager.default.createDirectory(atPath: daemon.journal(Self.group), withIntermediateDirectories: false)
        try daemon.start()
        let peer = try SettingsPeer(daemon)
        let requests: [Request] = [
            .read(.example, keys: nil), .write(WriteRequest(group: .example, edits: [])), .createGroup(.example),
            .watch([WatchedGroup(group: .example)]), .deleteGroup(.example),
        ]
        for request in requests {
            guard case .storageFailed(let reason, _)? = try peer.refusal(of: request) else {
                Issue.record("\(request) was served")
                continue
            }
            #expect(reason.contains(Self.group))
        }
        #expect(try peer.groups() == [Self.group])
        #expect(try peer.status()?.problems.count == 1)
        let other = GroupIdentifier(known: "group.other")
        try peer.create(other)
        try peer.write(other, [.set("k", .integer(1))])
        // Mended, it comes back with the next CreateGroup.
        try Plist.remove(daemon.journal(Self.group))
        try peer.create(.example)
        #expect(try peer.read(.example).values == ["n": .integer(3)])
        #expect(try peer.status()?.problems == [])
    }

    @Test("the journal can be read by people: a line a record, JSON behind two numbers")
    func readable() throws {
        let (_, _, journal) = try Self.store()
        let lines = String(decoding: journal, as: UTF8.self).split(separator: "\n")
        for line in lines {
            #expect(try JSON(parsing: Array(line.utf8.dropFirst(18))).objectValue != nil)
            #expect(Int(line.prefix(8), radix: 16) == line.utf8.count - 18)
        }
        #expect(lines.count >= 4)
    }
}
