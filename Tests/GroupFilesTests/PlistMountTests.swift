import Foundation
import LinuxIO
import PropertyList
import TestSupport
import Testing

@testable import GroupFiles

/// Real full disks, read-only mounts and files with something mounted on them.
@Suite(.enabled(if: geteuid() == 0, "only root mounts"), .serialized)
struct PlistMountTests {
    private let sandbox: PlistSandbox
    private let before = plist("a", 1)
    private let after = plist("a", 2)

    init() throws {
        sandbox = try PlistSandbox()
    }

    // R03
    @Test func r03FullDiskLeavesTheOldFileByteForByte() throws {
        try withMount(["-t", "tmpfs", "-o", "size=64k", "tmpfs"], at: sandbox.directory.path) {
            let digest = try sandbox.write(before)
            let big: [Key: Value] = ["a": .string(String(repeating: "x", count: 100_000))]
            let preparation = sandbox.file.prepare(big, expecting: digest)
            guard case .failed(.system(let error)) = preparation else {
                throw UnexpectedPreparation(preparation: preparation)
            }
            #expect(error.errno == .noSpace)
            #expect(try sandbox.text() == before)
            #expect(sandbox.names == ["group.a.plist"])
            #expect(try sandbox.replace(["a": .integer(2)]).replaced != nil)
        }
    }

    @Test func fullDiskLeavesTheJournalAtItsOldEnd() throws {
        try withMount(["-t", "tmpfs", "-o", "size=64k", "tmpfs"], at: sandbox.directory.path) {
            let path = sandbox.directory.file("g.journal")
            let journal = try Journal.create(path, payloads: [Array("header".utf8)]).journal
            var kept = 1
            let record = [UInt8](repeating: UInt8(ascii: "x"), count: 5000)
            while (try? journal.append([record])) != nil { kept += 1 }
            #expect(throws: SystemError.self) { try journal.append([record, record]) }
            #expect(try Files.status(path).size == Int64(journal.size))
            let opened = try Journal.opened(path)
            #expect(opened.records.count == kept && opened.repairedBytes == 0)
            #expect(try opened.journal.append([Array("small".utf8)]).count == 1)
        }
    }

    // R73
    @Test func r73ReadOnlyMountMakesTheGroupReadOnly() throws {
        try withMount(["-t", "tmpfs", "tmpfs"], at: sandbox.directory.path) {
            let digest = try sandbox.write(before)
            try mount(["-o", "remount,ro", sandbox.directory.path])
            let preparation = sandbox.file.prepare(["a": .integer(2)], expecting: digest)
            guard case .failed(.readOnly) = preparation else { throw UnexpectedPreparation(preparation: preparation) }
            #expect(sandbox.file.read().content?.entries == ["a": .integer(1)])
        }
    }

    // R95
    @Test func r95FileWithAMountOnItIsWrittenInPlaceAfterABackup() throws {
        let source = try sandbox.directory.write("source", before)
        try sandbox.write("")
        try withMount(["--bind", source], at: sandbox.file.path) {
            let commit = try sandbox.replace(["a": .integer(2)])
            let backup = sandbox.directory.file("group.a.plist.appgroupd-backup")
            #expect(commit == .replaced(PlistReplacement(content: try #require(commit.replaced), backup: backup)))
            #expect(sandbox.file.read().content == commit.replaced)
            #expect(try sandbox.directory.read("source") == after)
            #expect(try sandbox.directory.read("group.a.plist.appgroupd-backup") == before)
            #expect(try sandbox.replace(["a": .integer(1)]).replaced != nil)
            #expect(try sandbox.directory.read("source") == before)
        }
    }

    private func withMount(_ arguments: [String], at path: String, _ body: () throws -> Void) throws {
        try mount(arguments + [path])
        // Lazily: a child that another test is just starting has our descriptors until it becomes its program, and for
        // that long the mount is busy.
        defer { try? run("/bin/umount", ["--lazy", path]) }
        try body()
    }

    private func mount(_ arguments: [String]) throws {
        try run("/bin/mount", arguments)
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        let process = try Process.run(URL(filePath: program), arguments: arguments)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(program) \(arguments)")
    }
}

@Suite struct PlistInPlaceTests {
    private let before = plist("a", 1)
    private let after = plist("longer", 22222)

    @Test func fullDiskGivesTheOldTextBack() throws {
        for failing in 1...3 {
            let sandbox = try PlistSandbox()
            try sandbox.write(before)
            let prepared = try sandbox.prepare(["longer": .integer(22222), "a": .integer(1)])
            let faults: [FaultPlan.Fault] = [
                .init("exchange", .fail(.busy)), .init("pwrite", times: 2, .short(9)),
                .init("pwrite", at: failing, .fail(.noSpace)),
            ]
            let commit = FaultPlan.run(faults) { sandbox.file.commit(prepared) }
            guard case .failed(.system(let error)) = commit else {
                Issue.record("\(commit)")
                return
            }
            #expect(error.errno == .noSpace)
            #expect(try sandbox.text() == before)
            #expect(sandbox.names == ["group.a.plist", "group.a.plist.appgroupd-backup"])
        }
    }

    @Test func withoutABackupNothingIsOverwritten() throws {
        let sandbox = try PlistSandbox()
        var file = sandbox.file
        file.backupDirectory = sandbox.directory.file("nowhere")
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let commit = FaultPlan.run([.init("exchange", .fail(.busy))]) { file.commit(prepared) }
        guard case .failed = commit else {
            Issue.record("\(commit)")
            return
        }
        #expect(try sandbox.text() == before)
    }

    @Test func editBeforeTheOverwritingIsReportedNotReplaced() throws {
        let sandbox = try PlistSandbox()
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let edit = plist("edited", 77)
        let faults: [FaultPlan.Fault] = [
            .init("exchange", .fail(.busy)), .init("rename", .run { sandbox.overwrite(edit) }),
        ]
        #expect(FaultPlan.run(faults) { sandbox.file.commit(prepared) } == .changed(sandbox.file.read()))
        #expect(try sandbox.text() == edit)
    }

    @Test func interruptedOverwritingIsUndoneAtStart() throws {
        let (old, new) = (Array(before.utf8), Array(after.utf8))
        for (first, second) in [(old, new), (new, old)] {
            for cut in 1..<min(old.count, new.count) where second.prefix(cut) != first.prefix(cut) {
                let sandbox = try PlistSandbox()
                try sandbox.write(String(decoding: second.prefix(cut) + first.dropFirst(cut), as: UTF8.self))
                try sandbox.directory.write(".group.a.plist.appgroupd-swap", String(decoding: second, as: UTF8.self))
                try sandbox.directory.write("group.a.plist.appgroupd-backup", String(decoding: first, as: UTF8.self))
                let leftover = try sandbox.file.recoverLeftovers().get()
                #expect(leftover?.reading.digest == Digest(of: second))
                let found = try sandbox.text()
                #expect([first, second].contains(Array(found.utf8)))
            }
        }
    }

    @Test func editAfterAnInterruptedOverwritingIsKept() throws {
        let sandbox = try PlistSandbox()
        let edit = plist("edited", 77)
        try sandbox.write(edit)
        try sandbox.directory.write(".group.a.plist.appgroupd-swap", after)
        try sandbox.directory.write("group.a.plist.appgroupd-backup", before)
        _ = try sandbox.file.recoverLeftovers().get()
        #expect(try sandbox.text() == edit)
    }
}
