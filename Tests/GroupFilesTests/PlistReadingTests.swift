import Foundation
import LinuxIO
import PropertyList
import TestSupport
import Testing

@testable import GroupFiles

@Suite struct PlistReadingTests {
    private let sandbox: PlistSandbox
    private var directory: TemporaryDirectory { sandbox.directory }
    private var file: PlistFile { sandbox.file }

    init() throws {
        sandbox = try PlistSandbox()
    }

    @Test func contentComesWithWhatItIsRecognisedBy() throws {
        try sandbox.write(plist("a", 1))
        try Files.changeMode(file.path, 0o640)
        let content = try #require(file.read().content)
        #expect(content.entries == ["a": .integer(1)])
        #expect(content.format == .xml)
        #expect(content.bytes == Array(plist("a", 1).utf8))
        #expect(content.digest == Digest(of: content.bytes))
        #expect(content.identity == (try Files.status(file.path).identity))
        #expect(content.mode == 0o640)
        #expect(content.targetPath == file.path)
    }

    @Test func missingFileIsAbsentOnlyWhileItsDirectoryStands() throws {
        #expect(file.read() == .absent)
        let deeper = PlistFile(path: directory.file("Library/group.a.plist"))
        #expect(deeper.read().errno == .noSuchFile)
        try directory.write("Library", "")
        #expect(deeper.read().errno == .notDirectory)
    }

    // R06
    @Test(arguments: [
        "", "<plist><dict><key>a</key>", "{ \"a\": 1 }", "<plist version=\"1.0\"><array/></plist>", "bplist00garbage",
        "\0\0\0\0",
    ])
    func r06UnreadableIsDamagedNotEmpty(text: String) throws {
        let digest = try sandbox.write(text)
        let reading = file.read()
        #expect(reading.isDamaged)
        #expect(reading.digest == digest)
        #expect(reading.problem?.path == file.path)
    }

    @Test func damageHasAPlace() throws {
        try sandbox.write("<plist version=\"1.0\">\n<dict>\n  <key>a</key><integer>x</integer>\n</dict></plist>")
        let problem = try #require(file.read().problem)
        #expect(problem.line == 3)
        #expect(problem.column != nil && problem.advice != nil)
    }

    @Test func tooLargeAFileIsNotRead() throws {
        try sandbox.write(plist("a", 1))
        var small = file
        small.sizeLimit = 20
        #expect(small.read().isDamaged)
        let sparse = try Files.open(file.path, .writeOnly)
        try sparse.truncate(to: 1 << 40)
        #expect(file.read().isDamaged)
    }

    @Test func whatIsNoFileIsUnreachableAtOnce() throws {
        try Files.makeDirectory(file.path)
        #expect(file.read().errno == .isDirectory)
        try Files.removeDirectory(file.path)
        #expect(makeFIFO(file.path))
        #expect(file.read().errno == .invalidArgument)
        try Files.unlink(file.path)
        try Files.symlink("/dev/null", at: file.path)
        #expect(file.read().errno == .invalidArgument)
    }

    @Test(arguments: [Errno.permissionDenied, .inputOutput, .stale, .tooManyFiles])
    func fileThatCannotBeOpenedIsUnreachable(errno: Errno) throws {
        try sandbox.write(plist("a", 1))
        let reading = FaultPlan.run([.init("open", .fail(errno))]) { file.read() }
        #expect(reading.errno == errno)
        let blocked = FaultPlan.run([.init("stat", .fail(errno))]) { file.read() }
        #expect(blocked.errno == errno)
    }

    @Test func fileThatChangesWhileItIsReadIsReadAgain() throws {
        try sandbox.write(plist("a", 1))
        let sandbox = sandbox
        let reading = FaultPlan.run([.init("pread", .run { sandbox.overwrite(plist("longer", 22)) })]) { file.read() }
        #expect(reading.content?.entries == ["longer": .integer(22)])
        let replaced = FaultPlan.run([.init("open", .run { sandbox.save(plist("b", 3)) })]) { file.read() }
        #expect(replaced.content?.entries == ["b": .integer(3)])
    }

    @Test func theTextThatIsKnownIsNotReadAgain() throws {
        try sandbox.write(plist("a", 1))
        let known = try #require(file.read().digest)
        #expect(file.read(unless: known) == nil)
        #expect(file.read(unless: nil)?.content?.entries == ["a": .integer(1)])
        sandbox.save(plist("a", 2))
        #expect(file.read(unless: known)?.content?.entries == ["a": .integer(2)])
        sandbox.overwrite(plist("a", 1))
        #expect(file.read(unless: known) == nil)
        try Files.unlink(file.path)
        #expect(file.read(unless: known) == .absent)
    }

    // MARK: Links

    @Test func linksAreFollowedOneByOne() throws {
        try Files.makeDirectories(directory.file("repo/settings"))
        try Files.makeDirectory(directory.file("links"))
        try directory.write("repo/settings/a.plist", plist("a", 1))
        try Files.symlink("links/second", at: file.path)
        try Files.symlink("../repo/settings/third", at: directory.file("links/second"))
        try Files.symlink(directory.file("repo/settings/a.plist"), at: directory.file("repo/settings/third"))
        let resolution = file.resolve()
        #expect(resolution.linkCount == 3)
        #expect(resolution.target == directory.file("repo/settings/a.plist"))
        #expect(
            resolution.places.directories == [
                directory.path, directory.file("links"), directory.file("links/../repo/settings"),
                directory.file("repo/settings"),
            ])
        let ways = ["group.a.plist", "links", "second", "third", "a.plist", "repo", "settings"]
        #expect(ways.allSatisfy(resolution.places.names.contains), "\(resolution.places.names)")
        #expect(!resolution.places.names.contains("a.plist.tmp"))
        #expect(file.read().content?.targetPath == directory.file("repo/settings/a.plist"))
    }

    @Test func danglingAndCircularLinksAreUnreachable() throws {
        try Files.symlink("nowhere", at: file.path)
        #expect(file.resolve().outcome == .dangling)
        #expect(file.resolve().places.directories == [directory.path])
        #expect(file.read().errno == .noSuchFile)
        try Files.symlink("group.a.plist", at: directory.file("nowhere"))
        #expect(file.resolve().outcome == .looping)
        #expect(file.read().errno == .tooManySymlinks)
    }

    @Test func fortyLinksAreFollowedAndNoMore() throws {
        try directory.write("0", plist("a", 1))
        for number in 1...41 { try Files.symlink("\(number - 1)", at: directory.file("\(number)")) }
        #expect(PlistFile(path: directory.file("40")).read().content != nil)
        #expect(PlistFile(path: directory.file("41")).read().errno == .tooManySymlinks)
    }
}
