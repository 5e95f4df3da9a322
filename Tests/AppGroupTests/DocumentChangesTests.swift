import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

/// Live changes of documents: what others do is told, once and to the end, and nothing of one's own.
@Suite("Changes of documents", .timeLimit(.minutes(30))) struct DocumentChangesTests {
    typealias Change = SharedDocument<[Note]>.Change

    private static func json(_ titles: String...) -> String {
        "[" + titles.map { #"{"title":"\#($0)","done":false}"# }.joined(separator: ",") + "]"
    }

    /// The next changes up to one with these titles.
    private func see(_ titles: [String]?, _ changes: inout GroupDefaults.Updates<Change>.Iterator) async -> [Change] {
        var seen: [Change] = []
        while let change = await changes.next() {
            seen.append(change)
            if change.error == nil, change.content?.map(\.title) == titles { break }
        }
        return seen
    }

    @Test func `what one object saves another one is told`() async throws {
        let world = try DocumentWorld()
        let (a, b) = (try world.document(), try world.document())
        var changes = b.changes.makeAsyncIterator()
        try a.save([Note(title: "Milk")])
        #expect(await changes.next()?.content == [Note(title: "Milk")])
        try a.save([Note(title: "Milk"), Note(title: "Tea")])
        #expect(await see(["Milk", "Tea"], &changes).count == 1)
        // What came counts as read.
        try b.save([Note(title: "Tea")])
        #expect(try a.load() == [Note(title: "Tea")])
    }

    /// Ways in which programs save; each leaves the titles a, b.
    static let saves: [(name: String, script: String)] = [
        ("a shell's redirection", "printf '%s' '\(json("a", "b"))' > notes.json"),
        ("a temporary file and a rename", "printf '%s' '\(json("a", "b"))' > .n.tmp; mv .n.tmp notes.json"),
        (
            "vim: a backup by rename and a new file",
            "mv notes.json notes.json~; printf '%s' '\(json("a", "b"))' > notes.json; rm notes.json~"
        ),
        (
            "vim: a backup by copy, then in place",
            "cp notes.json notes.json~; printf '%s' '\(json("a", "b"))' > notes.json; rm notes.json~"
        ),
        (
            "a careless program, piece by piece",
            "printf '[' > notes.json; sleep 0.01; printf '%s' '\(json("a", "b"))' > notes.json"
        ),
        ("deletion and a new file", "rm notes.json; sleep 0.005; printf '%s' '\(json("a", "b"))' > notes.json"),
        (
            "python with os.replace",
            """
            python3 -c 'import os; open(".x", "w").write("\(json("a", "b").replacing("\"", with: "\\\""))"); \
            os.replace(".x", "notes.json")'
            """
        ),
    ]

    @Test(arguments: saves.indices)
    func `saves of other programs are told, none of their steps`(index: Int) async throws {
        // Long, since the steps of a shell take long on a busy machine.
        let world = try DocumentWorld(configuration: ["SettleSec=0.4"])
        let document = try world.document()
        try document.save([Note(title: "a")])
        var changes = document.changes.makeAsyncIterator()
        try world.shell(Self.saves[index].script)
        // The second look of the library comes sooner: on a machine that is busy enough it is half a file, and said so.
        let seen = await see(["a", "b"], &changes).filter { $0.error?.code != .damaged }
        #expect(seen.count == 1, "\(Self.saves[index].name): \(seen)")
    }

    @Test func `one's own saves are no news, and what others do in between is`() async throws {
        let world = try DocumentWorld()
        let (mine, other) = (try world.document(), try world.document())
        var changes = mine.changes.makeAsyncIterator()
        for number in 0..<50 { try mine.save([Note(title: "\(number)")]) }
        try other.update(default: []) { $0.append(Note(title: "other")) }
        let first = await changes.next()
        #expect(first?.content?.map(\.title) == ["49", "other"])
        // The same content as one of mine, by somebody else, after his: that is news.
        try mine.save([Note(title: "mine")])
        try world.write(Self.json("x"))
        #expect(await see(["x"], &changes).count == 1)
        let text = try mine.format.bytes(of: [Note(title: "mine")], "")
        try Data(text).write(to: URL(filePath: world.path()))
        #expect(await see(["mine"], &changes).count == 1)
    }

    @Test func `many rapid saves end with the last one`() async throws {
        let world = try DocumentWorld()
        let (writer, reader) = (try world.document(), try world.document())
        var changes = reader.changes.makeAsyncIterator()
        let task = Task.detached {
            for number in 0...500 { try writer.save([Note(title: "\(number)")]) }
        }
        let seen = await see(["500"], &changes)
        try await task.value
        #expect(seen.allSatisfy { $0.error == nil })
        let numbers = seen.compactMap { $0.content?.first?.title }.compactMap(Int.init)
        #expect(numbers == numbers.sorted())
        #expect(Set(numbers).count == numbers.count)
    }

    @Test func `deletion and a new file`() async throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        var changes = document.changes.makeAsyncIterator()
        try world.shell("rm notes.json")
        #expect(await changes.next()?.isDeletion == true)
        // The deletion counts as read.
        try document.save([Note(title: "b")])
        try world.write(Self.json("c"))
        #expect(await see(["c"], &changes).count == 1)
        try world.shell("rm -r ../Documents")
        #expect(await changes.next()?.isDeletion == true)
        try FileManager.default.createDirectory(atPath: world.documents, withIntermediateDirectories: false)
        try world.write(Self.json("d"))
        #expect(await see(["d"], &changes).count == 1)
    }

    @Test func `a damaged file is told with its reason, and its repair too`() async throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        var changes = document.changes.makeAsyncIterator()
        try world.write("[{\"title\": ")
        let change = await changes.next()
        #expect(change?.error?.code == .damaged)
        #expect(change?.content == nil)
        #expect(change?.isDeletion == false)
        let error = #expect(throws: AppGroupError.self) { try document.save([Note(title: "b")]) }
        #expect(error?.code == .conflict)
        try world.write(Self.json("repaired"))
        #expect(await see(["repaired"], &changes).count == 1)
        try document.save([Note(title: "b")])
    }

    @Test func `what changed since the last load comes first`() async throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        try world.write(Self.json("b"))
        let changes = document.changes.makeAsyncIterator()
        #expect(await changes.next()?.content?.map(\.title) == ["b"])
    }

    @Test func `contents begin with the present one`() async throws {
        let world = try DocumentWorld()
        let document = try world.document()
        let contents = document.contents.makeAsyncIterator()
        #expect(await contents.next() == .some(nil))
        try world.write(Self.json("a"))
        #expect(await contents.next() == .some([Note(title: "a")]))
        try world.write("damaged")
        try world.write(Self.json("b"))
        #expect(await contents.next() == .some([Note(title: "b")]))
    }

    @Test func `nested documents, and those behind links`() async throws {
        let world = try DocumentWorld()
        let nested = try world.document("drafts/2026/today.json")
        var changes = nested.changes.makeAsyncIterator()
        try world.shell("mkdir -p drafts/2026; printf '%s' '\(Self.json("deep"))' > drafts/2026/today.json")
        #expect(await see(["deep"], &changes).count == 1)
        try world.shell("mkdir ../dot; printf '%s' '\(Self.json("1"))' > ../dot/n; ln -s ../dot/n linked.json")
        let linked = try world.document("linked.json")
        #expect(try linked.load() == [Note(title: "1")])
        var others = linked.changes.makeAsyncIterator()
        try world.shell("printf '%s' '\(Self.json("2"))' > ../dot/.n; mv ../dot/.n ../dot/n")
        #expect(await see(["2"], &others).count == 1)
    }

    @Test func `kills and restarts of the daemon hide no change`() async throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "0")])
        var changes = document.changes.makeAsyncIterator()
        for round in 1...10 {
            try world.daemon.kill()
            // While nobody looks; the same object saves meanwhile, too.
            if round % 2 == 0 { try document.save([Note(title: "own \(round)")]) }
            try world.write(Self.json("away \(round)"))
            try world.daemon.start()
            #expect(await see(["away \(round)"], &changes).count == 1)
            try world.write(Self.json("back \(round)"))
            #expect(await see(["back \(round)"], &changes).count == 1)
        }
    }

    @Test func `a group that is deleted and made again`() async throws {
        let world = try DocumentWorld()
        let document = try world.document()
        try document.save([Note(title: "a")])
        var changes = document.changes.makeAsyncIterator()
        _ = try world.daemon.peer().call(
            #"{"method":"io.appgroupd.Settings.DeleteGroup","parameters":{"group":"group.com.example.app"}}"#)
        #expect(await changes.next()?.isDeletion == true)
        _ = try world.daemon.peer().call(
            #"{"method":"io.appgroupd.Settings.CreateGroup","parameters":{"group":"group.com.example.app"}}"#)
        try world.write(Self.json("b"))
        #expect(await see(["b"], &changes).count == 1)
    }

    @Test func `callbacks may load, save and cancel, and a cancelled one is not called`() async throws {
        let world = try DocumentWorld()
        let (mine, other) = (try world.document(), try world.document())
        let seen = Mutex<[String]>([])
        let once = Once()
        let token = mine.observe { change in
            seen.withLock { $0.append(change.content?.first?.title ?? "nothing") }
            // An answer to a change that is no change itself.
            try? mine.save((change.content ?? []) + [Note(title: "answered")])
            once.finish()
        }
        try other.save([Note(title: "asked")])
        await once.wait()
        var changes = other.changes.makeAsyncIterator()
        #expect(await see(["asked", "answered"], &changes).count <= 1)
        #expect(seen.withLock { $0 } == ["asked"])
        token.cancel()
        _ = try other.load()
        try other.save([Note(title: "unheard")])
        var later = mine.changes.makeAsyncIterator()
        _ = await see(["unheard"], &later)
        #expect(seen.withLock { $0 } == ["asked"])
    }

    @Test func `a cancelled task ends its loop, and the connection ends with the last observer`() async throws {
        let world = try DocumentWorld()
        let document = try world.document()
        for _ in 0..<50 {
            let task = Task {
                for await _ in document.changes {}
                return true
            }
            task.cancel()
            #expect(await task.value)
        }
        func clients() throws -> String? {
            let reply = try world.daemon.peer().call(#"{"method":"io.appgroupd.Settings.Status"}"#)
            return "\(reply)".contains("\"watches\":0") ? "none" : "\(reply)"
        }
        #expect(try eventually { try clients() == "none" })
        #expect(document.state.withLock { $0.observers.isEmpty })
    }
}
