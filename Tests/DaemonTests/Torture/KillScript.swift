import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Varlink

/// Plays one client that does everything in order, until the daemon is gone: writes of all kinds, edits of the file, enough
/// for a compaction, a group that comes and goes. Knows at each moment what there must be.
final class KillScript {
    static let group = GroupIdentifier.example
    static let visitor = GroupIdentifier(known: "group.com.example.visitor")
    /// So short a history that the script passes it.
    static let configuration = ["HistoryCommits=8", "SyncIntervalSec=20ms", "ProjectionDelaySec=5ms"]

    /// What may be there after the daemon was killed: the state that was acknowledged, then one for each call that had no
    /// reply yet, in their order.
    private(set) var candidates: [[Key: Value]]
    /// The newest acknowledged position.
    private(set) var position: Position?
    /// Whether the other group must be there; nil where either is right.
    private(set) var hasVisitor: Bool? = false
    private(set) var hasEnded = false

    private let socket: String
    private let plist: String

    init(_ daemon: RunningDaemon, from state: [Key: Value], at position: Position?) {
        socket = daemon.socket
        plist = daemon.plist(Self.group.string)
        candidates = [state]
        self.position = position
    }

    /// Throws when the daemon goes away in the middle.
    func run(whenServed peer: SettingsPeer) throws {
        try peer.create(Self.group)
        try write(peer, [.set("single", .integer(1))])
        try write(peer, [.set("durable", .string("kept"))], isDurable: true)
        try edit("by rename", peer) { try Plist.replace(self.plist, with: $0) }
        try burst(peer, count: 12)
        try peer.call(.synchronize(Self.group))
        try edit("in place", peer) { try Plist.overwrite(self.plist, with: $0) }
        try write(peer, [.set("left", .integer(1)), .set("right", .integer(1)), .remove("single")])
        try visit(peer)
        try write(peer, [.set("last", .boolean(true))])
        hasEnded = true
    }

    private func write(_ peer: SettingsPeer, _ edits: [Edit], isDurable: Bool = false) throws {
        candidates = [candidates[0], Self.applied(edits, to: candidates[0])]
        let reply = try peer.write(Self.group, edits, durable: isDurable)
        candidates.removeFirst()
        position = reply.position
    }

    /// Several calls before the first reply.
    private func burst(_ peer: SettingsPeer, count: Int) throws {
        for number in 0..<count {
            let edits: [Edit] = [.set(Key("burst.\(number)"), .integer(Int64(number)))]
            candidates.append(Self.applied(edits, to: candidates[number]))
            try peer.send(.write(WriteRequest(group: Self.group, edits: edits)))
        }
        for _ in 0..<count {
            let reply = try peer.checked(peer.receive())
            candidates.removeFirst()
            position = reply["position"].flatMap(Position.init(wire:))
        }
    }

    /// An edit by hand is there for good from the moment that the file has it: nobody else waits for a daemon.
    private func edit(_ name: String, _ peer: SettingsPeer, _ save: (String) throws -> Void) throws {
        try peer.call(.synchronize(Self.group))
        let text = try Plist.read(plist)
        let entry = "\t<key>\(name)</key>\n\t<true/>\n"
        try save(text.replacing("</dict>", with: entry + "</dict>"))
        candidates[0][Key(name)] = .boolean(true)
        try peer.call(.synchronize(Self.group))
    }

    private func visit(_ peer: SettingsPeer) throws {
        hasVisitor = nil
        try peer.create(Self.visitor)
        hasVisitor = true
        try peer.write(Self.visitor, [.set("x", .integer(1))])
        hasVisitor = nil
        try peer.call(.deleteGroup(Self.visitor))
        hasVisitor = false
    }

    static func applied(_ edits: [Edit], to state: [Key: Value]) -> [Key: Value] {
        var state = state
        for edit in edits { state[edit.key] = try? edit.evaluated(on: state[edit.key]) }
        return state
    }
}
