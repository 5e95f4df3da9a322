import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

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
        let other = try CampaignScript.observer.start([daemon.socket, group.string])
        #expect(try other.readLine() == "ready")
        let storm = try CampaignScript.storm.start([daemon.socket, group.string, "w", "\(Self.commitCount)"])
        var largest = sizeBefore
        let last = Value.integer(Int64(Self.commitCount - 1))
        let isOver = try eventually(seconds: 120) {
            largest = max(largest, try daemon.residentSize())
            return try peer.read(group, keys: ["w.\((Self.commitCount - 1) % 64)"]).values.values.first == last
        }
        #expect(isOver)
        let outcome = try storm.finish()
        #expect(outcome.code == 0, "\(outcome.errors)")
        #expect(largest - sizeBefore < Self.growthLimit)
        let latencyDuring = try probe.medianLatency()
        // Twenty times would be a daemon that does something with the stopped one at every commit.
        #expect(latencyDuring < latencyBefore * 20)

        stopped.kill(SIGCONT)
        try peer.write(group, [.set(Follower.end, .integer(1))])
        let state = try peer.read(group)
        let told = try #require(try Report(stopped))
        #expect(told.replica == state.values)
        #expect(told.coalesced > 0 || told.reasons.contains("overflow"))
        let otherTold = try #require(try Report(other))
        #expect(otherTold.replica == state.values)
        #expect(otherTold.reasons == ["initial"])
        print(
            "R102: \(sizeBefore >> 10) KiB before, \(largest >> 10) KiB at most; probe \(latencyBefore) before,",
            "\(latencyDuring) during; folded for the stopped one \(told.coalesced), for the other \(otherTold.coalesced)"
        )
    }
}

/// What a script of an observer says at its end.
private struct Report: Decodable {
    let coalesced: Int
    let reasons: [String]
    let values: [String: Int64]

    init?(_ observer: ChildProcess) throws {
        guard let line = try observer.readLine(seconds: 60) else { return nil }
        self = try JSONDecoder().decode(Report.self, from: Data(line.utf8))
    }

    var replica: [Key: Value] {
        Dictionary(uniqueKeysWithValues: values.map { (Key($0), Value.integer($1)) })
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
