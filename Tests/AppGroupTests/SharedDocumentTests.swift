import Foundation
import GroupClient
import GroupModel
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

/// What the documents of these tests hold.
struct Note: Codable, Equatable, Sendable {
    var title: String
    var done = false
}

/// A daemon and a group's directory. Used by one test.
struct DocumentWorld {
    let daemon: RunningDaemon
    let container: GroupContainer

    init(configuration: [String] = []) throws {
        daemon = try RunningDaemon(configuration: configuration)
        container = try GroupContainer(
            suiteName: "group.com.example.app", within: 20 * timeoutScale, DaemonAddress(path: daemon.socket))
    }

    var documents: String { "\(daemon.root)/group.com.example.app/Documents" }

    func path(_ name: String = "notes.json") -> String { "\(documents)/\(name)" }

    /// Each has a memory of its own, as if it were in another process.
    func document(_ name: String = "notes.json") throws -> SharedDocument<[Note]> {
        try SharedDocument(name, in: container)
    }

    /// What a program of its own does in the directory.
    func shell(_ script: String) throws {
        let outcome = try ChildProcess.run("/bin/sh", ["-e", "-c", "cd '\(documents)'\n" + script])
        try #require(outcome.code == 0, "\(outcome.errors)")
    }

    func write(_ text: String, to name: String = "notes.json") throws {
        try Data(text.utf8).write(to: URL(filePath: path(name)))
    }

    /// The names in the directory, temporary ones too.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: documents).sorted() }
    }
}

@Suite("Documents") struct SharedDocumentTests {
    @Test func `a document is nil before it is saved and comes back after`() throws {
        let world = try DocumentWorld()
        let document = try world.document()
        #expect(try document.load() == nil)
        try document.save([Note(title: "Milk"), Note(title: "Tea/Coffee \u{1F600}", done: true)])
        let other = try world.document()
        #expect(try other.load() == [Note(title: "Milk"), Note(title: "Tea/Coffee \u{1F600}", done: true)])
        #expect(try world.names == ["notes.json"])
        let text = try String(contentsOfFile: world.path(), encoding: .utf8)
        #expect(text.contains("\"title\" : \"Tea/Coffee \u{1F600}\""))
        #expect(document.url.path(percentEncoded: false) == world.path())
    }

    static let badNames = [
        "", "/", "/etc/passwd", "..", "../x", "a/../b", ".", "./a", "a//b", "a/", ".hidden", "a/.b", "a\u{0}b",
        String(repeating: "x", count: 5000),
    ]

    @Test(arguments: badNames)
    func `a name that leads elsewhere is refused`(name: String) throws {
        let world = try DocumentWorld()
        let error = #expect(throws: AppGroupError.self) { try world.document(name) }
        #expect(error?.code == .invalidPath)
    }

    @Test func `directories on the way are made`() throws {
        let world = try DocumentWorld()
        let document = try world.document("drafts/2026/today.json")
        #expect(try document.load() == nil)
        try document.save([Note(title: "a")])
        #expect(try world.document("drafts/2026/today.json").load() == [Note(title: "a")])
    }

    // MARK: Conflicts

    @Test func `what somebody else saved since is not overwritten`() throws {
        let world = try DocumentWorld()
        let (a, b) = (try world.document(), try world.document())
        try a.save([Note(title: "a")])
        #expect(throws: AppGroupError.self) { try b.save([Note(title: "never read")]) }
        _ = try b.load()
        try b.save([Note(title: "b")])
        let error = #expect(throws: AppGroupError.self) { try a.save([Note(title: "a again")]) }
        #expect(error?.code == .conflict)
        #expect(try b.load() == [Note(title: "b")])
        try a.save([Note(title: "a by force")], overwriting: true)
        #expect(try b.load() == [Note(title: "a by force")])
        try b.save([Note(title: "b after loading")])
        #expect(try world.names == ["notes.json"])
    }

