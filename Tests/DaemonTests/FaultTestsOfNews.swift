import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// Faults that people reported of other stores: a change is not told, told wrongly, or told too often.
@Suite("Faults: changes are not seen")
struct FaultTestsOfNews {
    static let group = "group.com.example.app"

    @Test("R22: every subscriber in every process is told of a change by any other")
    func r22() throws {
        let daemon = try RunningDaemon()
        try daemon.peer(with: .example).write(.example, [.set("k", .string("old"))])
        let watchers = try (0..<10).map { _ in try daemon.watcher(of: .example) }
        let tool = try daemon.startControl(["watch", Self.group, "--json", "--count", "1"])
        #expect(try eventually { try SettingsPeer(daemon).status()?.watches == 11 })
        let outcome = try daemon.control(["write", Self.group, "k", "-string", "new"])
        #expect(outcome.code == 0, "\(outcome)")
        for watcher in watchers {
            let commit = try watcher.nextCommit()
            #expect(commit.changes == [Change(key: "k", old: .string("old"), new: .string("new"))])
            #expect(commit.origin.client == "appgroupctl")
        }
        #expect(try tool.finish().output.contains("\"new\""))
    }

    static let keys: [Key] = [
        "com.example.key", "a.b.c", "@sum", "a/b", " ", "two words", "caf\u{E9}", "cafe\u{301}", "", "\u{1F600}", "-x",
        "*", "?", "[a]", "\\", "a=b", "<&>", "\"", "é.ü@/ x", "k\r\n", "\u{FEFF}x",
    ]

