import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// The main promise on the real daemon: every observer gets every commit once, in order, whoever writes and however
/// often the daemon is killed.
@Suite(.serialized) struct CampaignObserverTests {
    private let group = GroupIdentifier.example

    enum Writers: CaseIterable { case threads, processes }

    @Test(arguments: Writers.allCases) func twoObserversSeeEachOfTenThousandCommitsOfFourWritersOnce(
        _ writers: Writers
    ) throws {
        // So much that an observer which a busy machine holds up is told each commit by itself all the same.
        let daemon = try RunningDaemon(configuration: ["MaxQueueSize=64M"])
        let peer = try SettingsPeer(daemon)
        try peer.create(group)
        let observers = try follow(daemon, peer)
        switch writers {
        case .threads: try writeFromThreads(daemon.socket)
        case .processes: try writeFromProcesses(daemon.socket)
        }
        try peer.write(group, [.set(Follower.end, .boolean(true))])

        let history = try peer.wholeHistory(of: group)
        #expect(history.keys.sorted() == Array(1...10_000))
        let state = try peer.read(group)
        for observer in observers {
            let trace = try observer.value()
            #expect(trace.problems == [])
            #expect(trace.snapshotReasons == ["initial"])
            #expect(trace.position == state.position)
            #expect(trace.replica == state.values)
            #expect(trace.foldedCount == 0)
            #expect(trace.commits.keys.sorted() == Array(1...10_000))
            #expect(trace.contradictions(to: history) == [])
        }
        try peer.call(.synchronize(group))
        #expect(try plistValues(daemon) == state.values)
    }

    @Test(arguments: [[], ["HistoryCommits=300"]])
    func noAcknowledgedWriteIsLostAndNoRevisionDiffersWhileTheDaemonIsKilled(
        configuration: [String]
    ) throws {
        let daemon = try RunningDaemon(configuration: configuration)
        let epoch = try #require(try beginGroup(daemon))
        let observers = try follow(daemon, SettingsPeer(daemon))
        let stop = Flag()
        let (socket, group) = (daemon.socket, group)
        let writers = (0..<4).map { number in
            Background {
                try Writer(socket: socket, group: group, name: "w\(number)", stop: stop, insists: true).run()
            }
        }
        for _ in 0..<12 {
            // The fault itself, not a wait for anything.
            Thread.sleep(forTimeInterval: 0.2)
            try daemon.kill()
            try daemon.start()
        }
        stop.raise()
        let acknowledged = try writers.flatMap { try $0.value() }
        let peer = try SettingsPeer(daemon)
        try peer.write(group, [.set(Follower.end, .boolean(true))])
        let traces = try observers.map { try $0.value() }

        let state = try peer.read(group)
        #expect(state.position?.epoch == epoch)
        let history = try peer.wholeHistory(of: group)
        for trace in traces {
            #expect(trace.problems == [])
            // Where nothing is forgotten each return goes on where it stood.
            if configuration.isEmpty { #expect(trace.snapshotReasons == ["initial"]) }
            #expect(trace.replica == state.values)
            #expect(trace.contradictions(to: history) == [])
        }
        #expect(traces[0].contradictions(to: traces[1].commits) == [])
        let seen = traces[0].commits.merging(traces[1].commits) { $1 }.merging(history) { $1 }
        expectExactlyOnce(acknowledged, in: seen, isWhole: seen.count == Int(state.position?.revision ?? 0))
        #expect(seen.values.allSatisfy { $0.origin.kind == .client })
        try peer.call(.synchronize(group))
        #expect(try plistValues(daemon) == state.values)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: daemon.state).filter { $0.contains("damaged") } == [])
        print("killed 12 times: \(acknowledged.count) writes, revision \(state.position?.revision ?? 0)")
    }
}

extension CampaignObserverTests {
    private func beginGroup(_ daemon: RunningDaemon) throws -> Epoch? {
        let peer = try SettingsPeer(daemon)
        try peer.create(group)
        return try peer.read(group).position?.epoch
    }

    private func follow(_ daemon: RunningDaemon, _ peer: SettingsPeer) throws -> [Background<Trace>] {
        let follower = Follower(socket: daemon.socket, group: group)
        let observers = (0..<2).map { _ in Background { try follower.run() } }
        #expect(try eventually { try peer.status(of: group)?.watchers == 2 })
        return observers
    }

    /// With the last one, `end`, they are 10,000.
    private func writeFromThreads(_ socket: String) throws {
        let writers = (0..<4).map { number in
            let writer = Writer(socket: socket, group: group, name: "w\(number)", count: number == 0 ? 2499 : 2500)
            return Background { try writer.run() }
        }
        for writer in writers { #expect(try writer.value().allSatisfy(\.hasChanged)) }
    }

    private func writeFromProcesses(_ socket: String) throws {
        let writers = try (0..<4).map {
            try CampaignScript.writer.start([socket, group.string, "w\($0)", $0 == 0 ? "2499" : "2500"])
        }
        for writer in writers {
            let outcome = try writer.finish()
            #expect(outcome.code == 0, "\(outcome.errors)")
        }
    }

    private func plistValues(_ daemon: RunningDaemon) throws -> [Key: Value] {
        let data = try Data(contentsOf: URL(filePath: daemon.plist(group.string)))
        return try XMLPropertyList(parsing: Array(data)).entries
    }

    /// Each write has one commit: no acknowledged one is missing, no repeated one was applied twice.
    private func expectExactlyOnce(_ acknowledged: [Acknowledged], in commits: [Int64: Commit], isWhole: Bool) {
        let byTag = Dictionary(grouping: commits.values) { $0.origin.tag ?? "" }
        #expect(byTag.allSatisfy { $0.key.isEmpty || $0.value.count == 1 })
        var wrong: [String] = []
        for write in acknowledged {
            let commit = byTag[write.tag]?.first
            if commit == nil, !isWhole { continue }
            let isThere = commit?.changes.first?.key == write.key && commit?.changes.first?.new == write.value
            if !isThere || (write.hasChanged && commit?.revision != write.revision) { wrong.append(write.tag) }
        }
        #expect(wrong == [])
    }
}
