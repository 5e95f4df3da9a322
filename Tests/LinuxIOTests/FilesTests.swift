import Glibc
import LinuxIO
import ServiceIO
import TestSupport
import Testing

@Suite("Files")
struct FilesTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func exchangeSwapsTwoFiles() throws {
        try directory.write("a", "old")
        try directory.write("b", "new")
        let before = try Files.status(directory.file("a")).inode
        try Files.exchange(directory.file("a"), directory.file("b"))
        #expect(try directory.read("a") == "new")
        #expect(try directory.read("b") == "old")
        #expect(try Files.status(directory.file("b")).inode == before)
    }

    @Test func exchangeNeedsBoth() throws {
        let path = try directory.write("a", "old")
        #expect(throws: SystemError(errno: .noSuchFile, call: "exchange", path: path)) {
            try Files.exchange(path, directory.file("b"))
        }
    }

    @Test func namesAreRelativeToTheGivenDirectory() throws {
        try directory.write("a", "1")
        try directory.write("b", "2")
        let folder = try Files.openDirectory(directory.path)
        try Files.exchange("a", "b", relativeTo: folder.raw)
        #expect(try directory.read("a") == "2")
        try Files.rename("a", to: "c", relativeTo: folder.raw)
        #expect(try Files.open("c", .readOnly, relativeTo: folder.raw).readAll(limit: 9) == Array("2".utf8))
        try Files.unlink("c", relativeTo: folder.raw)
        #expect(try Files.statusIfPresent("c", relativeTo: folder.raw) == nil)
        #expect(try Files.list(directory.path) == ["b"])
    }

    @Test func renameNoReplaceSparesWhatIsThere() throws {
        let path = try directory.write("a", "1")
        try directory.write("b", "2")
        #expect(throws: SystemError(errno: .fileExists, call: "renameNoReplace", path: path)) {
            try Files.renameNoReplace(path, to: directory.file("b"))
        }
        try Files.renameNoReplace(path, to: directory.file("c"))
        #expect(try Set(Files.list(directory.path)) == ["b", "c"])
    }

    @Test(arguments: [UInt32(0o700), 0o755, 0o777])
    func directoriesGetExactlyTheirMode(mode: UInt32) throws {
        let path = directory.file("a/b//c")
        try Files.makeDirectories(path, mode: mode)
        try Files.makeDirectories(path, mode: 0o711)
        for part in ["a", "a/b", "a/b/c"] {
            #expect(try Files.status(directory.file(part)).mode == mode)
        }
    }

    @Test func aFileInTheWayOfADirectoryIsAnError() throws {
        try directory.write("a", "")
        #expect(throws: SystemError(errno: .notDirectory, call: "mkdir", path: directory.file("a"))) {
            try Files.makeDirectories(directory.file("a"))
        }
        #expect(throws: SystemError.self) { try Files.makeDirectories(directory.file("a/b")) }
    }

    @Test func linksAreSeenAndFollowed() throws {
        try directory.write("a", "1234")
        try Files.symlink("a", at: directory.file("link"))
        #expect(try Files.readLink(directory.file("link")) == "a")
        #expect(try Files.status(directory.file("link"), followLinks: false).kind == .symlink)
        let status = try Files.status(directory.file("link"))
        #expect(status.kind == .regular)
        #expect(status.size == 4)
        #expect(status.uid == getuid())
        try Files.link(directory.file("a"), to: directory.file("hard"))
        #expect(try Files.status(directory.file("a")).linkCount == 2)
    }

    @Test func aWriteChangesTheIdentity() throws {
        let path = try directory.write("a", "1")
        let before = try Files.status(path).identity
        #expect(try Files.status(path).identity == before)
        try directory.write("a", "22")
        #expect(try Files.status(path).identity != before)
    }

    @Test func aPipeInPlaceOfAFileDoesNotBlock() throws {
        let path = directory.file("fifo")
        let made = unsafe mkfifo(path, 0o600)
        #expect(made == 0)
        #expect(throws: SystemError(errno: .invalidArgument, call: "open", path: path)) {
            try Files.read(path, limit: 10)
        }
        #expect(throws: SystemError(errno: .isDirectory, call: "open", path: directory.path)) {
            _ = try Files.openRegular(directory.path)
        }
        #expect(throws: SystemError(errno: .invalidArgument, call: "open", path: "/dev/null")) {
            _ = try Files.openRegular("/dev/null")
        }
    }

    @Test func aNulInAPathIsRefused() throws {
        try directory.write("a", "1")
        let path = directory.file("a\0b")
        #expect(throws: SystemError(errno: .invalidArgument, call: "unlink", path: path)) { try Files.unlink(path) }
        #expect(throws: SystemError(errno: .invalidArgument, call: "stat", path: path)) { try Files.status(path) }
        #expect(directory.exists("a"))
    }

    @Test func absenceIsAnAnswer() throws {
        try directory.write("a", "")
        #expect(try Files.statusIfPresent(directory.file("b")) == nil)
        #expect(try Files.statusIfPresent(directory.file("a/b")) == nil)
        #expect(try !Files.unlinkIfPresent(directory.file("b")))
        #expect(try Files.unlinkIfPresent(directory.file("a")))
        #expect(throws: SystemError(errno: .noSuchFile, call: "open", path: directory.file("x"))) {
            try Files.list(directory.file("x"))
        }
    }

    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/a", "/", "a"), ("b", ".", "b"), ("/", "/", "/"), ("/a/b/", "/a", "b"),
        ("/a//b", "/a", "b"), ("a/b", "a", "b"), ("//a", "/", "a"),
    ])
    func pathsAreTakenApart(path: String, parent: String, last: String) {
        #expect(Files.parent(of: path) == parent)
        #expect(Files.lastComponent(of: path) == last)
    }

    @Test func theDirectoryIsLocal() throws {
        #expect(try !Files.isNetworkFileSystem("/proc"))
        try Files.fsyncDirectory(directory.path)
    }

    @Test func errorsSayWhatFailedWhereAndWhy() {
        let error = SystemError(errno: .noSuchFile, call: "open", path: "/a")
        #expect(error.description == "open /a: No such file or directory (ENOENT)")
        #expect(Errno(rawValue: 9999).description == "Unknown error (errno 9999)")
    }

    @Test func aDescriptorClosedByOthersTraps() async {
        await #expect(processExitsWith: .failure) {
            let file = try Files.open("/", [.readOnly, .directory])
            Glibc.close(file.rawValue)
            try file.fsync()
        }
    }
}

