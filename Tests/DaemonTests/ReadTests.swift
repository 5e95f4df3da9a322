import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Reading and history")
struct ReadTests {
    static let keys: [Key] = ["", "a", "a.b", "a.b.c", "a/b", "ab", "b*", "é", "e\u{301}", "@x y"]
    static let patterns: [(globs: [String]?, keys: Set<Key>)] = [
        (nil, Set(keys)),
        ([], []),
        (["*"], Set(keys)),
        (["a*"], ["a", "a.b", "a.b.c", "a/b", "ab"]),
        (["a.*"], ["a.b", "a.b.c"]),
        (["a?b"], ["a.b", "a/b"]),
        (["?"], ["a", "é"]),
        (["??"], ["ab", "b*", "e\u{301}"]),
        (["b\\*"], ["b*"]),
        (["é"], ["é"]),
        ([""], [""]),
        (["a", "ab", "nothing"], ["a", "ab"]),
    ]

    @Test("globs match whole keys, scalar by scalar", arguments: patterns)
    func globs(_ row: (globs: [String]?, keys: Set<Key>)) throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        for key in Self.keys { try peer.write(.example, [.set(key, .integer(1))]) }
        #expect(Set(try peer.read(.example, keys: row.globs).values.keys) == row.keys)
        #expect(Set(try peer.history(.example, keys: row.globs).flatMap(\.keys)) == row.keys)
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example, keys: row.globs)])
        #expect(Set(try watcher.snapshot().values.keys) == row.keys)
    }

    @Test("history is newest first, before is exclusive, and limits count what is given")
    func history() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        for number in 1...10 {
            try peer.write(.example, [.set(number % 2 == 0 ? "even" : "odd", .integer(Int64(number)))])
        }
        #expect(try peer.history(.example).map(\.revision) == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        #expect(try peer.history(.example, limit: 3).map(\.revision) == [10, 9, 8])
        #expect(try peer.history(.example, limit: 3, before: 8).map(\.revision) == [7, 6, 5])
        #expect(try peer.history(.example, keys: ["e*"], limit: 3).map(\.revision) == [10, 8, 6])
        #expect(try peer.history(.example, limit: 0) == [])
        #expect(try peer.history(.example, before: 1) == [])
        #expect(try peer.history(.example, before: 0) == [])
        #expect(try peer.history(.example, before: .min) == [])
        #expect(try peer.history(.example, before: .max).count == 10)
        try daemon.kill()
        try daemon.start()
        let again = try SettingsPeer(daemon).history(.example)
        #expect(again.map(\.revision) == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        #expect(again.last?.changes == [Change(key: "odd", old: nil, new: .integer(1))])
    }

    @Test("a commit of several keys is shown with those asked for only")
    func cut() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1)), .set("b", .integer(2))])
        #expect(try peer.history(.example, keys: ["b"]).map(\.keys) == [["b"]])
    }

    @Test("times are UTC with microseconds, and do not run backwards")
    func times() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        for number in 0..<5 { try peer.write(.example, [.set("k", .integer(Int64(number)))]) }
        let reply = try peer.call(.history(HistoryRequest(group: .example)))
        let texts = reply["commits"]?.arrayValue?.compactMap { $0.objectValue?["time"]?.stringValue } ?? []
        #expect(texts.count == 5)
        #expect(texts.allSatisfy { $0.utf8.count == 27 && $0.hasSuffix("Z") })
        #expect(texts == texts.sorted(by: >))
    }
}
