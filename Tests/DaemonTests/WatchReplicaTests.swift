import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// What an observer knows, kept up only with what the watch says: every commit must fit what went before.
private struct Replica {
    var values: [Key: Value]?
    var revision: Int64 = 0
    var isDeleted = false
    var epochs: [Epoch] = []

    mutating func take(_ event: WatchEvent) {
        switch event {
        case .established: break
        case .snapshot(let part):
            values = part.values
            revision = part.position.revision
            isDeleted = false
            epochs.append(part.position.epoch)
        case .deleted:
            #expect(!isDeleted, "deleted twice")
            isDeleted = true
            values = nil
        case .commit(let commit, let coalesced):
            #expect(!isDeleted && values != nil, "a commit of a group that is gone")
            if coalesced == nil { #expect(commit.revision == revision + 1) }
            for change in commit.changes {
                #expect(values?[change.key] == change.old, "\(commit.revision)")
                values?[change.key] = change.new
            }
            revision = commit.revision
        }
    }
}

@Suite("A replica fed by a watch")
struct WatchReplicaTests {
    @Test("groups deleted and made again behind the back of a slow observer do not mix", arguments: ["1M", "16K"])
    func deletedBehindItsBack(queueSize: String) throws {
        let daemon = try RunningDaemon(configuration: ["MaxQueueSize=\(queueSize)"])
        let peer = try daemon.peer(with: .example)
        let slow = try SettingsPeer(daemon)
        try slow.watch([WatchedGroup(group: .example)])
        var replica = Replica()
        replica.take(try slow.event())
        // More than its socket takes, so that the rest waits.
        for number in 1...60 {
            let text = Value.string(String(repeating: "x", count: 10_000) + "\(number)")
            try peer.write(.example, [.set("text", text), .set("n", .integer(Int64(number)))])
        }
        for incarnation in 1...3 {
            try peer.call(.deleteGroup(.example))
            try peer.create(.example)
            for step in 0..<(8 - 2 * incarnation) {
                let name = Value.string("\(incarnation).\(step)")
                try peer.write(.example, [.set("who", name), .set(Key("key\(step)"), name)])
            }
        }
        let end = try peer.read(.example)
        while replica.epochs.last != end.position?.epoch || replica.revision != end.position?.revision {
            replica.take(try slow.event())
        }
        #expect(replica.values == end.values)
        try peer.write(.example, [.set("last", .integer(1))])
        replica.take(try slow.event())
        #expect(replica.values == (try peer.read(.example).values))
    }

    @Test("a replica that resumes again and again has every state in its order")
    func resuming() throws {
        let daemon = try RunningDaemon(configuration: ["HistoryCommits=30"])
        let peer = try daemon.peer(with: .example)
        var replica = Replica()
        try SplitMix64.withSeed { random in
            for _ in 0..<40 {
                for _ in 0..<Int.random(in: 1...25, using: &random) {
                    let key = Key("k\(Int.random(in: 0..<6, using: &random))")
                    let value = Value.integer(Int64.random(in: 0..<4, using: &random))
                    try peer.write(.example, [Bool.random(using: &random) ? .set(key, value) : .remove(key)])
                }
                let end = try peer.read(.example)
                let watcher = try SettingsPeer(daemon)
                let since = replica.epochs.last.map { Position(epoch: $0, revision: replica.revision) }
                try watcher.watch([WatchedGroup(group: .example, since: since)])
                repeat { replica.take(try watcher.event()) } while replica.revision < end.position?.revision ?? 0
                #expect(replica.values == end.values)
            }
        }
    }
}
