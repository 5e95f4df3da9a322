import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// The daemon killed at each of its system calls that changes something, one after the other: while it starts, takes writes,
/// writes the file, takes edits of it, rewrites its journal, makes and deletes a group, and ends.
@Suite(.serialized) struct TortureKillTests {
    private let group = KillScript.group

    /// How many points the short form tries, spread over all of them.
    private static let shortCount = 25

    enum Beginning: String, CaseIterable { case nothing, history }

    @Test(arguments: Beginning.allCases)
    func nothingIsLostWhicheverSystemCallIsTheLast(_ beginning: Beginning) throws {
        try SplitMix64.withSeed { random in
            let template =
                beginning == .nothing
                ? try StoreTemplate() : try StoreTemplate(group, configuration: KillScript.configuration)
            let count = try attempt(template, killAt: nil, again: nil).points
            #expect(count > 200, "the tracer counted \(count) points of a whole run")
            // Some more than were counted: no two runs are quite the same.
            let all = Array(1...count + count / 10)
            let points = Torture.isLong ? all : Array(all.shuffled(using: &random).prefix(Self.shortCount))
            var problems: [String] = []
            var kills = 0
            for point in points {
                // What recovers is killed as well, now and then.
                let again = Int.random(in: 0..<3, using: &random) == 0 ? Int.random(in: 1...120, using: &random) : nil
                let attempt = try attempt(template, killAt: point, again: again)
                kills += attempt.kills
                problems += attempt.problems.map { "killed at \(attempt.place): \($0)" }
            }
            #expect(problems == [])
            Torture.report(
                "killed at every system call, beginning with \(beginning)",
                tried: "\(kills) kills at \(points.count) of \(all.count) points",
                found: Torture.outcome(problems))
        }
    }

    private struct Attempt {
        var points = 0
        var kills = 0
        var place = "no point"
        var problems: [String] = []
    }

    /// One run of the script on a fresh copy, the daemon killed at a point, and perhaps at another one while it starts again;
    /// then what must hold.
    private func attempt(_ template: StoreTemplate, killAt point: Int?, again: Int?) throws -> Attempt {
        let daemon = try template.copy(configuration: KillScript.configuration)
        let script = KillScript(daemon, from: template.state, at: template.position)
        let follower = Follower(socket: daemon.socket, group: group, from: template.position, template.state)
        let comments = template.position == nil ? nil : template.comments
        let observer = Background { try follower.run() }
        var attempt = Attempt()
        let report = try play(script, on: daemon, killAt: point)
        attempt.points = report.points
        if let killed = report.killed {
            attempt.kills += 1
            attempt.place = "\(point ?? 0) (\(killed))"
        }
        attempt.problems = StoreCheck.file(daemon, group, comments)
        if let again {
            let traced = try TracedDaemon(daemon, killAt: again)
            if awaitService(daemon, traced) != nil { traced.terminate() }
            if let killed = try traced.finish().killed {
                attempt.kills += 1
                attempt.place += ", then at \(again) (\(killed))"
            }
            attempt.problems += StoreCheck.file(daemon, group, comments)
        }
        attempt.problems += try verify(daemon, script, observer, template.comments)
        return attempt
    }

    private func play(_ script: KillScript, on daemon: RunningDaemon, killAt point: Int?) throws -> TracedDaemon.Report
    {
        let traced = try TracedDaemon(daemon, killAt: point)
        if let peer = awaitService(daemon, traced) {
            do {
                try script.run(whenServed: peer)
            } catch is RawPeer.Failure {
                // It was killed under the script.
            }
        }
        traced.terminate()
        return try traced.finish()
    }

    /// A connection once it serves; nil when it was killed before.
    private func awaitService(_ daemon: RunningDaemon, _ traced: TracedDaemon) -> SettingsPeer? {
        var peer: SettingsPeer?
        _ = eventually {
            peer = try? SettingsPeer(daemon)
            return peer != nil || traced.hasEnded
        }
        return peer
    }

    private func verify(
        _ daemon: RunningDaemon, _ script: KillScript, _ observer: Background<Trace>, _ comments: [String]
    ) throws -> [String] {
        var problems: [String] = []
        try daemon.start()
        let peer = try SettingsPeer(daemon)
        if script.position == nil { try peer.create(group) }
        try peer.call(.synchronize(group))
        let (position, values) = try peer.read(group)
        if !script.candidates.contains(values) {
            let expected = script.candidates[0].filter { values[$0.key] != $0.value }.keys.sorted()
            problems.append("not as acknowledged: \(expected) of \(values.keys.sorted())")
        }
        if let newest = script.position, let position,
            position.epoch != newest.epoch || position.revision < newest.revision
        {
            problems.append("at \(position), behind \(newest)")
        }
        let groups = try peer.groups()
        if let hasVisitor = script.hasVisitor, groups.contains(KillScript.visitor.string) != hasVisitor {
            problems.append("the groups are \(groups)")
        }
        try peer.write(group, [.set(Follower.end, .boolean(true))])
        let trace = try observer.value()
        problems += trace.problems
        try peer.call(.synchronize(group))
        let last = try peer.read(group).values
        if trace.replica != last { problems.append("the observer has something else than the daemon") }
        return try problems + StoreCheck.agreement(daemon, group, last, comments)
    }
}
