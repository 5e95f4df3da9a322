import Foundation
import LinuxIO
import PropertyList
import TestSupport
import Testing

@testable import GroupFiles

/// Edits by others at each point between our preparation and the end of the replacement.
@Suite struct PlistCommitTests {
    private let sandbox: PlistSandbox
    private var file: PlistFile { sandbox.file }
    private let before = plist("a", 1)
    private let after = plist("a", 2)
    private let edit = plist("edited", 77)

    init() throws {
        sandbox = try PlistSandbox()
    }

    enum Edit: CaseIterable {
        case save, overwrite, damage, delete, link, directory
    }

    @Test(arguments: Edit.allCases)
    func editBeforeTheCommitIsReportedNotReplaced(kind: Edit) throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        make(kind)
        #expect(file.commit(prepared) == .changed(file.read()))
        try expectEdit(kind)
        #expect(sandbox.names.filter(PlistFile.isOwnTemporary) == [])
    }

    @Test(arguments: [Edit.save, .overwrite])
    func editBetweenLookAndExchangeComesOut(kind: Edit) throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let commit = commitWithEdit(kind, before: "exchange", prepared)
        guard case .foreign(let content, let leftover) = commit else {
            Issue.record("\(commit)")
            return
        }
        #expect(leftover.reading.content?.entries == ["edited": .integer(77)])
        #expect(content == file.read().content)
        #expect(try sandbox.text() == after)
        // It stands in the way of the next replacement until it is discarded.
        #expect(file.prepare(["a": .integer(3)], expecting: content.digest) == .leftover(leftover))
        #expect(try file.discard(leftover) == nil)
        #expect(sandbox.names.filter(PlistFile.isOwnTemporary) == [])
        #expect(try sandbox.replace(["a": .integer(3)]).replaced != nil)
    }

    @Test(arguments: [Edit.damage, .delete, .link, .directory])
    func whatCannotBeMergedGetsItsPlaceBack(kind: Edit) throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        #expect(commitWithEdit(kind, before: "exchange", prepared) == .changed(file.read()))
        try expectEdit(kind)
        #expect(sandbox.names.filter(PlistFile.isOwnTemporary) == [])
    }

    @Test func sameContentInAnotherFileIsNoEdit() throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        sandbox.save(before)
        #expect(file.commit(prepared).replaced != nil)
        #expect(try sandbox.text() == after)
    }

    @Test func fileThatAppearsIsNotReplaced() throws {
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let (sandbox, edit) = (sandbox, edit)
        let commit = FaultPlan.run([.init("renameNoReplace", .run { sandbox.save(edit) })]) { file.commit(prepared) }
        #expect(commit == .changed(file.read()))
        #expect(try sandbox.text() == edit)
    }

    @Test func modeChangedMeanwhileIsKept() throws {
        try sandbox.write(before)
        try Files.changeMode(file.path, 0o600)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        try Files.changeMode(file.path, 0o644)
        #expect(file.commit(prepared).replaced != nil)
        #expect(try Files.status(file.path).mode == 0o644)
    }

    @Test func linkTurnedToAnotherFileIsNotPassedOver() throws {
        try sandbox.directory.write("one", before)
        try sandbox.directory.write("two", edit)
        try Files.symlink("one", at: file.path)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        try Files.unlink(file.path)
        try Files.symlink("two", at: file.path)
        #expect(file.commit(prepared) == .changed(file.read()))
        #expect(try sandbox.directory.read("one") == before)
    }

    // MARK: Writers who had the file open

    @Test func writerWhoHadTheFileOpenIsWaitedFor() throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let (path, edit) = (file.path, Array(edit.utf8))
        let commit = FaultPlan.run([.init("exchange", .run { writeSlowly(edit, to: path) })]) { file.commit(prepared) }
        guard case .foreign(_, let leftover) = commit else {
            Issue.record("\(commit)")
            return
        }
        #expect(leftover.reading.content?.entries == ["edited": .integer(77)])
    }

    @Test func writerWhoNeverEndsIsNotWaitedForForEver() throws {
        try sandbox.write(before)
        let held = try Files.open(file.path, .readWrite)
        #expect(try sandbox.replace(["a": .integer(2)]).replaced != nil)
        _ = held.rawValue
    }

    @Test func writerWhoComesLateIsFoundOut() throws {
        try sandbox.write(before)
        let held = try Files.open(file.path, .writeOnly)
        guard case .replaced(let replacement) = try sandbox.replace(["a": .integer(2)]), let old = replacement.old
        else {
            Issue.record("not replaced")
            return
        }
        #expect(file.lateEdit(in: old) == nil)
        try held.truncate(to: 0)
        try held.writeAll(Array(edit.utf8))
        #expect(file.lateEdit(in: old)?.content?.entries == ["edited": .integer(77)])
    }

    @Test func leftoverThatChangedAgainIsNotDiscarded() throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        guard case .foreign(_, let leftover) = commitWithEdit(.save, before: "exchange", prepared) else {
            Issue.record("not foreign")
            return
        }
        try Data(plist("later", 5).utf8).write(to: URL(filePath: leftover.path))
        let again = try #require(try file.discard(leftover))
        #expect(again.reading.content?.entries == ["later": .integer(5)])
        #expect(try file.discard(again) == nil)
    }

    @Test func unreadableLeftoverGetsItsPlaceBackInsteadOfBeingRemoved() throws {
        let swap = try sandbox.directory.write(".group.a.plist.appgroupd-swap", "garbage")
        try sandbox.write(after)
        let next = try #require(try file.discard(PlistLeftover(path: swap, reading: file.load(swap).0)))
        #expect(next.reading.digest == Digest(of: Array(after.utf8)))
        #expect(try sandbox.text() == "garbage")
        #expect(try file.discard(next) == nil)
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test func unreadableLeftoverBesideAnUnreadableFileIsSetAside() throws {
        for name in ["group.a.plist.appgroupd-damaged", "group.a.plist.appgroupd-damaged-2"] {
            let swap = try sandbox.directory.write(".group.a.plist.appgroupd-swap", name)
            try sandbox.write("other garbage")
            #expect(try file.discard(PlistLeftover(path: swap, reading: file.load(swap).0)) == nil)
            #expect(try sandbox.text() == "other garbage")
            #expect(try sandbox.directory.read(name) == name)
        }
    }

    @Test func unreadableLeftoverOfAFileThatIsGoneIsTheFile() throws {
        let swap = try sandbox.directory.write(".group.a.plist.appgroupd-swap", "garbage")
        #expect(try file.discard(PlistLeftover(path: swap, reading: file.load(swap).0)) == nil)
        #expect(try sandbox.text() == "garbage")
    }

    // MARK: File systems without an exchange

    @Test func withoutExchangeWhatCannotBeMergedGetsItsPlaceBack() throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let sandbox = sandbox
        let faults: [FaultPlan.Fault] = [
            .init("exchange", times: 9, .fail(.invalidArgument)),
            .init("rename", .run { sandbox.overwrite("garbage") }),
        ]
        #expect(FaultPlan.run(faults) { file.commit(prepared) } == .changed(file.read()))
        #expect(try sandbox.text() == "garbage")
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test(arguments: [Errno.invalidArgument, .notImplemented])
    func withoutExchangeTheFileIsReplacedByRename(errno: Errno) throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let commit = FaultPlan.run([.init("exchange", .fail(errno))]) { file.commit(prepared) }
        #expect(commit.replaced == file.read().content)
        #expect(try sandbox.text() == after)
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test func withoutExchangeAnEditInPlaceStillComesOut() throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let (sandbox, edit) = (sandbox, edit)
        let faults: [FaultPlan.Fault] = [
            .init("exchange", .fail(.invalidArgument)), .init("rename", .run { sandbox.overwrite(edit) }),
        ]
        guard case .foreign(_, let leftover) = FaultPlan.run(faults, { file.commit(prepared) }) else {
            Issue.record("not foreign")
            return
        }
        #expect(leftover.reading.content?.entries == ["edited": .integer(77)])
        #expect(try sandbox.text() == after)
    }

    @Test(arguments: [Edit.save, .overwrite, .delete])
    func withoutExchangeAnEditBeforeTheRenameIsSeen(kind: Edit) throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let faults = [FaultPlan.Fault("exchange", .fail(.invalidArgument)), editFault(kind, before: "link")]
        #expect(FaultPlan.run(faults) { file.commit(prepared) } == .changed(file.read()))
        try expectEdit(kind)
    }

    @Test func withoutExchangeAndLinksTheFileIsStillReplaced() throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let faults: [FaultPlan.Fault] = [
            .init("exchange", .fail(.invalidArgument)), .init("link", .fail(.notPermitted)),
        ]
        #expect(FaultPlan.run(faults) { file.commit(prepared) }.replaced != nil)
        #expect(try sandbox.text() == after)
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test func withoutRenameFlagsANewFileStillReplacesNothing() throws {
        let fault = FaultPlan.Fault("renameNoReplace", times: 9, .fail(.invalidArgument))
        let first = try FaultPlan.run([fault]) { try sandbox.replace(["a": .integer(2)]) }
        #expect(first.replaced != nil)
        try Files.unlink(file.path)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let faults = [fault, editFault(.save, before: "link")]
        #expect(FaultPlan.run(faults) { file.commit(prepared) } == .changed(file.read()))
        #expect(try sandbox.text() == edit)
    }

    // MARK: Helpers

    private func commitWithEdit(_ kind: Edit, before call: String, _ prepared: PreparedPlist) -> PlistCommit {
        FaultPlan.run([editFault(kind, before: call)]) { file.commit(prepared) }
    }

    private func editFault(_ kind: Edit, before call: String) -> FaultPlan.Fault {
        let copy = self
        return FaultPlan.Fault(call, .run { copy.make(kind) })
    }

    private func make(_ kind: Edit) {
        switch kind {
        case .save: sandbox.save(edit)
        case .overwrite: sandbox.overwrite(edit)
        case .damage: sandbox.save("garbage")
        case .delete: try? Files.unlink(file.path)
        case .link:
            try? Files.symlink("elsewhere", at: sandbox.directory.file("editor"))
            try? Files.rename(sandbox.directory.file("editor"), to: file.path)
        case .directory:
            try? Files.unlink(file.path)
            try? Files.makeDirectory(file.path)
        }
    }

    private func expectEdit(_ kind: Edit) throws {
        switch kind {
        case .save, .overwrite: #expect(try sandbox.text() == edit)
        case .damage: #expect(try sandbox.text() == "garbage")
        case .delete: #expect(file.read() == .absent)
        case .link: #expect(try Files.readLink(file.path) == "elsewhere")
        case .directory: #expect(file.read().errno == .isDirectory)
        }
    }
}

/// Empties the file at once, and fills it on a thread of its own, in the middle of our replacement.
private func writeSlowly(_ text: [UInt8], to path: String) {
    guard let number = try? Files.open(path, [.writeOnly, .truncate]).take() else { return }
    Thread.detachNewThread {
        let file = FileDescriptor(owning: number)
        for byte in text {
            try? file.writeAll([byte])
            usleep(200)
        }
    }
}
