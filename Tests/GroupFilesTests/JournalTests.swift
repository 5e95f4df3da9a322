import Foundation
import LinuxIO
import PropertyList
import TestSupport
import Testing

@testable import GroupFiles

@Suite struct JournalTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.file("group.a.journal") }

    init() throws {
        directory = try TemporaryDirectory()
    }

    // MARK: Opening

    @Test func createdJournalHoldsItsRecordsAndIsPrivateWhateverTheUmask() throws {
        _ = try Journal.create(path, payloads: [bytes("header"), bytes("snapshot")])
        #expect(try contents() == ["header", "snapshot"])
        #expect(try Files.status(path).mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["group.a.journal"])
    }

    @Test func creationNeverReplacesAJournal() throws {
        _ = try Journal.create(path, payloads: [bytes("header")])
        #expect(throws: SystemError(errno: .fileExists, call: "rename", path: path)) {
            _ = try Journal.create(path, payloads: [bytes("other")])
        }
        #expect(try contents() == ["header"])
        #expect(!directory.exists("group.a.journal.new"))
    }

    @Test func creationThatFailsAtAnyCallLeavesNoJournal() throws {
        for call in ["open", "fchmod", "pwrite", "fsync", "renameNoReplace"] {
            #expect(throws: SystemError.self) {
                try FaultPlan.run([.init(call, .fail(.inputOutput))]) {
                    _ = try Journal.create(path, payloads: [bytes("header")])
                }
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        }
    }

    @Test func missingJournalIsAbsent() {
        #expect(throws: JournalError.absent) { _ = try Journal.opened(path) }
    }

    @Test func tornTailIsCutOffAndTheNextRecordFollowsTheLastWholeOne() throws {
        let whole = framed("header") + framed("one")
        for length in whole.count - 22 + 1..<whole.count {
            try write(Array(whole[..<length]))
            let opened = try Journal.opened(path)
            #expect(opened.repairedBytes == length - (whole.count - 22))
            _ = try opened.journal.append([bytes("two")])
            #expect(try contents() == ["header", "two"])
        }
    }

    @Test(arguments: [
        [],
        Array("garbage".utf8),
        framed("header") + Array("00000003 00000000 one\n".utf8) + framed("two"),
        Array(framed("header").dropLast()),
    ])
    func damagedJournalIsRefusedAndLeftAsItIs(content: [UInt8]) throws {
        try write(content)
        try directory.write("group.a.journal.new", "leftover")
        #expect { _ = try Journal.opened(path) } throws: { error in
            guard case .damaged = error as? JournalError else { return false }
            return true
        }
        #expect(try Files.read(path, limit: 1000).bytes == content)
        #expect(directory.exists("group.a.journal.new"))
    }

    @Test func soundRecordsOfADamagedJournalCanBeRead() throws {
        try write(framed("header") + Array("00000003 00000000 one\n".utf8) + framed("two"))
        #expect(try Journal.soundRecords(path).map { text($0.payload[...]) } == ["header"])
    }

    @Test func damagedJournalIsSetAsideUnderAFreeName() throws {
        for name in ["d", "d-2", "d-3"] {
            try write(bytes(name))
            let newPath = try Journal.setAside(path, time: "d")
            #expect(newPath == path + ".damaged-" + name)
            #expect(try Files.read(newPath, limit: 100).bytes == bytes(name))
        }
        #expect(!directory.exists("group.a.journal"))
    }

    @Test func linkIsNoJournal() throws {
        try Files.symlink("/etc/passwd", at: path)
        #expect(throws: JournalError.self) { _ = try Journal.opened(path) }
    }

    // MARK: Appending

    @Test func recordIsReadBackAtItsOffset() throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        let texts = ["a", String(repeating: "b", count: 4077), String(repeating: "c", count: 100_000), "d"]
        let offsets = try journal.append(texts.map(bytes))
        for (offset, expected) in zip(offsets, texts) { #expect(try text(journal.read(at: offset)[...]) == expected) }
        #expect(try Journal.opened(path).records.map(\.offset) == [0] + offsets)
        #expect(throws: JournalError.damaged(offset: 1, reason: "no sound record here")) { try journal.read(at: 1) }
        #expect(throws: JournalError.self) { try journal.read(at: journal.size) }
        #expect(throws: JournalError.self) { try journal.read(at: .max) }
    }

    @Test(arguments: [Errno.noSpace, .inputOutput, .quotaExceeded], [0, 1, 17, 18, 25])
    func failedAppendLeavesTheOldEnd(errno: Errno, passed: Int) throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        let faults: [FaultPlan.Fault] =
            passed == 0
            ? [.init("pwrite", .fail(errno))] : [.init("pwrite", .short(passed)), .init("pwrite", at: 2, .fail(errno))]
        #expect(throws: SystemError(errno: errno, call: "pwrite", path: path)) {
            try FaultPlan.run(faults) { _ = try journal.append([bytes("lost"), bytes("lost too")]) }
        }
        #expect(try Files.status(path).size == Int64(journal.size))
        _ = try journal.append([bytes("kept")])
        #expect(try contents() == ["header", "kept"])
    }

    @Test func whatAFailedAppendLeftIsGoneBeforeTheNextRecord() throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        let lost = [bytes("a record that gets through"), bytes("one that does not")]
        let faults: [FaultPlan.Fault] = [
            .init("pwrite", .short(60)), .init("pwrite", at: 2, times: 9, .fail(.noSpace)),
            .init("ftruncate", times: 2, .fail(.inputOutput)),
        ]
        FaultPlan.run(faults) {
            #expect(throws: SystemError.self) { try journal.append(lost) }
            #expect(throws: SystemError(errno: .inputOutput, call: "ftruncate", path: path)) {
                try journal.append([bytes("x")])
            }
        }
        _ = try journal.append([bytes("kept")])
        #expect(try contents() == ["header", "kept"])
    }

    @Test func shortWritesAreCarriedOn() throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        try FaultPlan.run([.init("pwrite", times: 1000, .short(1)), .init("pwrite", at: 3, .fail(.interrupted))]) {
            _ = try journal.append([bytes("one"), bytes("two")])
        }
        #expect(try contents() == ["header", "one", "two"])
    }

    // MARK: Stable storage

    @Test func syncCoversWhatWasThereWhenItBegan() throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        #expect(!journal.hasUnsyncedBytes)
        _ = try journal.append([bytes("one")])
        let handle = journal.syncHandle
        _ = try journal.append([bytes("two")])
        journal.finish(handle, handle.sync())
        #expect(journal.hasUnsyncedBytes)
        journal.finish(journal.syncHandle, journal.syncHandle.sync())
        #expect(!journal.hasUnsyncedBytes)
    }

    @Test func failedSyncIsRememberedUntilTheJournalIsReplaced() throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        _ = try journal.append([bytes("one")])
        let handle = journal.syncHandle
        let failure = FaultPlan.run([.init("fdatasync", .fail(.inputOutput))]) { handle.sync() }
        journal.finish(handle, failure)
        #expect(journal.syncFailure == SystemError(errno: .inputOutput, call: "fdatasync", path: path))
        journal.finish(handle, handle.sync())
        #expect(journal.syncFailure != nil)
        #expect(journal.hasUnsyncedBytes)
        let rewrite = try JournalRewrite.write(for: path, payloads: [bytes("header 2")])
        let new = try journal.adopt(rewrite, tail: [bytes("one")]).journal
        #expect(new.syncFailure == nil && new.hasUnsyncedBytes)
        new.finish(handle, failure)
        #expect(new.syncFailure == nil && new.hasUnsyncedBytes)
        new.finish(new.syncHandle, new.syncHandle.sync())
        #expect(new.syncFailure == nil && !new.hasUnsyncedBytes)
    }

    // MARK: Compaction

    @Test func adoptedRewriteHoldsWhatWasCommittedMeanwhile() throws {
        let journal = try Journal.create(path, payloads: [bytes("header"), bytes("one"), bytes("two")]).journal
        let big = (0..<20).map { bytes("snapshot \($0) " + String(repeating: "x", count: 50_000)) }
        var rewrite = try JournalRewrite.write(for: path, payloads: big)
        _ = try journal.append([bytes("three"), bytes("four")])
        rewrite = try rewrite.appending([bytes("three")])
        let adopted = try journal.adopt(rewrite, tail: [bytes("four")])
        let offsets = adopted.offsets + (try adopted.journal.append([bytes("five")]))
        let opened = try Journal.opened(path)
        #expect(opened.records.map { text($0.payload[...]) } == big.map { text($0[...]) } + ["three", "four", "five"])
        #expect(opened.records.map(\.offset) == offsets)
        #expect(try Files.status(path).mode == 0o600)
        #expect(!directory.exists("group.a.journal.new"))
    }

    @Test func adoptionThatFailsLeavesTheOldJournalInUse() throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        for call in ["pwrite", "rename"] {
            let rewrite = try JournalRewrite.write(for: path, payloads: [bytes("header 2")])
            #expect(throws: SystemError.self) {
                try FaultPlan.run([.init(call, .fail(.noSpace))]) {
                    _ = try journal.adopt(rewrite, tail: [bytes("one")])
                }
            }
            _ = try journal.append([bytes(call)])
            #expect(!directory.exists("group.a.journal.new"))
        }
        #expect(try contents() == ["header", "pwrite", "rename"])
    }

    @Test func rewriteThatCannotCatchUpIsGone() throws {
        _ = try Journal.create(path, payloads: [bytes("header")])
        for call in ["pwrite", "fdatasync"] {
            let rewrite = try JournalRewrite.write(for: path, payloads: [bytes("header 2")])
            #expect(throws: SystemError(errno: .noSpace, call: call, path: path + ".new")) {
                try FaultPlan.run([.init(call, .fail(.noSpace))]) { _ = try rewrite.appending([bytes("one")]) }
            }
            #expect(!directory.exists("group.a.journal.new"))
        }
        #expect(try contents() == ["header"])
    }

    @Test func adoptionWhoseDirectoryCannotBeSyncedIsInPlaceButNotDurable() throws {
        let journal = try Journal.create(path, payloads: [bytes("header")]).journal
        let rewrite = try JournalRewrite.write(for: path, payloads: [bytes("header 2")])
        let new = try journal.adopt(rewrite, tail: []).journal
        #expect(new.hasUnsyncedBytes)
        let handle = new.syncHandle
        new.finish(handle, FaultPlan.run([.init("fsync", .fail(.inputOutput))]) { handle.sync() })
        #expect(new.syncFailure != nil && new.hasUnsyncedBytes)
        #expect(try contents() == ["header 2"])
    }

    /// A copy of the directory before each call is what a kill at that point leaves.
    @Test func killAtAnyStepOfAnAdoptionLeavesTheOldOrTheNewJournal() throws {
        let steps = ["unlink", "open", "fchmod", "pwrite", "fsync", "pwrite 2", "fdatasync", "pwrite 3", "rename"]
        for (step, call) in (steps + ["fdatasync 2", "fsync 2"]).enumerated() {
            let trial = try TemporaryDirectory()
            let path = trial.file("g.journal")
            let copy = trial.file("copy")
            let journal = try Journal.create(path, payloads: [bytes("header"), bytes("one"), bytes("two")]).journal
            let words = call.split(separator: " ")
            let time = words.count == 1 ? 1 : try #require(Int(words[1]))
            let fault = FaultPlan.Fault(String(words[0]), at: time, .run { snapshot(path, to: copy) })
            try FaultPlan.run([fault]) {
                let rewrite = try JournalRewrite.write(for: path, payloads: [bytes("header 2")])
                let new = try journal.adopt(rewrite.appending([bytes("one")]), tail: [bytes("two")]).journal
                try new.syncHandle.sync().get()
            }
            let opened = try Journal.opened(copy + "/g.journal")
            let texts = opened.records.map { text($0.payload[...]) }
            #expect(texts == [step < steps.count ? "header" : "header 2", "one", "two"], "before \(call)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: copy) == ["g.journal"])
        }
    }

    @Test func randomOperationsWithFaultsKeepExactlyWhatWasAcknowledged() throws {
        try SplitMix64.withSeed { random in
            var journal = try Journal.create(path, payloads: [bytes("header")]).journal
            var expected = ["header"]
            for step in 0..<3000 {
                let batch = (0..<Int.random(in: 1...3, using: &random)).map { "\(step).\($0)" }
                let short = Int.random(in: 1...80, using: &random)
                let faults: [FaultPlan.Fault] =
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: [.init("pwrite", .short(short)), .init("pwrite", at: 2, .fail(.noSpace))]
                    case 1: [.init("pwrite", .fail(.noSpace)), .init("ftruncate", .fail(.inputOutput))]
                    case 2:
                        [
                            .init("pwrite", .short(short)), .init("pwrite", at: 2, .fail(.noSpace)),
                            .init("ftruncate", .fail(.inputOutput)),
                        ]
                    default: []
                    }
                let isKept = FaultPlan.run(faults) { (try? journal.append(batch.map(bytes))) != nil }
                if isKept { expected += batch }
                if step % 100 == 99 { journal = try Journal.opened(path).journal }
                // A kill after a failed cut can leave a refused record in the file, never a damaged file.
                if step % 100 == 99 { expected = try contents() }
            }
            #expect(try contents() == expected)
        }
    }

    // MARK: Helpers

    private func write(_ content: [UInt8]) throws {
        try Data(content).write(to: URL(filePath: path))
    }

    private func contents() throws -> [String] {
        let opened = try Journal.opened(path)
        #expect(opened.repairedBytes == 0)
        return opened.records.map { text($0.payload[...]) }
    }
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

private func snapshot(_ path: String, to copy: String) {
    try? FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
    for name in [path, path + ".new"] where FileManager.default.fileExists(atPath: name) {
        try? FileManager.default.copyItem(atPath: name, toPath: copy + "/" + Files.lastComponent(of: name))
    }
}

/// A record as the journal's reader finds it.
struct StoredRecord: Equatable {
    var offset: UInt64
    var payload: [UInt8]
}

extension Journal {
    /// Opens a journal, and keeps what it holds.
    static func opened(
        _ path: String
    ) throws(JournalError) -> (journal: Journal, records: [StoredRecord], repairedBytes: Int) {
        var records: [StoredRecord] = []
        let opened = try open(path) { records.append(StoredRecord(offset: $1, payload: [UInt8](copying: $0))) }
        return (opened.journal, records, opened.repairedBytes)
    }

    static func soundRecords(_ path: String, from offset: UInt64 = 0) throws(JournalError) -> [StoredRecord] {
        var records: [StoredRecord] = []
        try readSoundRecords(path, from: offset) {
            records.append(StoredRecord(offset: $1, payload: [UInt8](copying: $0)))
        }
        return records
    }
}
