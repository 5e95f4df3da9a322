import Foundation
import LinuxIO
import PropertyList
import TestSupport
import Testing

@testable import GroupFiles

/// The zeros that a journal fills in ahead of records that somebody waits for.
@Suite("The room of a journal") struct JournalRoomTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("group.a.journal") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func `a journal that got little has none`() throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        _ = try journal.append([bytes("one")])
        journal.makeRoom()
        #expect(try size() == journal.size)
        #expect(journal.roomForNext == 0)
    }

    @Test func `records that go into the room leave the file as long as it is`() throws {
        let journal = try journalWithRoom()
        let long = try size()
        #expect(long > journal.size && long <= 2 * journal.size + 8192)
        var texts = try contents()
        while journal.size + 100 < long {
            _ = try journal.append([bytes("\(texts.count)")])
            texts.append("\(texts.count)")
        }
        #expect(try size() == long)
        _ = try journal.append([bytes(String(repeating: "x", count: 200))])
        #expect(try size() == journal.size)
        #expect(try contents() == texts + [String(repeating: "x", count: 200)])
    }

    @Test func `what follows a kill goes into the room that is there`() throws {
        _ = try journalWithRoom()
        let long = try size()
        let opened = try Journal.opened(path)
        #expect(opened.repairedBytes == 0)
        _ = try opened.journal.append([bytes("after")])
        #expect(try size() == long)
        #expect(try contents().last == "after")
    }

    @Test func `half a record in the room is cut off, and the room with it`() throws {
        let journal = try journalWithRoom()
        let before = try contents()
        try overwrite(Array(framed("a record of which not all arrived").dropLast(5)), at: journal.size)
        let opened = try Journal.opened(path)
        #expect(opened.repairedBytes == framed("a record of which not all arrived").count - 5)
        #expect(try size() == opened.journal.size)
        #expect(try contents() == before)
    }

    /// The kernel writes pages in any order.
    @Test func `records behind a page that a power cut kept from the disk were never safe`() throws {
        let journal = try journalWithRoom()
        journal.finish(journal.syncHandle, journal.syncHandle.sync())
        let (safe, before) = (journal.size, try contents())
        while journal.size < safe + 6000 { _ = try journal.append([bytes(String(repeating: "y", count: 300))]) }
        let page = (safe / 4096 + 1) * 4096
        try overwrite([UInt8](repeating: 0, count: Int(page - safe)), at: safe)
        let opened = try Journal.opened(path)
        #expect(opened.repairedBytes > 0)
        #expect(try contents() == before)
    }

    @Test func `a broken record before sound ones is damage, in the room as elsewhere`() throws {
        let journal = try journalWithRoom()
        let place = journal.size
        _ = try journal.append([bytes("one"), bytes("two")])
        try overwrite(bytes("?"), at: place + 20)
        #expect { _ = try Journal.opened(path) } throws: { error in
            guard case .damaged(place, _) = error as? JournalError else { return false }
            return true
        }
    }

    @Test(arguments: [Errno.noSpace, .quotaExceeded])
    func `a disk without room to spare takes records as ever, and refuses them itself`(errno: Errno) throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        _ = try journal.append([bytes(String(repeating: "x", count: 6000))])
        let before = try contents()
        FaultPlan.run([.init("pwrite", .short(700)), .init("pwrite", at: 2, .fail(errno))]) { journal.makeRoom() }
        #expect(try size() == journal.size)
        #expect(throws: SystemError.self) {
            try FaultPlan.run([.init("pwrite", .fail(errno))]) { _ = try journal.append([bytes("lost")]) }
        }
        _ = try journal.append([bytes("kept")])
        journal.makeRoom()
        #expect(try size() == journal.size)
        #expect(try contents() == before + ["kept"])
    }

    @Test func `a refused record leaves nothing in the room`() throws {
        let journal = try journalWithRoom()
        let before = try contents()
        let faults: [FaultPlan.Fault] = [.init("pwrite", .short(30)), .init("pwrite", at: 2, .fail(.inputOutput))]
        #expect(throws: SystemError.self) {
            try FaultPlan.run(faults) { _ = try journal.append([bytes("a record that does not get through")]) }
        }
        #expect(try size() == journal.size)
        _ = try journal.append([bytes("kept")])
        #expect(try contents() == before + ["kept"])
    }

    @Test func `the room can be cut off, and is text again to its end`() throws {
        let journal = try journalWithRoom()
        journal.dropRoom()
        #expect(try Files.read(path, limit: 1 << 20).bytes.last == UInt8(ascii: "\n"))
        _ = try journal.append([bytes("more")])
        #expect(try contents().last == "more")
    }

    @Test func `a rewritten journal begins with as much room as the old one got to hold`() throws {
        let journal = try journalWithRoom()
        let room = journal.roomForNext
        #expect(room >= 4096)
        let rewrite = try JournalRewrite.write(for: path, room: room) { (records) throws(SystemError) in
            try records.append(bytes("header 2"))
        }
        let new = try journal.adopt(rewrite, tail: [bytes("meanwhile")]).journal
        #expect(try size() >= UInt64(room))
        _ = try new.append([bytes("after")])
        #expect(try contents() == ["header 2", "meanwhile", "after"])
        #expect(new.roomForNext > 0)
    }

    @Test func `a rewritten journal does without room where the disk refuses it`() throws {
        _ = try Journal.create(path, payloads: [bytes("header")])
        let rewrite = try FaultPlan.run([.init("pwrite", at: 2, .fail(.noSpace))]) {
            try JournalRewrite.write(for: path, room: 1 << 20) { (records) throws(SystemError) in
                try records.append(bytes("header 2"))
            }
        }
        #expect(try Files.status(path + ".new").size == Int64(rewrite.size))
    }

    // MARK: Helpers

    private func journalWithRoom() throws -> Journal {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        for number in 0..<200 {
            _ = try journal.append([bytes("record \(number) \(String(repeating: "x", count: 30))")])
        }
        journal.makeRoom()
        return journal
    }

    private func size() throws -> UInt64 { UInt64(try Files.status(path).size) }

    private func contents() throws -> [String] {
        try Journal.soundRecords(path).map { String(decoding: $0.payload, as: UTF8.self) }
    }

    private func overwrite(_ bytes: [UInt8], at offset: UInt64) throws {
        try Files.open(path, [.readWrite]).pwriteAll(bytes, at: Int64(offset))
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