    @Test func `a deletion is a conflict, and a file that is there again with the same content is none`() throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        try world.shell("rm notes.json")
        let error = #expect(throws: AppGroupError.self) { try document.save([Note(title: "b")]) }
        #expect(error?.code == .conflict)
        #expect(try document.load() == nil)
        try document.save([Note(title: "b")])
        try world.shell("cp notes.json copy; rm notes.json; mv copy notes.json; touch -d yesterday notes.json")
        try document.save([Note(title: "c")])
        #expect(try document.load() == [Note(title: "c")])
    }

    @Test func `an edit within the clock's grain is a conflict`() throws {
        let world = try DocumentWorld()
        let document = try world.document()
        for _ in 0..<50 {
            try document.save([Note(title: "a")], overwriting: true)
            // As long, in place, at once: only the content tells.
            let handle = try #require(FileHandle(forUpdatingAtPath: world.path()))
            try handle.seek(toOffset: 0)
            try handle.write(contentsOf: Data("{".utf8))
            try handle.close()
            let error = #expect(throws: AppGroupError.self) { try document.save([Note(title: "b")]) }
            #expect(error?.code == .conflict)
        }
    }

    @Test func `updates by many threads and objects lose nothing`() async throws {
        let world = try DocumentWorld()
        let documents = try (0..<4).map { _ in try world.document() }
        try await withThrowingTaskGroup { group in
            for number in 0..<8 {
                let document = documents[number % 4]
                group.addTask {
                    for round in 0..<25 {
                        try document.update(default: []) { $0.append(Note(title: "\(number).\(round)")) }
                    }
                }
            }
            try await group.waitForAll()
        }
        let titles = try #require(try world.document().load()).map(\.title)
        #expect(titles.count == 200)
        #expect(Set(titles).count == 200)
        #expect(try world.names == ["notes.json"])
    }

    @Test func `updates of this process and of a careful other program lose nothing`() async throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([])
        let script = """
            import fcntl, json, os
            directory = os.open(".", os.O_RDONLY)
            for number in range(100):
                fcntl.flock(directory, fcntl.LOCK_EX)
                notes = json.load(open("notes.json"))
                notes.append({"title": f"p{number}", "done": False})
                with open(".notes.tmp", "w") as file: json.dump(notes, file)
                os.rename(".notes.tmp", "notes.json")
                fcntl.flock(directory, fcntl.LOCK_UN)
            """
        try world.write(script, to: "writer.py")
        let child = try ChildProcess("/bin/sh", ["-c", "cd '\(world.documents)' && exec python3 writer.py"])
        for number in 0..<100 { try document.update(default: []) { $0.append(Note(title: "s\(number)")) } }
        let outcome = try child.finish()
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(try document.load()?.count == 200)
    }

    @Test func `what an update throws, or leaves nil, changes nothing`() throws {
        struct Refusal: Error {}
        let world = try DocumentWorld()
        let document = try world.document()
        try document.update { _ in }
        #expect(try world.names == [])
        try document.save([Note(title: "a")])
        #expect(throws: Refusal.self) {
            try document.update { notes in
                notes = []
                throw Refusal()
            }
        }
        #expect(try document.load() == [Note(title: "a")])
        let count = try document.update { notes in
            notes?.append(Note(title: "b"))
            return notes?.count
        }
        #expect(count == 2)
    }

    // MARK: Damage

    static let damages: [(text: String, reason: String)] = [
        ("", "empty"), ("[{\"title\": \"a\"", "damaged"), ("[{\"title\": 1, \"done\": false}]", "[0].title"),
        ("{}", "damaged"), ("[{\"done\": false}]", "title"),
    ]

    @Test(arguments: damages)
    func `a damaged file is no empty one, and stays as it is`(damage: (text: String, reason: String)) throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "good")])
        try world.write(damage.text)
        let error = #expect(throws: AppGroupError.self) { try document.load() }
        #expect(error?.code == .damaged)
        #expect(error?.description.contains(damage.reason) == true, "\(String(describing: error))")
        #expect(throws: AppGroupError.self) { try document.save([]) }
        #expect(throws: AppGroupError.self) { try document.update(default: []) { $0 = [] } }
        #expect(try String(contentsOfFile: world.path(), encoding: .utf8) == damage.text)
        try document.save([], overwriting: true)
        #expect(try document.load() == [])
    }

    @Test func `what is no file is an error and nothing waits for it`() throws {
        let world = try DocumentWorld()
        try world.shell("mkfifo notes.json; mkdir directory")
        for name in ["notes.json", "directory"] {
            let error = #expect(throws: AppGroupError.self) { try world.document(name).load() }
            #expect(error?.code == .storageFailed)
        }
    }

    // MARK: The file

    @Test func `mode and links are kept, a new file is for the user alone`() throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        func mode(_ name: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: world.path(name))[.posixPermissions] as? Int
        }
        #expect(try mode("notes.json") == 0o600)
        try world.shell("mkdir ../real; mv notes.json ../real/n; chmod 640 ../real/n; ln -s ../real/n notes.json")
        try document.save([Note(title: "b")])
        #expect(try mode("../real/n") == 0o640)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: world.path()) == "../real/n")
        #expect(try world.document().load() == [Note(title: "b")])
        #expect(try FileManager.default.contentsOfDirectory(atPath: world.path("../real")) == ["n"])
    }

    @Test func `the same content is not written again`() throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        let before = try FileManager.default.attributesOfItem(atPath: world.path())[.systemFileNumber] as? Int
        try document.save([Note(title: "a")])
        #expect(try FileManager.default.attributesOfItem(atPath: world.path())[.systemFileNumber] as? Int == before)
    }

    @Test func `other formats`() throws {
        let world = try DocumentWorld()
        let list = try SharedDocument<[Note]>("notes.plist", in: world.container, format: .propertyList)
        try list.save([Note(title: "a")])
        #expect(try String(contentsOfFile: world.path("notes.plist"), encoding: .utf8).contains("<string>a</string>"))
        #expect(try list.load() == [Note(title: "a")])
        let lines = try SharedDocument<[String]>(
            "lines.txt", in: world.container,
            format: DocumentFormat {
                Data(($0.joined(separator: "\n") + "\n").utf8)
            } decode: {
                String(decoding: $0, as: UTF8.self).split(separator: "\n").map(String.init)
            })
        try lines.save(["one", "two"])
        #expect(try String(contentsOfFile: world.path("lines.txt"), encoding: .utf8) == "one\ntwo\n")
        #expect(try lines.load() == ["one", "two"])
    }
}