@Suite("Process facts")
struct ProcessFactsTests {
    @Test func clocksAdvance() {
        let (real, monotonic) = (ProcessFacts.realtimeMicroseconds(), ProcessFacts.monotonicMicroseconds())
        #expect(real > 1_700_000_000_000_000)
        #expect(ProcessFacts.monotonicMicroseconds() >= monotonic)
    }

    @Test func randomBytesDiffer() throws {
        #expect(try ProcessFacts.randomBytes(16) != ProcessFacts.randomBytes(16))
        #expect(try ProcessFacts.randomBytes(0) == [])
        #expect(try ProcessFacts.randomBytes(100_000).count == 100_000)
    }

    @Test func processesHaveNames() throws {
        #expect(ProcessFacts.name(ofProcess: getpid())?.isEmpty == false)
        #expect(ProcessFacts.name(ofProcess: .max) == nil)
        #expect(ProcessFacts.systemdUnit(ofProcess: .max) == nil)
        #expect(ProcessFacts.environment("PATH") != nil)
        #expect(ProcessFacts.environment("APPGROUP_NO_SUCH_VARIABLE") == nil)
        #expect(ProcessFacts.homeDirectory() != nil)
        #expect(!ProcessFacts.userName(geteuid()).isEmpty)
        #expect(ProcessFacts.userName(4_000_000_000) == "4000000000")
    }
}
