import Foundation
import TestSupport
import Testing
import Varlink

@Suite("A program with Foundation's UserDefaults, by appgroupctl link")
struct UserDefaultsTests {
    static let group = "group.com.example.app"

    private func path(_ daemon: RunningDaemon) -> String { daemon.directory.file("config/\(Self.group).plist") }

    @discardableResult
    private func link(_ daemon: RunningDaemon) throws -> ChildProcess.Outcome {
        let outcome = try daemon.control(["link", Self.group])
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path(daemon)) == daemon.plist(Self.group))
        return outcome
    }

    private func file(_ entries: String) -> String {
        "<plist version=\"1.0\"><dict>\(entries)</dict></plist>\n"
    }

    private func prepare(_ daemon: RunningDaemon, _ text: String) throws {
        try FileManager.default.createDirectory(
            atPath: daemon.directory.file("config"), withIntermediateDirectories: true)
        try text.write(toFile: path(daemon), atomically: true, encoding: .utf8)
    }

    @Test("what it synchronizes reaches a watcher, one commit of the file each time")
    func itsChangesAreSeen() throws {
        let daemon = try RunningDaemon()
        try link(daemon)
        let observer = try Observer(daemon, Self.group)
        let program = try FoundationProgram(Self.group, of: daemon)
        try program.tell("string theme dark")
        try program.tell("integer count 3")
        try program.synchronize()
        let both: JSONObject = ["theme": ["string": "dark"], "count": ["integer": 3]]
        #expect(try observer.next() == SeenCommit(revision: 1, kind: "file", changes: both))
        try program.tell("string theme light")
        try program.tell("remove count")
        try program.synchronize()
        let next: JSONObject = ["theme": ["string": "light"], "count": .null]
        #expect(try observer.next() == SeenCommit(revision: 2, kind: "file", changes: next))
    }

    @Test("what others write it sees at its next synchronize, and neither loses what the other wrote")
    func othersChangesAreSeen() throws {
        let daemon = try RunningDaemon()
        try link(daemon)
        let client = try SettingsClient(daemon)
        let program = try FoundationProgram(Self.group, of: daemon)
        try program.tell("string own mine")
        try program.synchronize()
        for number in 1...5 as ClosedRange<Int64> {
            try client.write(Self.group, [("theirs", ["integer": .integer(number)])])
            try client.synchronize(Self.group)
            try program.synchronize()
            #expect(try program.tell("get theirs") == "\(number)")
            #expect(try program.tell("get own") == "mine")
        }
        // Both at once: ours is in the journal and not yet in the file when it writes its own.
        let observer = try Observer(daemon, Self.group)
        try program.tell("string own new")
        try client.write(Self.group, [("theirs", ["integer": 6])])
        try program.synchronize()
        #expect(try observer.next().changes == ["theirs": ["integer": 6]])
        #expect(try observer.next().changes == ["own": ["string": "new"]])
        try client.synchronize(Self.group)
        try program.synchronize()
        #expect(try program.tell("get theirs") == "6")
        #expect(try client.read(Self.group).values == ["own": ["string": "new"], "theirs": ["integer": 6]])
    }

    /// Foundation reads the file, merges its own keys in and writes all of it. What the daemon puts into the file between
    /// the two is gone from what Foundation then saves, which looks like any other removal, and is one: a commit of the
    /// file that every observer sees. It happens now and then on a busy machine; never is a write lost without a word.
    @Test("both write all the time: every write of either stays, or is seen to be taken back by the file")
    func campaign() throws {
        let daemon = try RunningDaemon(configuration: ["ProjectionDelaySec=2ms", "HistoryCommits=100000"])
        try link(daemon)
        let program = try FoundationProgram(Self.group, of: daemon)
        let rounds = Int(ProcessInfo.processInfo.environment["APPGROUP_TEST_ROUNDS"] ?? "") ?? 150
        let writer = CampaignWriter(socket: daemon.socket, Self.group, rounds: rounds)
        for number in 0..<rounds {
            try program.tell("integer file\(number) \(number)")
            try program.synchronize()
        }
        writer.wait()
        let client = try SettingsClient(daemon)
        try client.synchronize(Self.group)
        let values = try client.read(Self.group).values
        for number in 0..<rounds {
            #expect(values["file\(number)"] == ["integer": .integer(Int64(number))])
        }
        let missing = (0..<rounds).map { "client\($0)" }.filter { values[$0] == nil }
        for key in missing { try expectOrigin("file", of: key, client) }
        print("of \(rounds) writes Foundation took back \(missing.count)")
    }

    @Test("while the daemon is away it works on, and what it saved is taken when the daemon is back")
    func withoutDaemon() throws {
        let daemon = try RunningDaemon()
        try link(daemon)
        let client = try SettingsClient(daemon)
        try client.write(Self.group, [("theirs", ["integer": 1])])
        let program = try FoundationProgram(Self.group, of: daemon)
        try client.synchronize(Self.group)
        #expect(try daemon.stop().code == 0)
        try program.tell("string own mine")
        try program.synchronize()
        #expect(try program.tell("get theirs") == "1")
        try daemon.start()
        let again = try SettingsClient(daemon)
        try again.synchronize(Self.group)
        let read = try again.read(Self.group)
        #expect(read.values == ["own": ["string": "mine"], "theirs": ["integer": 1]] && read.revision == 2)
        try expectOrigin("file", of: "own", again)
    }

    private func expectOrigin(_ kind: JSON, of key: String, _ client: SettingsClient) throws {
        let history = try client.call("History", ["group": .string(Self.group), "keys": [.string(key)], "limit": 1])
        let commit = try #require(history["commits"]?.arrayValue?.first?.objectValue)
        #expect(commit["origin"]?.objectValue?["kind"] == kind, "\(key): \(commit)")
    }

    @Test("a file that is there already is merged into the group, and kept beside the link")
    func existingFile() throws {
        let daemon = try RunningDaemon()
        let text = file("<key>theme</key><string>dark</string><key>size</key><real>12.5</real>")
        try prepare(daemon, text)
        let client = try SettingsClient(daemon)
        try client.call("CreateGroup", ["group": .string(Self.group)])
        try client.write(Self.group, [("theme", ["string": "light"]), ("ours", ["boolean": true])])
        let outcome = try link(daemon)
        // Where both know a key the program's value wins, and that is told.
        #expect(outcome.errors.contains(#"theme: "light" → "dark""#), "\(outcome.errors)")
        let merged: JSONObject = ["theme": ["string": "dark"], "size": ["real": 12.5], "ours": ["boolean": true]]
        #expect(try client.read(Self.group).values == merged)
        let names = try FileManager.default.contentsOfDirectory(atPath: daemon.directory.file("config"))
        let kept = try #require(names.first { $0.hasPrefix("\(Self.group).plist.before-link-") })
        #expect(try daemon.directory.read("config/\(kept)") == text)
        let program = try FoundationProgram(Self.group, of: daemon)
        #expect(try program.tell("get ours") == "true")
        #expect(try program.tell("get size") == "12.5")
    }

    @Test(
        "a damaged file is refused and left as it is", arguments: ["<plist><dict><key>theme</key>", "", "not a list"])
    func damagedFile(text: String) throws {
        let daemon = try RunningDaemon()
        try prepare(daemon, text)
        let outcome = try daemon.control(["link", Self.group])
        #expect(outcome.code == 1 && outcome.errors.contains(path(daemon)), "\(outcome)")
        #expect(try daemon.directory.read("config/\(Self.group).plist") == text)
        #expect((try? FileManager.default.destinationOfSymbolicLink(atPath: path(daemon))) == nil)
    }

    @Test(
        "what cannot be linked makes no group",
        arguments: ["mkdir $P", "echo nonsense >$P", "ln -s /nowhere $P", "mkfifo $P"])
    func nothingHalfDone(obstacle: String) throws {
        let daemon = try RunningDaemon()
        let prepared = try ChildProcess.run(
            "/bin/sh", ["-euc", "mkdir \"$D\"; \(obstacle)"],
            environment: ["D": daemon.directory.file("config"), "P": path(daemon)])
        #expect(prepared.code == 0)
        #expect(try daemon.control(["link", Self.group]).code == 1)
        #expect(try daemon.control(["link", Self.group, "--path", ""]).code == 64)
        #expect(try daemon.control(["link", Self.group, "--path", "/nowhere/file.plist"]).code == 1)
        #expect(try daemon.control(["list"]).output.isEmpty)
    }

    @Test("the group that link makes is told, and one of nearly the same name is asked about first")
    func mistypedName() throws {
        let daemon = try RunningDaemon()
        #expect(try link(daemon).errors == "appgroupctl: made the group \(Self.group)\n")
        let mistyped = "group.com.exmaple.app"
        let refused = try daemon.control(["link", mistyped])
        #expect(refused.code == 1 && refused.errors.contains(Self.group) && refused.errors.contains("--create"))
        #expect(try daemon.control(["list"]).output == "\(Self.group)\n")
        #expect(try daemon.control(["link", mistyped, "--create"]).code == 0)
    }

    @Test("a link that leads to the group by another way is its link, also before the group has a file")
    func relativeLink() throws {
        let daemon = try RunningDaemon()
        try SettingsClient(daemon).call("CreateGroup", ["group": .string(Self.group)])
        let way = "../root/\(Self.group)/Library/Preferences/\(Self.group).plist"
        try FileManager.default.createDirectory(
            atPath: daemon.directory.file("config"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: path(daemon), withDestinationPath: way)
        let outcome = try daemon.control(["link", Self.group])
        #expect(outcome.code == 0 && outcome.output.contains("already"), "\(outcome)")
        #expect(try daemon.control(["unlink", Self.group]).code == 0)
    }

    @Test("to link twice changes nothing")
    func twice() throws {
        let daemon = try RunningDaemon()
        try link(daemon)
        let client = try SettingsClient(daemon)
        try client.write(Self.group, [("theme", ["string": "dark"])])
        try link(daemon)
        #expect(try client.read(Self.group).revision == 1)
        let names = try FileManager.default.contentsOfDirectory(atPath: daemon.directory.file("config"))
        #expect(names == ["\(Self.group).plist"])
    }

    /// Foundation deletes the file of a suite that it has emptied (L09 of the notes on its behaviour), and the file is the
    /// link: the program is on its own from then on.
    @Test("when it removes its last key the link goes, the group stays, and to link again brings all together")
    func lastKey() throws {
        let daemon = try RunningDaemon()
        try link(daemon)
        let observer = try Observer(daemon, Self.group)
        let program = try FoundationProgram(Self.group, of: daemon)
        try program.tell("string theme dark")
        try program.synchronize()
        #expect(try observer.next().changes == ["theme": ["string": "dark"]])
        try program.tell("remove theme")
        try program.synchronize()
        #expect(!FileManager.default.fileExists(atPath: path(daemon)))
        let client = try SettingsClient(daemon)
        try client.synchronize(Self.group)
        #expect(try client.read(Self.group).values == ["theme": ["string": "dark"]])

        try program.tell("integer count 1")
        try program.synchronize()
        try link(daemon)
        #expect(try observer.next().changes == ["count": ["integer": 1]])
        try program.synchronize()
        #expect(try program.tell("get theme") == "dark" && program.tell("get count") == "1")
    }

    @Test("a group that others have emptied goes on being shared")
    func emptiedByOthers() throws {
        let daemon = try RunningDaemon()
        try link(daemon)
        let client = try SettingsClient(daemon)
        let observer = try Observer(daemon, Self.group)
        let program = try FoundationProgram(Self.group, of: daemon)
        try program.tell("string theme dark")
        try program.synchronize()
        #expect(try observer.next().revision == 1)
        try client.call("Reset", ["group": .string(Self.group)])
        try client.synchronize(Self.group)
        #expect(try observer.next().changes == ["theme": .null])
        try program.synchronize()
        #expect(try program.tell("get theme") == "nil")
        try program.tell("string theme light")
        try program.synchronize()
        #expect(try observer.next() == SeenCommit(revision: 3, kind: "file", changes: ["theme": ["string": "light"]]))
    }
}

/// Writes through the daemon on a thread of its own.
private final class CampaignWriter: Sendable {
    private let done = DispatchSemaphore(value: 0)

    init(socket: String, _ group: String, rounds: Int) {
        let thread = Thread { [done] in
            do {
                let client = try SettingsClient(socket: socket)
                for number in 0..<rounds {
                    try client.write(group, [("client\(number)", ["integer": .integer(Int64(number))])])
                    Thread.sleep(forTimeInterval: 0.003)
                }
            } catch {
                Issue.record("\(error)")
            }
            done.signal()
        }
        thread.start()
    }

    func wait() { done.wait() }
}
