import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Writing")
struct WriteTests {
    static let number = UInt64(Int64.max)

    /// Before, edit, after.
    static let steps: [(old: Value?, edit: Edit, new: Value?)] = [
        (nil, .set("k", .string("v")), .string("v")),
        (.string("v"), .remove("k"), nil),
        (nil, Edit(key: "k", operation: .append, value: .integer(1)), .array([.integer(1)])),
        (
            .array([.integer(1)]), Edit(key: "k", operation: .append, value: .array([.integer(2)])),
            .array([.integer(1), .array([.integer(2)])])
        ),
        (
            .dictionary(["a": .integer(1), "b": .integer(2)]),
            Edit(key: "k", operation: .merge, value: .dictionary(["b": .real(2), "c": .integer(3)])),
            .dictionary(["a": .integer(1), "b": .real(2), "c": .integer(3)])
        ),
        (nil, Edit(key: "k", operation: .merge, value: .dictionary([:])), .dictionary([:])),
        (.integer(1), Edit(key: "k", operation: .increment, value: .integer(-3)), .integer(-2)),
        (.integer(.max), Edit(key: "k", operation: .increment, value: .integer(1)), .unsignedInteger(number + 1)),
        (.unsignedInteger(number + 1), Edit(key: "k", operation: .increment, value: .integer(-1)), .integer(.max)),
        (.integer(1), Edit(key: "k", operation: .increment, value: .real(0.5)), .real(1.5)),
        (nil, Edit(key: "k", operation: .toggle, value: nil), .boolean(true)),
        (.boolean(true), Edit(key: "k", operation: .toggle, value: nil), .boolean(false)),
    ]

