import Glibc
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

    @Test("what an observer missed while it did not read fits what comes in the very turn in which it reads again")
    func caughtUpDuringATurn() throws {
        let daemon = try RunningDaemon(configuration: ["MaxQueueSize=16K"])
        let peer = try daemon.peer(with: .example)
        let process = try #require(daemon.process)
        let slow = try SettingsPeer(daemon)
        try slow.watch([WatchedGroup(group: .example)])
        var replica = Replica()
        replica.take(try slow.event())
        func write(_ key: Int, _ number: Int) -> Request {
            let text = Value.string(String(repeating: "x", count: 1000) + "\(number)")
            return .write(WriteRequest(group: .example, edits: [.set(Key("k\(key)"), text)]))
        }
        for round in 1...20 {
            // More than its socket and its queue take: the rest is put together.
            for number in 0..<400 { try peer.call(write(number % 8, round * 1000 + number)) }
            // It reads, and more is written, while the daemon looks away: both are there in its next turn.
            process.kill(SIGSTOP)
            for bytes in try slow.peer.readArrivedMessages() {
                let reply = try slow.checked(Reply(parsing: bytes))
                replica.take(try #require(WatchEvent(wire: reply)))
            }
            for key in 0..<16 { try peer.send(write(key, round)) }
            process.kill(SIGCONT)
            var position: Position?
            for _ in 0..<16 {
                position = try peer.checked(peer.receive())["position"].flatMap(Position.init(wire:))
            }
            while replica.revision != position?.revision { replica.take(try slow.event()) }
            #expect(replica.values == (try peer.read(.example).values))
        }
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