    @Test("R23: every key can be observed, whatever is in it")
    func r23() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let all = try daemon.watcher(of: .example)
        for key in Self.keys {
            let glob = key.string.map { "*?\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
            let watcher = try daemon.watcher(of: .example, keys: [glob])
            try peer.write(.example, [.set(key, .integer(1))])
            #expect(try watcher.nextCommit().keys == [key])
            #expect(try all.nextCommit().keys == [key])
            #expect(try peer.read(.example, keys: [glob]).values == [key: .integer(1)])
        }
        try peer.synchronize()
        let path = daemon.plist(Self.group)
        #expect(Set(try Plist.entries(path).keys) == Set(Self.keys))
        #expect(Self.keys.count == Set(Self.keys).count)
        // And by a save of the file: each key once, byte for byte.
        try Plist.replace(path, with: Plist.read(path).replacingOccurrences(of: "<integer>1<", with: "<integer>2<"))
        #expect(Set(try all.nextCommit().keys) == Set(Self.keys))
        try daemon.kill()
        try daemon.start()
        #expect(
            try SettingsPeer(daemon).read(.example).values
                == Dictionary(uniqueKeysWithValues: Self.keys.map { ($0, .integer(2)) }))
    }

    @Test("R24, R86: any number of saves by temporary file and rename are seen, the daemon's own in between")
    func r24() throws {
        // However long the name is missing on a busy machine: no moment of it counts as a deletion.
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"])
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try peer.write(.example, [.set("n", .integer(0))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        for number in 1...20 {
            // As vim does: the old file becomes the backup, a new one comes into its place.
            if number % 2 == 0 { try Plist.move(path, to: path + "~") }
            let text = try Plist.read(number % 2 == 0 ? path + "~" : path)
            let old = "<key>n</key>\n\t<integer>\(2 * number - 2)<"
            #expect(text.contains(old))
            let saved = text.replacingOccurrences(of: old, with: "<key>n</key>\n\t<integer>\(2 * number - 1)<")
            try Plist.replace(path, with: saved)
            let commit = try watcher.nextCommit()
            #expect(commit.origin == .file)
            #expect(commit.keys == ["n"])
            try peer.write(.example, [.set("n", .integer(Int64(2 * number)))])
            #expect(try watcher.nextCommit().origin.kind == .client)
            try peer.synchronize()
        }
    }

    @Test("R38: no change falls between subscribing and the first reply")
    func r38() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        for round in 0..<30 {
            let watcher = try SettingsPeer(daemon)
            let base = Int64(round * 11)
            _ = try watcher.groups()
            // A daemon that was stopped meanwhile finds all of it at once, in one turn of its loop, and what was sent
            // first comes first.
            let isStopped = round % 3 > 0
            if isStopped { daemon.process?.kill(SIGSTOP) }
            for step in 0...10 {
                if step == (round % 3 == 1 ? 0 : 5) { try watcher.watch([WatchedGroup(group: .example)]) }
                guard step > 0 else { continue }
                try peer.send(.write(WriteRequest(group: .example, edits: [.set("n", .integer(base + Int64(step)))])))
            }
            if isStopped { daemon.process?.kill(SIGCONT) }
            let snapshot = try watcher.snapshot()
            var revision = snapshot.position.revision
            #expect(revision == 0 || snapshot.values == ["n": .integer(revision)])
            while revision < base + 10 {
                let commit = try watcher.nextCommit()
                #expect(commit.revision == revision + 1)
                #expect(commit.changes.first?.new == .integer(commit.revision))
                revision = commit.revision
            }
            for _ in 1...10 { _ = try peer.checked(peer.receive()) }
            // Nothing of that is told twice: the next that comes is the next that happens.
            try peer.write(.example, [.set("n", .integer(base + 11))])
            #expect(try watcher.nextCommit().revision == base + 11)
        }
    }

    @Test("R43: an observer that writes what it sees ends in peace, and knows its own echo")
    func r43() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let watcher = try daemon.watcher(of: .example)
        let writer = try SettingsPeer(daemon)
        try peer.write(.example, [.set("k", .integer(1))])
        var seen: [Commit] = []
        // The callback of the fault: at each change it sets another key, and the same one again.
        for _ in 0..<2 {
            let commit = try watcher.nextCommit()
            seen.append(commit)
            let changed = try writer.write(
                .example, [.set("k", .integer(1)), .set("seen", .boolean(true))], tag: "echo"
            ).changed
            #expect(changed == (seen.count == 1 ? ["seen"] : []))
        }
        #expect(seen.map(\.origin.tag) == [nil, "echo"])
        try peer.write(.example, [.set("end", .integer(1))])
        #expect(try watcher.nextCommit().keys == ["end"])
        #expect(try peer.read(.example).position?.revision == 3)
    }

    @Test("R45: writing what is there already is no commit, no event and no write to the disk")
    func r45() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let value = Value.dictionary(["a": .array([.real(1), .integer(1), .boolean(true)])])
        try peer.write(.example, [.set("k", value), .set("flag", .boolean(true)), .set("n", .integer(5))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        let (plist, journal) = (Plist.identity(daemon.plist(Self.group)), Plist.identity(daemon.journal(Self.group)))
        let writes: [[Edit]] = [
            [.set("k", value)], [.remove("absent")], [],
            [Edit(key: "flag", operation: .toggle, value: nil), Edit(key: "flag", operation: .toggle, value: nil)],
            [Edit(key: "n", operation: .increment, value: .integer(0))],
            [Edit(key: "k", operation: .merge, value: .dictionary([:]))],
            [.set("x", .integer(1)), .remove("x")],
        ]
        for edits in writes {
            let reply = try peer.write(.example, edits)
            #expect(reply.changed == [])
            #expect(reply.position?.revision == 1)
        }
        try peer.synchronize()
        // The same settings saved by somebody, as another text: theirs to keep, and no change.
        let text = try Plist.read(daemon.plist(Self.group))
        #expect(Plist.identity(daemon.plist(Self.group)) == plist)
        #expect(Plist.identity(daemon.journal(Self.group)) == journal)
        try Plist.replace(daemon.plist(Self.group), with: text + "<!-- mine -->\n")
        try peer.synchronize()
        #expect(try Plist.read(daemon.plist(Self.group)) == text + "<!-- mine -->\n")
        // 1, 1.0 and true are three values: that is a change.
        #expect(try peer.write(.example, [.set("n", .real(5))]).changed == ["n"])
        #expect(try watcher.nextCommit().revision == 2)
    }
}
