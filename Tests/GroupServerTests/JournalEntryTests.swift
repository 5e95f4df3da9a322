import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

@testable import GroupServer

/// A group's journal as the daemon writes and reads it: entries, replay, compaction.
@Suite struct JournalEntryTests {
    private func group() throws -> GroupIdentifier { try GroupIdentifier("group.com.example.app") }
    private let epoch = Epoch(high: 1, low: 2)

    private func commit(_ revision: Int64, _ changes: [Change]) throws -> Commit {
        Commit(
            group: try group(), revision: revision, time: Timestamp(microseconds: revision * 1_000_001),
            origin: Origin(kind: .client, client: "t", processId: 1), changes: changes)
    }

    private func replay(_ entries: [JournalEntry]) throws -> Replay {
        let header = JournalEntry.header(group: try group().string, epoch: epoch).encoded
        var replay = try Replay(try group(), header: header)
        for (offset, entry) in entries.enumerated() { try replay.add(entry.encoded, at: UInt64(offset)) }
        try replay.end()
        return replay
    }

    @Test func `a replay gives state, index and what the plist holds`() throws {
        let digest = Digest(of: Array("a".utf8))
        let replay = try replay([
            .commit(try commit(1, [Change(key: "a", old: nil, new: .integer(1))])),
            .projection(digest: digest),
            .plist(digest: digest, differences: [:]),
            .commit(
                try commit(
                    2, [Change(key: "a", old: .integer(1), new: nil), Change(key: "b", old: nil, new: .real(1))])),
        ])
        #expect(replay.state.position == Position(epoch: epoch, revision: 2))
        #expect(replay.state.values == ["b": .real(1)])
        #expect(replay.commits.map(\.offset) == [0, 3])
        #expect(replay.knownDigest == digest)
        #expect(replay.base.differences == ["a": .integer(1), "b": nil])
        // Somebody took a away and put c in: a is gone from the group already, so only c is new.
        let edits = replay.base.edits(from: ["c": .boolean(true)], in: .xml, ours: replay.state)
        #expect(edits == [.remove("a"), .set("c", .boolean(true))])
    }

    /// The text that is about to be the file was made a little earlier: what the group got meanwhile is not in it.
    @Test func `a projection that may have happened does not hold what changed while it was made`() throws {
        let digest = Digest(of: Array("a".utf8))
        let replay = try replay([
            .plist(digest: digest, differences: [:]),
            .commit(try commit(1, [Change(key: "a", old: nil, new: .integer(1))])),
            .commit(try commit(2, [Change(key: "a", old: .integer(1), new: .integer(2))])),
            .projection(digest: digest, differences: ["a": .integer(1)]),
            .commit(try commit(3, [Change(key: "b", old: nil, new: .integer(1))])),
        ])
        for theirs: [Key: Value] in [[:], ["a": .integer(1)]] {
            #expect(replay.base.edits(from: theirs, in: .xml, ours: replay.state) == [])
        }
        var base = replay.base
        base.projectionSucceeded()
        #expect(base.differences == ["a": .integer(1), "b": nil])
    }

    @Test func `a snapshot and differences survive`() throws {
        let differences: [Key: Value?] = ["x": nil, "y": .data([1])]
        let replay = try replay([
            .snapshot(revision: 7, values: ["x": .string("é"), "e\u{301}": .date(Timestamp(microseconds: 1))]),
            .plist(digest: nil, differences: differences),
        ])
        #expect(replay.state.revision == 7)
        #expect(replay.state.count == 2)
        #expect(replay.base.differences == differences)
        #expect(replay.knownDigest == nil)
    }

    @Test(arguments: [
        "", "null", "[]", "{}", #"{"group":"g"}"#,
        #"{"appgroupd":2,"group":"g","epoch":"00000000000000000000000000000001"}"#,
        #"{"snapshot":-1,"values":{}}"#, #"{"plist":"zz"}"#, #"{"projection":1}"#, #"{"later":1}"#,
    ])
    func `nonsense is refused and never taken for something`(_ text: String) throws {
        #expect(JournalEntry(Array(text.utf8).span) == nil)
        let header = JournalEntry.header(group: try group().string, epoch: epoch).encoded
        var replay = try Replay(try group(), header: header)
        #expect(throws: Replay.Failure.self) { try replay.add(Array(text.utf8), at: 0) }
    }

