import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// The daemon killed at random moments, also while it starts, under writers, observers and an editor that replaces the file
/// and saves it in place.
@Suite(.serialized) struct TortureRandomTests {
    /// How many kills a store goes through, before all of it is looked at and the next one begins.
    private static let killsOfRound = 50

    @Test func nothingIsLostWhileTheDaemonIsKilledAtRandom() throws {
        try SplitMix64.withSeed { random in
            let rounds = Torture.isLong ? (Torture.kills + Self.killsOfRound - 1) / Self.killsOfRound : 1
            var (kills, writes, edits, problems) = (0, 0, 0, [String]())
            for number in 0..<rounds {
                let round = try RandomRound(number, seed: random.next())
                try round.run(kills: Self.killsOfRound)
                kills += round.kills
                writes += round.acknowledged.count
                edits += round.edits.count
                problems += round.problems.map { "round \(number): \($0)" }
            }
            #expect(problems == [])
            Torture.report(
                "killed at random", tried: "\(kills) kills, \(writes) acknowledged writes, \(edits) edits of the file",
                found: Torture.outcome(problems))
        }
    }
}

/// One store, and what happened to it.
private final class RandomRound {
    private let group = GroupIdentifier.example
    private let daemon: RunningDaemon
    /// Whether the history keeps every commit; else there are compactions.
    private let isWhole: Bool
    private var random: SplitMix64
    private(set) var kills = 0
    private(set) var acknowledged: [Acknowledged] = []
    private(set) var edits: [Key] = []
    private(set) var problems: [String] = []

    init(_ number: Int, seed: UInt64) throws {
        random = SplitMix64(seed: seed)
        isWhole = number % 2 == 0
        daemon = try RunningDaemon(configuration: [
            "HistoryCommits=\(isWhole ? 1_000_000 : 100)", "Durability=\(number % 4 < 2 ? "process" : "power")",
            "SyncIntervalSec=100ms",
        ])
    }

    func run(kills count: Int) throws {
        let peer = try daemon.peer(with: group)
        try peer.write(group, [.set("first", .integer(1))])
        try peer.synchronize(group)
        let followers = (0..<2).map { _ in
            let follower = Follower(socket: daemon.socket, group: group)
            return Background { try follower.run() }
        }
        let stop = Flag()
        let writers = (0..<3).map { number in
            let writer = Writer(
                socket: daemon.socket, group: group, name: "w\(number)", depth: 4, stop: stop, isDurable: number == 2,
                insists: true)
            return Background { try writer.run() }
        }
        try killWhileEditing(count)
        stop.raise()
        acknowledged = try writers.flatMap { try $0.value() }
        try judge(followers.map { try $0.value() })
    }

    /// The editor has a set number of saves to make: one who is killed in the middle of saving would leave half a file.
    private func killWhileEditing(_ count: Int) throws {
        let editor = try CampaignScript.editor.start(
            [daemon.plist(group.string), "\(random.next() >> 1)", "\(count * 3)", "0.08"])
        while kills < count {
            // Half of them while it serves, however long a busy machine takes to come to that.
            if Bool.random(using: &random) { try daemon.awaitService() }
            // From a millisecond to a quarter of a second after its start, each length as often as its double.
            Thread.sleep(forTimeInterval: 0.001 * pow(250, Double.random(in: 0..<1, using: &random)))
            try daemon.kill()
            kills += 1
            // The editor may be in the middle of saving.
            var found: [String] = []
            _ = eventually {
                found = StoreCheck.file(daemon, group, [])
                return found.isEmpty
            }
            problems += found.map { "after kill \(kills): \($0)" }
            try daemon.launch()
        }
        try daemon.awaitService()
        let outcome = try editor.finish(seconds: 120)
        if outcome.code != 0 { problems.append("the editor: \(outcome.errors)") }
        edits = outcome.output.split(separator: "\n").map { Key(String($0)) }
    }

    private func judge(_ followers: @autoclosure () throws -> [Trace]) throws {
        let peer = try SettingsPeer(daemon)
        try peer.synchronize(group)
        try peer.write(group, [.set(Follower.end, .boolean(true))])
        let traces = try followers()
        try peer.synchronize(group)
        let values = try peer.read(group).values
        let commits = try peer.wholeHistory(of: group)
        for trace in traces {
            problems += trace.problems
            if trace.replica != values { problems.append("an observer has something else than the daemon") }
            let contradictions = trace.contradictions(to: commits)
            if !contradictions.isEmpty { problems.append("told otherwise: revisions \(contradictions.prefix(5))") }
        }
        problems += try StoreCheck.agreement(daemon, group, values, [])
        judgeWrites(commits)
        judgeEdits(commits, values)
    }

    /// Each acknowledged write has one commit, of the revision that was acknowledged. An editor that saves what it read
    /// before takes a write back, visibly; a write that was repeated then may be there twice.
    private func judgeWrites(_ commits: [Int64: Commit]) {
        let byTag = Dictionary(grouping: commits.values) { $0.origin.tag ?? "" }
        for write in acknowledged {
            let own = (byTag[write.tag] ?? []).filter {
                $0.changes.contains { $0.key == write.key && $0.new == write.value }
            }
            let isThere = own.contains { !write.hasChanged || $0.revision <= write.revision }
            if !isThere, isWhole { problems.append("\(write.tag) of revision \(write.revision) is lost") }
            if write.hasChanged, let commit = commits[write.revision], commit.origin.tag != write.tag {
                problems.append("revision \(write.revision) is not \(write.tag)")
            }
        }
    }

    /// Each edit came in by a commit of the file, and is there unless a later save took it out.
    private func judgeEdits(_ commits: [Int64: Commit], _ values: [Key: Value]) {
        let changes = commits.values.filter { $0.origin.kind == .file }.flatMap(\.changes)
        let added = Set(changes.filter { $0.new != nil }.map(\.key))
        let removed = Set(changes.filter { $0.new == nil }.map(\.key))
        for key in edits {
            if isWhole, !added.contains(key) { problems.append("\(key) never came in") }
            if isWhole, values[key] == nil, !removed.contains(key) { problems.append("\(key) is lost") }
        }
    }
}
