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

    /// Where the third commit stands in a journal: its first byte, and the one behind its line.
    private static func lastCommit(in journal: [UInt8]) throws -> Range<Int> {
        let text = String(decoding: journal, as: UTF8.self)
        let mark = try #require(text.range(of: "\"revision\":3"))
        let middle = text.utf8.distance(from: text.startIndex, to: mark.lowerBound)
        let start = try #require(journal[..<middle].lastIndex(of: 10))
        let end = try #require(journal[middle...].firstIndex(of: 10))
        return start + 1..<end + 1
    }

    @Test("a tail torn at any byte is cut off, and what is whole stands")
    func tornTail() throws {
        // One group for each place of the cut, so that one start shows all of them.
        let daemon = try RunningDaemon()
        var peer = try SettingsPeer(daemon)
        let sample = GroupIdentifier(known: "group.cut.000")
        func write(_ group: GroupIdentifier) throws -> Position? {
            try peer.create(group)
            for number in 1...2 { try peer.write(group, [.set("n", .integer(Int64(number)))]) }
            return try peer.write(group, [.set("n", .integer(3))]).position
        }
        var positions = [try write(sample)]
        let size = try Self.lastCommit(in: [UInt8](Data(contentsOf: URL(filePath: daemon.journal(sample.string)))))
            .count
        let groups = (0...size).map { GroupIdentifier(known: "group.cut." + "00\($0)".suffix(3)) }
        for group in groups.dropFirst() { positions.append(try write(group)) }
        try daemon.kill()
        for (cut, group) in groups.enumerated() {
            let url = URL(filePath: daemon.journal(group.string))
            let journal = [UInt8](try Data(contentsOf: url))
            let last = try Self.lastCommit(in: journal)
            #expect(last.count == size)
            try Data(journal[..<(last.lowerBound + cut)]).write(to: url)
            // As if what is lost had not been projected yet.
            let text = Plist.text(["n": "<integer>\(cut == size ? 3 : 2)</integer>"])
            try Plist.replace(daemon.plist(group.string), with: text)
        }
        try daemon.start()
        peer = try SettingsPeer(daemon)
        for (cut, group) in groups.enumerated() {
            let whole: Int64 = cut == size ? 3 : 2
            let history = try peer.history(group)
            #expect(Array(history.map(\.revision).suffix(2)) == [2, 1], "\(cut) of \(size)")
            let read = try peer.read(group)
            #expect(read.position?.epoch == positions[cut]?.epoch)
            #expect(read.values == ["n": .integer(whole)], "\(cut) of \(size)")
            #expect(read.position?.revision == whole)
            // And it goes on from there.
            #expect(try peer.write(group, [.set("more", .integer(1))]).position?.revision == whole + 1)
        }
    }

    @Test("a journal damaged in its middle is set aside; what is sound of it and the plist begin a new epoch")
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
        // Revision 1 is sound, and what the file has beyond it is an edit.
        #expect(read.position?.revision == 2)
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

    @Test("where the plist is damaged too, what is sound of a damaged journal is still there, and takes writes")
    func damagedMiddleAndPlist() throws {
        let (daemon, position, journal) = try Self.store()
        var damaged = journal
        let text = String(decoding: journal, as: UTF8.self)
        let mark = try #require(text.range(of: "\"revision\":3"))
        damaged[text.utf8.distance(from: text.startIndex, to: mark.lowerBound) + 11] = UInt8(ascii: "9")
        try Data(damaged).write(to: URL(filePath: daemon.journal(Self.group)))
        try Plist.replace(daemon.plist(Self.group), with: "")
        try daemon.start()
        let peer = try SettingsPeer(daemon)
        let read = try peer.read(.example)
        #expect(read.values == ["n": .integer(2)])
        #expect(read.position?.epoch != position.epoch)
        #expect(try peer.write(.example, [.set("m", .integer(1))]).position?.revision == 3)
        try daemon.kill()
        try daemon.start()
        let again = try SettingsPeer(daemon).read(.example)
        #expect(again.values == ["n": .integer(2), "m": .integer(1)])
        #expect(again.position?.epoch == read.position?.epoch)
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
