import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Varlink

/// An acknowledged write of the campaigns.
struct Acknowledged: Sendable {
    let tag: String
    let key: Key
    let value: Value
    let revision: Int64
    /// Whether the reply named a change: a repeated write that had been applied already names none.
    let hasChanged: Bool
}

/// One writer with keys of its own, each write of them different, several calls ahead of their replies. Where the
/// connection breaks it connects again and repeats what was not acknowledged: a value that is there already is no
/// change, so each write takes place exactly once.
struct Writer: Sendable {
    let socket: String
    let group: GroupIdentifier
    let name: String
    var depth = 8
    /// At least `depth`, so that the writes that may be repeated are about different keys.
    var keyCount = 16
    /// Nil: until the flag.
    var count: Int?
    var stop = Flag()
    var isDurable = false
    var insists = false

    func run() throws -> [Acknowledged] {
        var acknowledged: [Acknowledged] = []
        var next = 0
        var waiting: [Int] = []
        while hasMore(next) || !waiting.isEmpty {
            do {
                let peer = try connect()
                for number in waiting { try peer.send(request(number)) }
                while hasMore(next) || !waiting.isEmpty {
                    while waiting.count < depth, hasMore(next) {
                        waiting.append(next)
                        next += 1
                        try peer.send(request(next - 1))
                    }
                    let reply = try peer.checked(peer.receive())
                    acknowledged.append(acknowledgement(of: waiting.removeFirst(), reply["position"], reply["changed"]))
                }
            } catch let failure as RawPeer.Failure where insists && failure != .timedOut {
                continue
            }
        }
        return acknowledged
    }

    private func hasMore(_ next: Int) -> Bool { count.map { next < $0 } ?? !stop.isRaised }

    private func connect() throws -> SettingsPeer {
        var peer: SettingsPeer?
        guard
            eventually(
                seconds: 20,
                {
                    peer = try? SettingsPeer(socket: socket)
                    return peer != nil
                }), let peer
        else {
            throw RawPeer.Failure.timedOut
        }
        return peer
    }

    private func key(_ number: Int) -> Key { Key("\(name).\(number % keyCount)") }

    private func request(_ number: Int) -> Request {
        .write(
            WriteRequest(
                group: group, edits: [.set(key(number), .integer(Int64(number)))], isDurable: isDurable,
                tag: "\(name)-\(number)"))
    }

    private func acknowledgement(of number: Int, _ position: JSON?, _ changed: JSON?) -> Acknowledged {
        Acknowledged(
            tag: "\(name)-\(number)", key: key(number), value: .integer(Int64(number)),
            revision: position.flatMap(Position.init(wire:))?.revision ?? 0,
            hasChanged: changed?.arrayValue?.isEmpty == false)
    }
}

/// An observer of all keys that comes back with `since` when its connection breaks, until it sees the key `end`.
struct Follower: Sendable {
    let socket: String
    let group: GroupIdentifier
    /// What it knows already: it was there before.
    var start: (position: Position, replica: [Key: Value])?
    static let end: Key = "end"

    init(socket: String, group: GroupIdentifier, from position: Position? = nil, _ replica: [Key: Value] = [:]) {
        self.socket = socket
        self.group = group
        start = position.map { ($0, replica) }
    }

    func run() throws -> Trace {
        var trace = Trace(from: start?.position, start?.replica ?? [:])
        while true {
            do {
                let peer = try SettingsPeer(socket: socket)
                try peer.watch([WatchedGroup(group: group, since: trace.position)])
                while true {
                    trace.take(try peer.event())
                    if trace.replica[Self.end] != nil { return trace }
                }
            } catch let failure as RawPeer.Failure where failure != .timedOut {
                // It is being killed and started again; the attempts end with the test's own patience.
                Thread.sleep(forTimeInterval: 0.002)
            } catch GroupError.noSuchGroup {
                // It was killed before it made the group.
                Thread.sleep(forTimeInterval: 0.002)
            }
        }
    }
}
