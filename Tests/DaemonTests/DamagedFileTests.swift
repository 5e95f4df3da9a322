import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Unreadable is never empty")
struct DamagedFileTests {
    static let group = "group.com.example.app"

    struct Damage: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var condition: PlistCondition
        /// Makes it at a path, to take the place of the sound file.
        var make: @Sendable (String) throws -> Void
        /// Whether there is a text that must not be touched.
        var text: String?
    }

    static let damages = [
        Damage(
            testDescription: "garbage", condition: .damaged,
            make: { try Data("garbage".utf8).write(to: URL(filePath: $0)) },
            text: "garbage"),
        Damage(
            testDescription: "no bytes", condition: .damaged, make: { try Data().write(to: URL(filePath: $0)) },
            text: ""),
        Damage(
            testDescription: "half a file", condition: .damaged,
            make: { try Data(Plist.text(["a": "<integer>7</integer>"]).utf8.prefix(150)).write(to: URL(filePath: $0)) },
            text: String(Plist.text(["a": "<integer>7</integer>"]).prefix(150))),
        Damage(
            testDescription: "a directory in its place", condition: .unreachable,
            make: { try FileManager.default.createDirectory(atPath: $0, withIntermediateDirectories: false) }),
        Damage(
            testDescription: "a FIFO in its place", condition: .unreachable,
            make: { _ = unsafe mkfifo($0, 0o600) }),
        Damage(
            testDescription: "a socket in its place", condition: .unreachable,
            make: { path in
                // The path is too long for an address.
                let script = "import os, socket, sys; os.chdir(sys.argv[1]); socket.socket(1).bind(sys.argv[2])"
                let url = URL(filePath: path)
                _ = try ChildProcess.run(
                    "/usr/bin/python3", ["-c", script, url.deletingLastPathComponent().path, url.lastPathComponent])
            }),
        Damage(
            testDescription: "a link to a device that never ends", condition: .unreachable,
            make: { try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: "/dev/zero") }),
        Damage(
            testDescription: "a dangling link", condition: .unreachable,
            make: { try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: "/no/such/file") }),
        Damage(
            testDescription: "links in a circle", condition: .unreachable,
            make: { [group] in
                try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: "\(group).plist")
            }),
    ]

    @Test("an edit that is refused for a key is told with the line and column of its value")
    func refusedEdit() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let text = try Plist.read(daemon.plist(Self.group))
        let edited = text.replacing(
            "</dict>", with: "\t<key>b</key>\n\t<string>fine</string>\n\t<key>c</key> <string>\u{1}</string>\n</dict>")
        try Plist.replace(daemon.plist(Self.group), with: edited)
        #expect(try eventually { try peer.status(of: .example)?.plist == .damaged })
        let problem = try peer.status(of: .example)?.problem
        #expect(problem?.line == 9 && problem?.column == 15, "\(String(describing: problem))")
        #expect(problem?.reason.contains("U+0001") == true)
        #expect(try Plist.read(daemon.plist(Self.group)) == edited)
        try Plist.replace(daemon.plist(Self.group), with: edited.replacing("\u{1}", with: "sound"))
        #expect(try eventually { try peer.read(.example).values["c"] == .string("sound") })
    }

    @Test(
        "last good values are served, writes are kept, the file is left alone, and its mending merges",
        arguments: damages)
    func damage(_ damage: Damage) throws {
        let daemon = try RunningDaemon(configuration: ["PollIntervalSec=100ms"])
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try peer.write(.example, [.set("a", .integer(1)), .set("b", .integer(1))])
        try peer.synchronize()
        try Plist.exchange(path, damage.make)
        guard case .storageFailed(let reason, _)? = try peer.refusal(of: .synchronize(.example)) else {
            Issue.record("Synchronize did not say it")
            return
        }
        #expect(reason.contains(path) || reason.contains("/no/such/file") || reason.contains("/dev/zero"))
        let status = try #require(try peer.status(of: .example))
        #expect(status.plist == damage.condition)
        #expect(status.problem?.reason.isEmpty == false)
        #expect(try peer.read(.example).values == ["a": .integer(1), "b": .integer(1)])
        #expect(try peer.write(.example, [.set("a", .integer(2))], durable: true).position?.revision == 2)
        _ = try? peer.synchronize()
        if let text = damage.text { #expect(try Plist.read(path) == text) }
        // It survives a restart as well.
        try daemon.kill()
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(try again.read(.example).values == ["a": .integer(2), "b": .integer(1)])
        let watcher = try daemon.watcher(of: .example)
        let sound = Plist.text(["a": "<integer>1</integer>", "b": "<integer>3</integer>"])
        try Plist.exchange(path) { try Data(sound.utf8).write(to: URL(filePath: $0)) }
        let commit = try watcher.nextCommit()
        #expect(commit.changes == [Change(key: "b", old: .integer(1), new: .integer(3))])
        try again.synchronize()
        #expect(try again.status(of: .example)?.plist == .clean)
        #expect(try Plist.entries(path) == ["a": .integer(2), "b": .integer(3)])
    }

    @Test("the status says where, by line and column")
    func place() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try Plist.replace(path, with: Plist.text(["a": "<integer>x</integer>"]))
        _ = try peer.refusal(of: .synchronize(.example))
        let problem = try #require(try peer.status(of: .example)?.problem)
        #expect(problem.path == path)
        #expect(problem.line == 7)
        #expect(problem.column != nil)
        #expect(problem.advice != nil)
    }

    @Test("R09: where nothing was ever known, nothing is made up")
    func unknown() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try Plist.replace(path, with: "garbage")
        let requests: [Request] = [
            .synchronize(.example), .read(.example, keys: nil), .reset(.example, tag: nil),
            .write(WriteRequest(group: .example, edits: [.set("k", .integer(1))])),
        ]
        for request in requests {
            guard case .storageFailed(let reason, _)? = try peer.refusal(of: request) else {
                Issue.record("\(request) was served")
                continue
            }
            #expect(reason.contains(path))
        }
        #expect(try Plist.read(path) == "garbage")
        try Plist.replace(path, with: Plist.text(["k": "<true/>"]))
        try peer.synchronize()
        #expect(try peer.read(.example).values == ["k": .boolean(true)])
        try peer.write(.example, [.set("k", .integer(1))])
    }

    @Test("a damaged file that is deleted resets the group, after a start with it too", arguments: [false, true])
    func deleted(restarts: Bool) throws {
        let daemon = try RunningDaemon()
        var peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        try Plist.replace(daemon.plist(Self.group), with: "garbage")
        _ = try peer.refusal(of: .synchronize(.example))
        if restarts {
            try daemon.stop()
            try daemon.start()
            peer = try SettingsPeer(daemon)
        }
        let watcher = try daemon.watcher(of: .example)
        try Plist.remove(daemon.plist(Self.group))
        let commit = try watcher.nextCommit()
        #expect(commit.origin == .file)
        #expect(try peer.read(.example).values == [:])
        try peer.write(.example, [.set("b", .integer(1))])
        try peer.synchronize()
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["b": .integer(1)])
    }

    @Test("writes that were taken while a file was damaged get to the disk once it is gone, unasked")
    func damagedAfterReset() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        try Plist.remove(path)
        _ = try watcher.nextCommit()
        try Plist.replace(path, with: "garbage")
        _ = try peer.refusal(of: .synchronize(.example))
        try peer.write(.example, [.set("b", .integer(2))])
        try Plist.remove(path)
        #expect(eventually { (try? Plist.entries(path)) == ["b": .integer(2)] })
        #expect(try peer.read(.example).values == ["b": .integer(2)])
    }

    @Test("an edit past a cap is held like a damaged file, and told")
    func tooLargeEdit() throws {
        let daemon = try RunningDaemon(configuration: ["MaxValueSize=100"])
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.synchronize()
        let large = Plist.text(["a": "<string>\(String(repeating: "x", count: 200))</string>"])
        try Plist.replace(path, with: large)
        #expect(try peer.refusal(of: .synchronize(.example)) != nil)
        #expect(try peer.status(of: .example)?.plist == .damaged)
        #expect(try peer.read(.example).values == ["a": .integer(1)])
        #expect(try Plist.read(path) == large)
        try Plist.replace(path, with: Plist.text(["a": "<string>small</string>"]))
        try peer.synchronize()
        #expect(try peer.read(.example).values == ["a": .string("small")])
    }

    @Test("R13: one bad group harms no other")
    func others() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let other = GroupIdentifier(known: "group.other")
        try peer.create(other)
        try Plist.replace(daemon.plist(Self.group), with: "garbage")
        try peer.write(other, [.set("k", .integer(1))])
        try peer.synchronize(other)
        #expect(try peer.refusal(of: .synchronize(nil)) != nil)
        try daemon.stop()
        try daemon.start()
        #expect(try SettingsPeer(daemon).read(other).values == ["k": .integer(1)])
    }
}