    @Test func `revisions without a gap, one header, the right group`() throws {
        #expect(throws: Replay.Failure.self) {
            try replay([.commit(try commit(2, [Change(key: "a", old: nil, new: .integer(1))]))])
        }
        #expect(throws: Replay.Failure.self) { try replay([.header(group: "group.com.example.app", epoch: epoch)]) }
        #expect(throws: Replay.Failure.self) {
            try Replay(try group(), header: JournalEntry.header(group: "other", epoch: epoch).encoded)
        }
    }

    @Test func `compaction keeps state, history and what the plist holds`() throws {
        try SplitMix64.withSeed { random in
            let directory = try TemporaryDirectory()
            let path = directory.file("g.journal")
            let group = try group()
            var state = GroupState(identifier: group, position: Position(epoch: epoch, revision: 0))
            var payloads = [JournalEntry.header(group: group.string, epoch: epoch).encoded]
            for number in 1...200 {
                let key = Key("k\(Int.random(in: 0..<20, using: &random))")
                let edit: Edit = Bool.random(using: &random) ? .set(key, .integer(Int64(number))) : .remove(key)
                let changes = try state.changes(for: [edit], limits: Limits())
                if !changes.isEmpty {
                    let commit = try commit(state.revision + 1, changes)
                    state.apply(commit)
                    payloads.append(commit.encoded)
                }
                if Int.random(in: 0..<10, using: &random) == 0 {
                    let digest = Digest(of: Array("\(number)".utf8))
                    payloads += [JournalEntry.projection(digest: digest), .plist(digest: digest, differences: [:])].map(
                        \.encoded)
                }
            }
            let before = try Journal.create(path, payloads: payloads).journal
            let plain = try OpenedGroup(group, path: path, timeText: "t").replay
            let horizon = Int64.random(in: 0...state.revision, using: &random)
            let kept = plain.commits.suffix(Int(state.revision - horizon))
            let job = Compaction(
                path: path, journal: before.syncHandle, history: kept.map(\.offset), state: state,
                plist: .plist(digest: plain.knownDigest, differences: plain.base.possibleDifferences),
                projection: plain.projectedDigest.map { .projection(digest: $0, differences: plain.base.differences) })
            let compacted = try job.rewrite().get()
            let adopted = try before.adopt(compacted.rewrite, tail: [])
            #expect(adopted.offsets.count == compacted.areCommits.count)
            #expect(compacted.areCommits.count { $0 } == Int(state.revision - horizon))
            let again = try OpenedGroup(group, path: path, timeText: "t").replay
            #expect(again.state.values == state.values)
            #expect(again.state.position == state.position)
            #expect(again.knownDigest == plain.knownDigest)
            #expect(again.base.possibleDifferences == plain.base.possibleDifferences)
            #expect(again.commits.map(\.time) == kept.map(\.time))
            #expect(again.commits.map(\.size) == kept.map(\.size))
            // What follows the snapshot is replayed as ever.
            let next = try commit(state.revision + 1, [Change(key: "next", old: nil, new: .boolean(true))])
            _ = try adopted.journal.append([next.encoded])
            let later = try OpenedGroup(group, path: path, timeText: "t").replay
            #expect(later.state.revision == next.revision)
            #expect(later.state["next"] == .boolean(true))
            #expect(later.commits.count == kept.count + 1)
        }
    }

    @Test func `a snapshot in parts is one snapshot, and without its last part none`() throws {
        let parts: [JournalEntry] = [
            .snapshot(revision: 7, values: ["a": .integer(1)], isPartial: true),
            .snapshot(
                revision: 7, values: ["quote \" \\": .array([.string("é\n"), .dictionary(["": .real(.nan)])])],
                isPartial: true),
        ]
        let replay = try replay(parts + [.snapshot(revision: 7, values: [:]), .plist(digest: nil, differences: [:])])
        #expect(replay.state.revision == 7)
        let values: [Key: Value] = [
            "a": .integer(1), "quote \" \\": .array([.string("é\n"), .dictionary(["": .real(.nan)])]),
        ]
        #expect(replay.state.values == values)
        #expect(replay.base.differences.isEmpty)
        let other = JournalEntry.snapshot(revision: 8, values: [:])
        let commit = JournalEntry.commit(try commit(8, [Change(key: "a", old: nil, new: .integer(1))]))
        for rest in [[], [other], [commit], [.plist(digest: nil, differences: [:])]] {
            #expect(throws: Replay.Failure.self) { try self.replay(parts + rest) }
        }
    }

    @Test func `a snapshot that says nothing of the plist is all unwritten`() throws {
        let replay = try replay([
            .snapshot(revision: 2, values: ["a": .integer(1), "b": .integer(2)]),
            .commit(try commit(3, [Change(key: "b", old: .integer(2), new: nil)])),
        ])
        #expect(replay.base.differences == ["a": nil, "b": nil])
    }

    @Test func `commits of any values are replayed as they were`() throws {
        try SplitMix64.withSeed { random in
            var state = GroupState(identifier: try group(), position: Position(epoch: epoch, revision: 0))
            var entries: [JournalEntry] = []
            for _ in 0..<100 {
                let edits = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    let key = Key(["", "a", "b\"c", "d\\", "é", "e\u{301}"].randomElement(using: &random) ?? "")
                    return Bool.random(using: &random) ? Edit.remove(key) : .set(key, .any(&random))
                }
                let changes = try state.changes(for: edits, limits: Limits())
                guard !changes.isEmpty else { continue }
                let commit = try commit(state.revision + 1, changes)
                state.apply(commit)
                entries.append(.commit(commit))
            }
            let replay = try replay(entries)
            #expect(replay.state.values == state.values)
            #expect(replay.state.size == state.size)
            #expect(replay.state.position == state.position)
        }
    }

    @Test func `a commit of a later version, with more in it, is taken`() throws {
        let text = #"""
            {"group":"group.com.example.app","revision":1,"time":"2026-11-30T09:00:00Z","new":{"x":[1]},
            "origin":{"kind":"file"},"changes":[{"key":"a","old":null,"new":{"integer":1}}]}
            """#
        let header = JournalEntry.header(group: try group().string, epoch: epoch).encoded
        var replay = try Replay(try group(), header: header)
        try replay.add(text.utf8.filter { $0 != 0x0A }, at: 9)
        #expect(replay.state.values == ["a": .integer(1)])
    }

    @Test(arguments: [
        #"{"kin:"d"client","client":"t","processId":1,"tag":"x"}"#, #"{"kind":"client","client":"a","client":"b"}"#,
        #"{"kind":"somebody"}"#, #"{"kind":"client","client":"\q"}"#, #"{"kind":"client","processId":x}"#, "{}",
    ])
    func `an origin that is none makes no commit, for whichever reader`(_ origin: String) throws {
        let text =
            #"{"group":"group.com.example.app","revision":1,"time":"2026-11-30T09:00:00Z","origin":"# + origin
            + #","changes":[{"key":"a","new":{"integer":1}}]}"#
        let payload = Array(text.utf8)
        #expect(JournalEntry.StateChange(payload.span, of: try group()) == nil)
        #expect(JournalEntry(payload.span) == nil)
    }

    @Test(arguments: [
        #"{"kind":"administrator"}"#, #"{"kind":"client","client":"a\"b","processId":7,"unit":"u.service","tag":"é"}"#,
        #"{"kind":"daemon","tag":"t"}"#,
    ])
    func `an origin as it is written is one, for either reader`(_ origin: String) throws {
        let text =
            #"{"group":"group.com.example.app","revision":1,"time":"2026-11-30T09:00:00Z","origin":"# + origin
            + #","changes":[{"key":"a","new":{"integer":1}}]}"#
        let payload = Array(text.utf8)
        #expect(JournalReading.contradiction(in: payload, of: try group()) == nil)
        let change = try #require(JournalEntry.StateChange(payload.span, of: try group()))
        #expect(change.isAdministrator == origin.contains("administrator"))
    }

    @Test func `a history that is cut short is nonsense and not a state`() throws {
        let header = JournalEntry.header(group: try group().string, epoch: epoch, history: 2).encoded
        var replay = try Replay(try group(), header: header)
        let commit = try commit(8, [Change(key: "a", old: nil, new: .integer(1))]).encoded
        try replay.add(commit, at: 1)
        #expect(throws: Replay.Failure.self) {
            try replay.add(JournalEntry.snapshot(revision: 9, values: [:]).encoded, at: 2)
        }
        #expect(JournalEntry.time(ofCommit: commit.span) == Timestamp(microseconds: 8 * 1_000_001))
    }

    @Test func `a journal of another group or without sense is set aside and the group begins anew`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("g.journal")
        _ = try Journal.create(path, payloads: [JournalEntry.header(group: "other", epoch: epoch).encoded])
        let opened = try OpenedGroup(try group(), path: path, timeText: "t")
        #expect(opened.isNew)
        #expect(opened.replay.state.position.epoch != epoch)
        #expect(opened.notice?.contains("g.journal.damaged-t") == true)
        #expect(directory.exists("g.journal.damaged-t"))
    }
}

extension Value {
    fileprivate static func any(_ random: inout SplitMix64, depth: Int = 2) -> Value {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 7), using: &random) {
        case 0: .string(["", "plain", "quote \" \\ é\n"].randomElement(using: &random) ?? "")
        case 1: .integer(Int64.random(in: .min ... .max, using: &random))
        case 2: .unsigned(UInt64.random(in: 0 ... .max, using: &random))
        case 3: .real([0, -0.0, 1.5, .nan, .infinity, 1e300].randomElement(using: &random) ?? 0)
        case 4: .boolean(Bool.random(using: &random))
        case 5: .date(Timestamp(microseconds: Int64.random(in: 0..<1 << 50, using: &random)))
        case 6: .data((0..<Int.random(in: 0..<9, using: &random)).map { UInt8($0) })
        case 7: .array((0..<3).map { _ in any(&random, depth: depth - 1) })
        default: .dictionary(["x\"": any(&random, depth: depth - 1), "": any(&random, depth: depth - 1)])
        }
    }
}
