import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import Testing
import TestSupport

/// Fault R102: an observer that does not read costs a bounded amount of memory, and nobody else anything.
@Suite(.serialized) struct CampaignStoppedObserverTests {
    private let group = GroupIdentifier.example
    private static let commitCount = 100_000
    /// What the daemon may need beyond its size before: the queue of the observer (1 MiB) with its bookkeeping, the
    /// socket's messages, the index of two histories, and the text of two histories of about 3 MiB each while the
    /// journal is compacted.
    private static let growthLimit = 40 << 20

    @Test func r102StoppedObserverCostsBoundedMemoryAndDelaysNobody() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        try peer.create(group)
        let stopped = try CampaignScript.observer.start([daemon.socket, group.string])
        #expect(try stopped.readLine() == "ready")
        let probe = try Probe(daemon, group)
        let latencyBefore = try probe.medianLatency()
        let sizeBefore = try daemon.residentSize()

        stopped.kill(SIGSTOP)
        let follower = Follower(socket: daemon.socket, group: group)
        let other = Background { try follower.run() }
        #expect(try eventually { try peer.status(of: group)?.watchers == 3 })
        let writer = Writer(
            socket: daemon.socket, group: group, name: "w", depth: 64, keyCount: 64, count: Self.commitCount)
        let storm = Background { try writer.run() }
        var largest = sizeBefore
        while try peer.read(group, keys: ["w.\((Self.commitCount - 1) % 64)"]).values.values.first
            != .integer(Int64(Self.commitCount - 1))
        {
            largest = max(largest, try daemon.residentSize())
        }
        #expect(try storm.value().count == Self.commitCount)
        #expect(largest - sizeBefore < Self.growthLimit)
        let latencyDuring = try probe.medianLatency()
        // Twenty times would be a daemon that does something with the stopped one at every commit.
        #expect(latencyDuring < latencyBefore * 20)

        stopped.kill(SIGCONT)
        try peer.write(group, [.set(Follower.end, .integer(1))])
        let told = try #require(try stopped.readLine(seconds: 60))
        let trace = try other.value()
        let state = try peer.read(group)
        #expect(trace.problems == [])
        #expect(trace.replica == state.values)
        try expectNewestValues(told, state.values)
        print("R102: \(sizeBefore >> 10) KiB before, \(largest >> 10) KiB at most; probe \(latencyBefore) before,",
            "\(latencyDuring) during; folded for the other \(trace.foldedCount); the stopped one: \(told.prefix(80))")
    }

    private func expectNewestValues(_ told: String, _ values: [Key: Value]) throws {
        let report = try #require(try JSONSerialization.jsonObject(with: Data(told.utf8)) as? [String: Any])
        let integers = try #require(report["values"] as? [String: Int])
        #expect(Dictionary(uniqueKeysWithValues: integers.map { (Key($0), Value.integer(Int64($1))) }) == values)
        let coalesced = report["coalesced"] as? Int ?? 0
        #expect(coalesced > 0 || (report["reasons"] as? [String])?.contains("overflow") == true)
    }
}

/// Measures how long a write takes to come to an observer: one at a time.
private struct Probe {
    let writer: SettingsPeer
    let observer: SettingsPeer
    let group: GroupIdentifier

    init(_ daemon: RunningDaemon, _ group: GroupIdentifier) throws {
        writer = try SettingsPeer(daemon)
        observer = try SettingsPeer(daemon)
        self.group = group
        try observer.watch([WatchedGroup(group: group, keys: ["probe"])])
        _ = try observer.event()
    }

    func medianLatency() throws -> Duration {
        let start = try writer.read(group, keys: ["probe"]).values["probe"] ?? .integer(0)
        guard case .integer(let first) = start else { return .zero }
        var latencies: [Duration] = []
        for number in first + 1...first + 200 {
            let begin = ContinuousClock.now
            try writer.write(group, [.set("probe", .integer(number))])
            _ = try observer.commit()
            latencies.append(.now - begin)
        }
        return latencies.sorted()[latencies.count / 2]
    }
}

extension RunningDaemon {
    struct NoFigure: Error {}

    /// In bytes.
    func residentSize() throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process?.pid ?? 0)/status", encoding: .utf8)
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        guard let kilobytes = line?.split(separator: " ").compactMap({ Int($0) }).first else { throw NoFigure() }
        return kilobytes << 10
    }

    func descriptorCount() throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process?.pid ?? 0)/fd").count
    }
}
