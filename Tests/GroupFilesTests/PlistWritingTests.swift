import Foundation
import LinuxIO
import PropertyList
import TestSupport
import Testing

@testable import GroupFiles

@Suite struct PlistWritingTests {
    private let sandbox: PlistSandbox
    private var directory: TemporaryDirectory { sandbox.directory }
    private var file: PlistFile { sandbox.file }
    private let before = plist("a", 1)
    private let after = plist("a", 2)

    init() throws {
        sandbox = try PlistSandbox()
    }

    // MARK: What is written

    @Test func newFileIsXMLAndPrivate() throws {
        let commit = try sandbox.replace(["a": .integer(1)])
        #expect(commit.replaced == file.read().content)
        #expect(commit.replaced?.entries == ["a": .integer(1)])
        #expect(try Files.status(file.path).mode == 0o600)
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test func textAroundTheValuesIsKept() throws {
        try sandbox.write(before)
        let commit = try sandbox.replace(["a": .integer(2)])
        #expect(try sandbox.text() == after)
        #expect(commit.replaced == file.read().content)
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test func preparedDigestIsThatOfTheFile() throws {
        try sandbox.write(before)
        let prepared = try sandbox.prepare(["a": .integer(2)])
        #expect(try sandbox.text() == before)
        #expect(prepared.digest == Digest(of: Array(after.utf8)))
        _ = file.commit(prepared)
        #expect(file.read().digest == prepared.digest)
    }

    @Test func sameBytesAreNotWritten() throws {
        let digest = try sandbox.write(before)
        let identity = try Files.status(file.path).identity
        let preparation = file.prepare(["a": .integer(1)], expecting: digest)
        #expect(preparation == file.read().content.map(PlistPreparation.unchanged))
        #expect(try Files.status(file.path).identity == identity)
    }

    @Test func fileThatIsGoneCanBeMadeAgainWithItsComments() throws {
        let preparation = file.prepare(["a": .integer(2)], expecting: nil, baseText: Array(before.utf8))
        guard case .ready(let prepared) = preparation else { throw UnexpectedPreparation(preparation: preparation) }
        #expect(file.commit(prepared).replaced != nil)
        #expect(try sandbox.text() == after)
    }

    @Test(arguments: [0o600, 0o644, 0o400, 0o664, 0o755] as [UInt32])
    func modeIsKeptWhateverTheUmask(mode: UInt32) throws {
        try sandbox.write(before)
        try Files.changeMode(file.path, mode)
        if !Files.isWritable(file.path) { return }
        _ = try sandbox.replace(["a": .integer(2)])
        #expect(try Files.status(file.path).mode == mode)
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func ownerAndGroupAreKept() throws {
        try sandbox.write(before)
        try Files.open(file.path, .readOnly).changeOwner(uid: 1234, gid: 4321)
        _ = try sandbox.replace(["a": .integer(2)])
        let status = try Files.status(file.path)
        #expect(status.uid == 1234 && status.gid == 4321)
    }

    @Test func groupThatCannotBeKeptLosesItsPermissions() throws {
        try sandbox.write(before)
        var content = try #require(file.read().content)
        (content.gid, content.mode) = (54321, 0o664)
        let status = try FaultPlan.run([.init("fchown", times: 2, .fail(.notPermitted))]) {
            try Files.writeDurably([1], to: directory.file("x"), like: content)
        }
        #expect(status.mode == 0o644)
    }

    // R71
    @Test func r71LinkIsKeptAndItsTargetReplaced() throws {
        try Files.makeDirectory(directory.file("repo"))
        try directory.write("repo/settings.plist", before)
        try Files.symlink("link", at: file.path)
        try Files.symlink("repo/settings.plist", at: directory.file("link"))
        _ = try sandbox.replace(["a": .integer(2)])
        #expect(try Files.readLink(file.path) == "link")
        #expect(try Files.readLink(directory.file("link")) == "repo/settings.plist")
        #expect(try directory.read("repo/settings.plist") == after)
        #expect(try Files.list(directory.file("repo")) == ["settings.plist"])
    }

    @Test func longestNameOfALinkTargetStillHasTemporaries() throws {
        let name = String(repeating: "n", count: 255)
        try directory.write(name, before)
        try Files.symlink(name, at: file.path)
        _ = try sandbox.replace(["a": .integer(2)])
        #expect(try directory.read(name) == after)
    }

    // MARK: What is not written

    @Test func unexpectedContentIsReportedNotReplaced() throws {
        try sandbox.write(before)
        let reading = file.read()
        for expected in [nil, Digest(of: [1])] {
            #expect(file.prepare(["b": .integer(1)], expecting: expected) == .changed(reading))
        }
        try Files.unlink(file.path)
        #expect(file.prepare(["b": .integer(1)], expecting: reading.digest) == .changed(.absent))
    }

    @Test func damagedFileIsNeverReplaced() throws {
        let digest = try sandbox.write("garbage")
        let preparation = file.prepare(["b": .integer(1)], expecting: digest)
        #expect(preparation == .changed(file.read()))
        #expect(try sandbox.text() == "garbage")
    }

    // R03
    @Test(arguments: ["unlink", "open", "fchmod", "write", "fsync"])
    func r03PreparationThatFailsAtAnyCallLeavesTheOldFileAlone(call: String) throws {
        let digest = try sandbox.write(before)
        // The first opening is that of reading.
        let fault = FaultPlan.Fault(call, at: call == "open" ? 2 : 1, .fail(.noSpace))
        let preparation = FaultPlan.run([fault]) { file.prepare(["a": .integer(2)], expecting: digest) }
        guard case .failed(.system(let error)) = preparation else {
            throw UnexpectedPreparation(preparation: preparation)
        }
        #expect(error.errno == .noSpace)
        #expect(try sandbox.text() == before)
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test(arguments: [Errno.readOnlyFileSystem, .permissionDenied, .notPermitted])
    func r73DirectoryThatCannotBeWrittenMakesTheGroupReadOnly(errno: Errno) throws {
        let digest = try sandbox.write(before)
        let preparation = FaultPlan.run([.init("open", at: 2, .fail(errno))]) {
            file.prepare(["a": .integer(2)], expecting: digest)
        }
        guard case .failed(.readOnly(errno, _)) = preparation else {
            throw UnexpectedPreparation(preparation: preparation)
        }
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test func exchangeThatFailsLeavesTheOldFileAlone() throws {
        try sandbox.write(before)
        for (errno, isReadOnly) in [(Errno.noSpace, false), (.readOnlyFileSystem, true), (.inputOutput, false)] {
            try expectFailure(of: "exchange", errno, isReadOnly: isReadOnly)
            try expectFailure(of: "renameNoReplace", errno, isReadOnly: isReadOnly)
        }
    }

    private func expectFailure(of call: String, _ errno: Errno, isReadOnly: Bool) throws {
        let prepared = try sandbox.prepare(["a": .integer(2)])
        let commit = FaultPlan.run([.init(call, .fail(errno))]) { file.commit(prepared) }
        switch commit {
        case .failed(.readOnly): #expect(isReadOnly)
        case .failed(.system(let error)): #expect(!isReadOnly && error.errno == errno)
        default: Issue.record("\(commit)")
        }
        #expect(try sandbox.text() == before)
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test func abandonedPreparationLeavesNothing() throws {
        try sandbox.write(before)
        file.abandon(try sandbox.prepare(["a": .integer(2)]))
        #expect(sandbox.names == ["group.a.plist"])
    }

    @Test func ownTemporariesAreKnownByName() throws {
        try sandbox.write(before)
        _ = try sandbox.prepare(["a": .integer(2)])
        #expect(sandbox.names.filter(PlistFile.isOwnTemporary) == [".group.a.plist.appgroupd-new"])
        #expect(!PlistFile.isOwnTemporary("group.a.plist"))
    }
}