    @Test("each edit does what it says, in reply, event, value and file", arguments: steps)
    func edit(_ row: (old: Value?, edit: Edit, new: Value?)) throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        if let old = row.old { try peer.write(.example, [.set("k", old)]) }
        let watcher = try daemon.watcher(of: .example)
        let reply = try peer.write(.example, [row.edit])
        #expect(reply.changed == ["k"])
        #expect(reply.position?.revision == (row.old == nil ? 1 : 2))
        let commit = try watcher.nextCommit()
        #expect(commit.changes == [Change(key: "k", old: row.old, new: row.new)])
        #expect(try peer.read(.example).values == (row.new.map { ["k": $0] } ?? [:]))
        try peer.synchronize()
        #expect(try Plist.entries(daemon.plist("group.com.example.app")) == (row.new.map { ["k": $0] } ?? [:]))
    }

    static let refused: [(old: Value?, edit: Edit, error: String)] = [
        (.string("x"), Edit(key: "k", operation: .append, value: .integer(1)), "WrongType"),
        (.array([]), Edit(key: "k", operation: .merge, value: .dictionary([:])), "WrongType"),
        (.boolean(true), Edit(key: "k", operation: .increment, value: .integer(1)), "WrongType"),
        (.integer(1), Edit(key: "k", operation: .toggle, value: nil), "WrongType"),
        (nil, Edit(key: "k", operation: .append, value: nil), "InvalidValue"),
        (nil, Edit(key: "k", operation: .increment, value: .boolean(true)), "InvalidValue"),
        (nil, Edit(key: "k", operation: .merge, value: .array([])), "InvalidValue"),
        (.integer(.min), Edit(key: "k", operation: .increment, value: .integer(-1)), "InvalidValue"),
        (.unsignedInteger(.max), Edit(key: "k", operation: .increment, value: .integer(1)), "InvalidValue"),
        (nil, .set("k", .string("\u{1}")), "InvalidValue"),
        (nil, .set("k", .dictionary(["\u{0}": .integer(1)])), "InvalidValue"),
        (nil, .set(Key(String(repeating: "k", count: 1025)), .integer(1)), "InvalidKey"),
        (nil, .set("\u{FFFE}", .integer(1)), "InvalidKey"),
    ]

    @Test("a refused edit takes all edits of its write with it", arguments: refused)
    func refusedEdit(_ row: (old: Value?, edit: Edit, error: String)) throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        if let old = row.old { try peer.write(.example, [.set("k", old)]) }
        let before = try peer.read(.example)
        let error = try peer.refusal(of: .example, [.set("other", .integer(1)), row.edit, .set("more", .integer(1))])
        #expect(error?.wireName == "io.appgroupd.Settings.\(row.error)")
        let after = try peer.read(.example)
        #expect(after.position == before.position)
        #expect(after.values == before.values)
    }

    /// What the wire has beside what a typed client can say.
    static let badValues = [
        #"{"integer":1.0}"#, #"{"integer":9223372036854775808}"#, #"{"data":"QQ"}"#, #"{"date":"2026-11-30T09:00:00"}"#,
        #"{"date":"2026-11-30T09:00:00+01:00"}"#, #"{"number":"5"}"#, #"{"integer":1,"real":1}"#, "{}",
        #"{"integer":null}"#, #"{"number":"infinity"}"#, #"{"date":"2026-02-30T09:00:00Z"}"#,
    ]

    @Test("values of the right shape with a wrong content are InvalidValue", arguments: badValues)
    func badValue(_ text: String) throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let reply = try peer.ask(
            "Write", #"{"group":"group.com.example.app","edits":[{"key":"k","value":\#(text)}]}"#)
        #expect(reply.error == "io.appgroupd.Settings.InvalidValue")
        #expect(reply.parameters["key"] == "k")
    }

    @Test("32 levels of nesting are taken, and what is above the stated limit refused")
    func nesting() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        func nested(_ depth: Int) -> Value { (0..<depth).reduce(.integer(1)) { value, _ in .array([value]) } }
        for depth in [32, Value.depthLimit] {
            try peer.write(.example, [.set("k", nested(depth))])
            try peer.synchronize()
            #expect(try Plist.entries(daemon.plist("group.com.example.app")) == ["k": nested(depth)])
        }
        let error = try peer.refusal(of: .example, [.set("k", nested(Value.depthLimit + 1))])
        #expect(error?.wireName == "io.appgroupd.Settings.InvalidValue")
        // Deep by appending to what is deep already.
        try peer.write(.example, [.set("k", .array([]))])
        let deep = try peer.refusal(
            of: .example, [Edit(key: "k", operation: .append, value: nested(Value.depthLimit))])
        #expect(deep?.wireName == "io.appgroupd.Settings.InvalidValue")
    }

    @Test("edits apply in order, and two of one key are one change")
    func order() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .integer(1)), .set("same", .integer(5))])
        let reply = try peer.write(
            .example,
            [
                .set("b", .integer(1)), Edit(key: "k", operation: .increment, value: .integer(1)), .remove("same"),
                Edit(key: "k", operation: .increment, value: .integer(10)), .set("same", .integer(5)),
                .set("gone", .integer(1)), .remove("gone"),
            ])
        #expect(reply.changed == ["b", "k"])
        #expect(
            try peer.history(.example).first?.changes == [
                Change(key: "b", old: nil, new: .integer(1)), Change(key: "k", old: .integer(1), new: .integer(12)),
            ])
    }

    @Test("ifUnchangedSince refuses keys that changed since, and those only")
    func conflict() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        try peer.write(.example, [.set("b", .integer(1))])
        try peer.write(.example, [.set("c", .integer(1)), .remove("a")])
        #expect(throws: GroupError.conflict(keys: ["a", "b"], revision: 3)) {
            try peer.write(.example, [.set("a", .integer(2)), .set("b", .integer(2))], unchangedSince: 1)
        }
        #expect(try peer.write(.example, [.set("new", .integer(2))], unchangedSince: 1).position?.revision == 4)
        #expect(try peer.write(.example, [.set("b", .integer(2))], unchangedSince: 2).position?.revision == 5)
        // Kept over a restart.
        try daemon.kill()
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(throws: GroupError.conflict(keys: ["a"], revision: 5)) {
            try again.write(.example, [.set("a", .integer(2)), .set("never", .integer(2))], unchangedSince: 1)
        }
    }

    @Test("the tag comes back, and the rest of the origin is what the kernel says")
    func origin() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let watcher = try daemon.watcher(of: .example)
        try peer.write(.example, [.set("k", .integer(1))], tag: "tag \"ä\" \u{1}")
        try peer.call(.reset(.example, tag: "r"))
        let name = try Plist.read("/proc/self/comm").trimmingCharacters(in: .newlines)
        for tag in ["tag \"ä\" \u{1}", "r"] {
            let origin = try watcher.nextCommit().origin
            #expect(origin.kind == .client)
            #expect(origin.client == name)
            #expect(origin.processId == getpid())
            #expect(origin.tag == tag)
        }
        #expect(try peer.history(.example).map(\.origin.tag) == ["r", "tag \"ä\" \u{1}"])
    }

    @Test("a durable write is answered when it is on stable storage, also when nothing changes")
    func durable() throws {
        let daemon = try RunningDaemon(configuration: ["SyncIntervalSec=1h"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .integer(1))])
        #expect(try peer.write(.example, [.set("k", .integer(1))], durable: true).changed == [])
        #expect(try peer.write(.example, [.set("k", .integer(2))], durable: true).position?.revision == 2)
    }

    @Test("Durability=power holds for every write")
    func power() throws {
        let daemon = try RunningDaemon(configuration: ["Durability=power"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .integer(1))])
        try peer.call(.reset(.example, tag: nil))
        #expect(try peer.status()?.durability == .power)
        #expect(try peer.read(.example).position?.revision == 2)
    }

    @Test("a Write that resets leaves what its edits make and nothing else, in one commit")
    func replacement() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("gone", .integer(1)), .set("kept", .integer(2)), .set("n", .integer(3))])
        let increment = Edit(key: "n", operation: .increment, value: .integer(1))
        let edits: [Edit] = [.set("kept", .integer(2)), increment, .set("new", .integer(4))]
        let request = WriteRequest(group: .example, edits: edits, isReset: true, unchangedSince: 1)
        let reply = try peer.call(.write(request))
        #expect(reply["position"].flatMap(Position.init(wire:))?.revision == 2)
        let commit = try #require(try peer.history(.example).first)
        #expect(
            commit.changes.sorted { $0.key < $1.key } == [
                Change(key: "gone", old: .integer(1), new: nil), Change(key: "n", old: .integer(3), new: .integer(1)),
                Change(key: "new", old: nil, new: .integer(4)),
            ])
        // Every key counts as named.
        try peer.write(.example, [.set("other", .integer(1))])
        #expect(throws: GroupError.conflict(keys: ["other"], revision: 3)) {
            try peer.call(
                .write(WriteRequest(group: .example, edits: [], isReset: true, unchangedSince: 2)))
        }
        try peer.call(.write(WriteRequest(group: .example, edits: [], isReset: true, isDurable: true)))
        try peer.synchronize()
        #expect(try Plist.entries(daemon.plist("group.com.example.app")) == [:])
    }

    @Test("Reset takes every key in one commit; of an empty group it does nothing")
    func reset() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        #expect(try peer.call(.reset(.example, tag: nil))["position"].flatMap(Position.init(wire:))?.revision == 0)
        try peer.write(.example, [.set("a", .integer(1)), .set("b", .integer(2))])
        #expect(try peer.call(.reset(.example, tag: nil))["position"].flatMap(Position.init(wire:))?.revision == 2)
        let commit = try #require(try peer.history(.example).first)
        #expect(commit.changes.count == 2)
        #expect(commit.changes.allSatisfy { $0.new == nil && $0.old != nil })
        try peer.synchronize()
        #expect(try Plist.entries(daemon.plist("group.com.example.app")) == [:])
    }

    @Test("every value keeps its type and its bytes, on the wire, over a restart and through the file")
    func values() throws {
        let values: [Key: Value] = [
            "integer": .integer(1), "real": .real(1), "boolean": .boolean(true), "big": .unsignedInteger(.max),
            "min": .integer(.min), "nan": .real(.nan), "infinity": .real(-.infinity), "zero": .real(-0.0),
            "tiny": .real(.leastNonzeroMagnitude), "text": .string(" \r\n\tä\u{65}\u{301}&<>\"'\u{1F600} "),
            "empty": .string(""), "data": .data((0...255).map { $0 }), "none": .data([]),
            "date": .date(Timestamp(microseconds: 1_764_493_200_000_000)),
            "nested": .dictionary(["": .array([.boolean(false), .dictionary(["a.b": .string("x")])])]),
        ]
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, values.map { .set($0.key, $0.value) })
        #expect(try peer.read(.example).values == values)
        try peer.synchronize()
        #expect(try Plist.entries(daemon.plist("group.com.example.app")) == values)
        try daemon.kill()
        try daemon.start()
        let again = try SettingsPeer(daemon)
        try again.synchronize()
        let read = try again.read(.example)
        #expect(read.values == values)
        #expect(read.position?.revision == 1)
    }

    @Test("a date keeps its microseconds, though the file has whole seconds only")
    func microseconds() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let date = Value.date(Timestamp(microseconds: 1_764_493_200_123_456))
        try peer.write(.example, [.set("d", date)])
        try peer.synchronize()
        let path = daemon.plist("group.com.example.app")
        #expect(try Plist.read(path).contains("<date>2025-11-30T09:00:00Z</date>"))
        // Saved by somebody with another change: the date was no edit.
        try Plist.replace(
            path, with: Plist.read(path).replacingOccurrences(of: "</dict>", with: "<key>x</key><true/></dict>"))
        try peer.synchronize()
        let read = try peer.read(.example)
        #expect(read.values == ["d": date, "x": .boolean(true)])
        #expect(read.position?.revision == 2)
    }
}
