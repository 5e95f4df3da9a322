import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// The replica's machine beside a naive daemon, in every order in which replies and news may come.
@Suite struct CommitMachineTests {
    private static let epoch = Epoch(high: 1, low: 2)

    /// Applies what it is sent, at once; its replies and commits are delivered later, each kind in order.
    private struct Daemon {
        var values: [Key: Value] = [:]
        var revision: Int64 = 0
        var replies: [(number: UInt64, revision: Int64, isCommit: Bool)] = []
        var news: [Commit] = []

        mutating func take(_ edits: [Edit], tag: String?) -> Bool {
            var changes: [Key: Change] = [:]
            for edit in edits {
                let old = changes[edit.key].map(\.old) ?? values[edit.key]
                try? edit.apply(to: &values[edit.key])
                changes[edit.key] = Change(key: edit.key, old: old, new: values[edit.key])
            }
            let real = changes.values.filter { $0.old != $0.new }.sorted { $0.key < $1.key }
            guard !real.isEmpty else { return false }
            revision += 1
            news.append(
                Commit(
                    group: .none, revision: revision, time: Timestamp(microseconds: 0),
                    origin: Origin(kind: .client, tag: tag), changes: real))
            return true
        }
    }

    private func machine() -> ReplicaMachine {
        var machine = ReplicaMachine(tagPrefix: "t")
        let position = Position(epoch: Self.epoch, revision: 0)
        _ = machine.take(.init(group: "none", position: position, values: [:], reason: "initial", isPartial: false))
        return machine
    }

    @Test func `a removal that waits is seen, whatever is confirmed below it`() throws {
        var (machine, daemon) = (machine(), Daemon())
        _ = try machine.submit([.set("k", .integer(1))])
        send(&machine, &daemon)
        _ = try machine.submit([.remove("k")])
        deliverNews(&machine, &daemon)
        #expect(machine.visible["k"] == nil)
    }

    @Test func `a reader sees its own writes at all times, and at the end what the daemon holds`() {
        SplitMix64.withSeed { random in
            for _ in 0..<300 { run(&random) }
        }
    }

    private func run(_ random: inout SplitMix64) {
        var (machine, daemon) = (machine(), Daemon())
        var own: [Key: Value] = [:]
        for _ in 0..<200 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                let edits = (0..<Int.random(in: 1...3, using: &random)).map { _ in edit(&random) }
                guard (try? machine.submit(edits)) != nil else { continue }
                for edit in edits { try? edit.apply(to: &own[edit.key]) }
            case 4..<6: send(&machine, &daemon)
            case 6..<8: deliverReply(&machine, &daemon)
            default: deliverNews(&machine, &daemon)
            }
            #expect(machine.visible == own)
        }
        while machine.hasUnconfirmedWrites || !daemon.news.isEmpty {
            send(&machine, &daemon)
            deliverReply(&machine, &daemon)
            deliverNews(&machine, &daemon)
        }
        #expect(machine.visible == daemon.values)
        #expect(machine.isAnswered(upTo: machine.newestNumber))
    }

    @Test func `what waits without a daemon is no more than the keys, and nothing is lost`() throws {
        var (machine, daemon) = (machine(), Daemon())
        for number in 0..<100_000 {
            _ = try machine.submit([.set(Key("k\(number % 10)"), .integer(Int64(number)))])
        }
        #expect(machine.writes.count <= 256)
        #expect(!machine.isAnswered(upTo: 1))
        let expected = machine.visible
        while machine.hasUnconfirmedWrites {
            send(&machine, &daemon)
            deliverReply(&machine, &daemon)
            deliverNews(&machine, &daemon)
        }
        #expect(daemon.values == expected)
        #expect(machine.visible == expected)
    }

    private func edit(_ random: inout SplitMix64) -> Edit {
        let key = Key("k\(Int.random(in: 0..<4, using: &random))")
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return .remove(key)
        case 1: return Edit(key: key, operation: .increment, value: .integer(1))
        default: return .set(key, .integer(Int64.random(in: 0..<3, using: &random)))
        }
    }

    private func send(_ machine: inout ReplicaMachine, _ daemon: inout Daemon) {
        guard let (number, write) = machine.nextToSend() else { return }
        let isCommit = daemon.take(write.edits, tag: machine.tag(of: number))
        daemon.replies.append((number, daemon.revision, isCommit))
    }

    private func deliverReply(_ machine: inout ReplicaMachine, _ daemon: inout Daemon) {
        guard !daemon.replies.isEmpty else { return }
        let reply = daemon.replies.removeFirst()
        let position = Position(epoch: Self.epoch, revision: reply.revision)
        _ = machine.acknowledged(reply.number, at: position, changed: reply.isCommit)
    }

    private func deliverNews(_ machine: inout ReplicaMachine, _ daemon: inout Daemon) {
        guard !daemon.news.isEmpty else { return }
        _ = machine.take(daemon.news.removeFirst(), coalesced: nil)
    }
}
