import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Caps")
struct LimitTests {
    @Test("a value may be as large as MaxValueSize=, and not a byte larger")
    func value() throws {
        let daemon = try RunningDaemon(configuration: ["MaxValueSize=100"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .string(String(repeating: "x", count: 99)))])
        #expect(try tooLarge(peer, [.set("k", .string(String(repeating: "x", count: 100)))]) == (100, 101))
        // By way of an append too.
        try peer.write(.example, [.set("a", .array([.data([UInt8](repeating: 0, count: 50))]))])
        let append = Edit(key: "a", operation: .append, value: .data([UInt8](repeating: 0, count: 60)))
        #expect(try tooLarge(peer, [append])?.limit == 100)
        #expect(try peer.read(.example).position?.revision == 2)
    }

    @Test("R12: a group may be as large as MaxGroupSize=; past it small keys go on working")
    func group() throws {
        let daemon = try RunningDaemon(configuration: ["MaxGroupSize=1000"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .string(String(repeating: "x", count: 900)))])
        #expect(try tooLarge(peer, [.set("b", .string(String(repeating: "x", count: 99)))]) == (1000, 1001))
        try peer.write(.example, [.set("b", .string(String(repeating: "x", count: 98)))])
        #expect(try peer.status(of: .example)?.bytes == 1000)
        try peer.write(.example, [.set("a", .string("small")), .set("c", .string(String(repeating: "x", count: 500)))])
    }

    @Test("a group may have MaxKeys= keys, and one taken away makes room")
    func keys() throws {
        let daemon = try RunningDaemon(configuration: ["MaxKeys=2"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1)), .set("b", .integer(1))])
        #expect(try tooLarge(peer, [.set("c", .integer(1))]) == (2, 3))
        try peer.write(.example, [.remove("a"), .set("c", .integer(1))])
    }

    @Test("a key may have 1024 bytes")
    func key() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let key = Key(String(repeating: "é", count: 512))
        try peer.write(.example, [.set(key, .integer(1))])
        try peer.synchronize()
        #expect(try Plist.entries(daemon.plist("group.com.example.app")) == [key: .integer(1)])
    }

    @Test("patterns with wild cards of one call have 8192 characters at most; of keys there may be any number")
    func patterns() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let patterns = [String(repeating: "a", count: Limits.patternSize) + "*"]
        let requests: [Request] = [
            .read(.example, keys: patterns), .history(HistoryRequest(group: .example, keys: patterns)),
            .watch([WatchedGroup(group: .example, keys: patterns)]),
        ]
        for request in requests {
            guard case .tooLarge(_, limit: Int64(Limits.patternSize), _)? = try peer.refusal(of: request) else {
                Issue.record("\(request) is not refused")
                continue
            }
        }
        let keys = (0..<10_000).map { "key number \($0)" }
        try peer.write(.example, [.set("key number 1", .integer(1))])
        #expect(try peer.read(.example, keys: keys).values == ["key number 1": .integer(1)])
    }

    @Test("a reset whose reply would name more keys than a message has room for is refused, and Reset serves")
    func manyLongKeys() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let name = String(repeating: "k", count: 1000)
        let entries = (0..<9000).map { "<key>\(name)\($0)</key><true/>" }.joined()
        try Plist.replace(daemon.plist("group.com.example.app"), with: "<plist><dict>\(entries)</dict></plist>")
        try peer.synchronize()
        let reset = WriteRequest(group: .example, edits: [], isReset: true)
        guard case .tooLarge? = try peer.refusal(of: .write(reset)) else {
            Issue.record("not refused")
            return
        }
        // Nothing is half done, and a conflict names as many as fit.
        var late = reset
        late.unchangedSince = 0
        try peer.send(.write(late))
        let bytes = try peer.peer.readMessageBytes()
        #expect(bytes.count <= SettingsInterface.messageLimit)
        guard case .conflict(let keys, 1)? = GroupError(try Reply(parsing: bytes)) else {
            Issue.record("no conflict")
            return
        }
        #expect((8000..<9000).contains(keys.count))
        _ = try peer.call(.reset(.example, tag: nil))
        #expect(try peer.read(.example).values.isEmpty)
    }

    @Test("MaxMessageSize= ends the connection that passes it, at any moment of the message")
    func message() throws {
        let daemon = try RunningDaemon(configuration: ["MaxMessageSize=4K"])
        let peer = try daemon.peer()
        try peer.send([UInt8](repeating: UInt8(ascii: " "), count: 4097))
        #expect(try peer.readToEnd() == [])
        _ = try SettingsPeer(daemon).status()
    }

    @Test("past MaxConnections= a client is refused, and served once there is room")
    func connections() throws {
        let daemon = try RunningDaemon(configuration: ["MaxConnections=3"])
        var peers = try (0..<3).map { _ in try SettingsPeer(daemon) }
        // Each is served, so that it surely counts.
        #expect(
            eventually { (try? peers.allSatisfy { try $0.groups() == [] }) == true || refill(&peers, daemon) })
        let refused = try daemon.peer()
        #expect(try refused.readToEnd() == [])
        peers.removeLast().peer.close()
        #expect(eventually { (try? SettingsPeer(daemon).groups()) == [] })
        #expect(try peers[0].groups() == [])
    }

    /// The connection by which the daemon was seen to serve may not have gone yet.
    private func refill(_ peers: inout [SettingsPeer], _ daemon: RunningDaemon) -> Bool {
        if let fresh = try? (0..<3).map({ _ in try SettingsPeer(daemon) }) { peers = fresh }
        return false
    }

    @Test("a cap that was lowered lets a group shrink, and take small values in place of large ones")
    func lowered() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .string(String(repeating: "x", count: 500))), .set("b", .integer(1))])
        try daemon.stop()
        try daemon.directory.write("appgroupd.conf", "[Daemon]\nMaxGroupSize=100\n")
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(try again.read(.example).values.count == 2)
        #expect(try again.refusal(of: .example, [.set("c", .integer(1))]) != nil)
        try again.write(.example, [.set("b", .integer(2))])
        try again.write(.example, [.set("a", .string("x"))])
        try again.write(.example, [.set("c", .integer(1))])
    }

    private func tooLarge(_ peer: SettingsPeer, _ edits: [Edit]) throws -> (limit: Int64, size: Int64)? {
        guard case .tooLarge(_, let limit, let size)? = try peer.refusal(of: .example, edits) else { return nil }
        return (limit, size)
    }
}

private func == (left: (limit: Int64, size: Int64)?, right: (Int64, Int64)) -> Bool {
    left?.limit == right.0 && left?.size == right.1
}