@Suite("Containers") struct GroupContainerDocumentTests {
    @Test func `the daemon says where a group's directories are`() async throws {
        let world = try DocumentWorld()
        let root = "\(world.daemon.root)/group.com.example.app/"
        let container = world.container
        #expect(container.containerURL.path(percentEncoded: false) == root)
        #expect(container.documentsURL.path(percentEncoded: false) == root + "Documents/")
        #expect(container.cachesURL.path(percentEncoded: false) == root + "Library/Caches/")
        #expect(container.applicationSupportURL.path(percentEncoded: false) == root + "Library/Application Support/")
        for url in [container.documentsURL, container.cachesURL, container.applicationSupportURL] {
            #expect(FileManager.default.fileExists(atPath: url.path(percentEncoded: false)))
        }
    }

    @Test func `without a daemon there is an error, or the answer of before`() throws {
        let world = try DocumentWorld()
        let document = try world.document()
        let address = DaemonAddress(path: world.daemon.socket)
        try world.daemon.kill()
        let again = try GroupContainer(suiteName: "group.com.example.app", within: 1, address)
        #expect(again.containerURL == world.container.containerURL)
        try document.save([Note(title: "a")])
        #expect(try SharedDocument<[Note]>("notes.json", in: again).load() == [Note(title: "a")])
        let error = #expect(throws: AppGroupError.self) {
            try GroupContainer(suiteName: "group.never.seen", within: 1, address)
        }
        #expect(error?.code == .unreachable)
    }

    @Test func `a bad name is told without a daemon`() {
        let error = #expect(throws: AppGroupError.self) {
            try GroupContainer(suiteName: "../etc", within: 1, DaemonAddress(path: "/nonexistent/socket"))
        }
        #expect(error?.code == .invalidGroup)
    }
}
