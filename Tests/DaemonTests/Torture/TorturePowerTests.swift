import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// The power cut at every moment of what the daemon does to its files. What it does is recorded once; then all is tried that
/// a file system may leave: writes lost, torn or zeros since the last fsync, renames before data, names lost. The real
/// daemon is started on each.
@Suite(.serialized) struct TorturePowerTests {
    private let group = PowerScript.group

    /// How many states of each recording the short form tries.
    private static let shortCount = 25

    typealias Beginning = TortureKillTests.Beginning

    @Test(arguments: Beginning.allCases, ["power", "process"])
    func whatWasPromisedSurvives(_ beginning: Beginning, _ durability: String) throws {
        try SplitMix64.withSeed { random in
            let campaign = try PowerCampaign(beginning, durability) { try $0.run() }
            let limit = Torture.isLong ? Torture.states : Self.shortCount
            let problems = try campaign.run(limit: limit, &random)
            #expect(problems == [])
            Torture.report(
                "power cut, Durability=\(durability), beginning with \(beginning)",
                tried: "\(campaign.tried) states of \(campaign.stateCount), \(campaign.operationCount) disk operations",
                found: Torture.outcome(problems))
        }
    }

    @Test func whatWasSyncedDuringARewriteOfTheJournalSurvivesIt() throws {
        try SplitMix64.withSeed { random in
            let kernel = try FakeKernel()
            let campaign = try PowerCampaign(.nothing, "process", environment: kernel.environment) {
                try $0.syncWhileRewriting(kernel)
            }
            let problems = try campaign.run(limit: .max, &random)
            #expect(problems == [])
            Torture.report(
                "power cut when the journal was synced during its rewrite",
                tried: "all \(campaign.tried) states from then on", found: Torture.outcome(problems))
        }
    }
}

/// One recording, and the states that are made of it.
private final class PowerCampaign {
    private let configuration: [String]
    private let recording: DiskRecording
    private let script: PowerScript
    private let disk: Disk
    private let isPower: Bool
    private(set) var tried = 0
    private(set) var stateCount = 0

    var operationCount: Int { recording.entries.count { $0.operation.isOnDisk } }

    init(
        _ beginning: TorturePowerTests.Beginning, _ durability: String, environment: [String: String] = [:],
        play: (PowerScript) throws -> Void
    ) throws {
        configuration = [
            "Durability=\(durability)", "SyncIntervalSec=\(PowerScript.syncInterval)us",
            "HistoryCommits=\(PowerScript.historyCommits)",
        ]
        let isPower = durability == "power"
        self.isPower = isPower
        let template =
            beginning == .nothing
            ? try StoreTemplate() : try StoreTemplate(PowerScript.group, configuration: configuration)
        let daemon = try template.copy(configuration: configuration)
        disk = try Disk(holding: daemon.directory.path, only: ["root", "state"])
        let path = daemon.directory.file("recording")
        let traced = try TracedDaemon(daemon, record: path, environment: environment)
        var script: PowerScript?
        let serves = eventually {
            script = try? PowerScript(
                daemon, isPower: isPower, from: template.state, at: template.position?.revision ?? 0)
            return script != nil
        }
        self.script = try #require(script, "it does not serve: \(serves)")
        try play(self.script)
        traced.terminate()
        _ = try traced.finish()
        var recording = try DiskRecording(path)
        for edit in self.script.recordings { recording.merge(try DiskRecording(edit)) }
        self.recording = recording
    }

    private struct Try {
        /// The power goes before this entry.
        var cut: Int
        var loss: Loss
        var seed: UInt64
    }

    /// Tries states until the limit, each with what must hold of it; gives what did not.
    func run(limit: Int, _ random: inout SplitMix64) throws -> [String] {
        // Torn states are chance, so each moment has some of them.
        let losses = Loss.allCases + [.some, .some]
        var tries: [Try] = []
        for cut in 0...recording.entries.count where isOnDisk(cut) && isWanted(cut) {
            tries += losses.map { Try(cut: cut, loss: $0, seed: random.next()) }
        }
        stateCount = tries.count
        tries = Array(tries.shuffled(using: &random).prefix(limit)).sorted { $0.cut < $1.cut }
        return try play(tries)
    }

    /// Nothing comes after the end: that counts, too.
    private func isOnDisk(_ index: Int) -> Bool {
        index == recording.entries.count || recording.entries[index].operation.isOnDisk
    }

    private func isWanted(_ index: Int) -> Bool {
        index == recording.entries.count || recording.entries[index].time >= script.rewriteGoesOn
    }

    private func play(_ tries: [Try]) throws -> [String] {
        var (disk, done, messages, problems) = (self.disk, 0, 0, [String]())
        for attempt in tries {
            while done < attempt.cut {
                if case .send(let count) = recording.entries[done].operation { messages += count }
                disk.apply(recording.entries[done].operation)
                done += 1
            }
            let name = "cut before \(attempt.cut) (\(describe(attempt.cut))), lost \(attempt.loss) \(attempt.seed)"
            do {
                problems += try check(disk, attempt, demand(at: attempt.cut, messages)).map { "\(name): \($0)" }
            } catch {
                problems.append("\(name): \(error)")
            }
            tried += 1
        }
        return problems
    }

    private func describe(_ index: Int) -> String {
        index < recording.entries.count ? "\(recording.entries[index].operation)".prefix(100) + "" : "the end"
    }

    /// What the replies up to here have promised.
    private func demand(at cut: Int, _ messages: Int) -> PowerScript.Promise {
        guard messages > 0 else { return PowerScript.Promise(durable: 0, acknowledged: 0) }
        var promise = script.promises[messages - 1]
        guard !isPower, cut < recording.entries.count else { return promise }
        // A write of longer ago than the interval is there too; the disk itself may take a while.
        let limit = recording.entries[cut].time - PowerScript.syncInterval - Int(500_000 * timeoutScale)
        var older = 0
        for entry in recording.entries[..<cut] where entry.time < limit {
            if case .send(let count) = entry.operation { older += count }
        }
        if older > 0 { promise.durable = max(promise.durable, script.promises[older - 1].acknowledged) }
        return promise
    }
}

// MARK: - The daemon on what is left

extension PowerCampaign {
    private func check(_ disk: Disk, _ attempt: Try, _ demand: PowerScript.Promise) throws -> [String] {
        var random = SplitMix64(seed: attempt.seed)
        let daemon = try RunningDaemon(configuration: configuration, starts: false) { daemon in
            try disk.lay(out: attempt.loss, &random, at: daemon.directory.path)
        }
        let path = daemon.plist(PowerScript.group.string)
        let before = try? Data(contentsOf: URL(filePath: path))
        do {
            try daemon.start()
        } catch {
            return ["it does not start: \(error)"]
        }
        let peer = try SettingsPeer(daemon)
        let groups = try peer.groups()
        var problems: [String] = []
        if let hasVisitor = demand.hasVisitor, groups.contains(PowerScript.visitor.string) != hasVisitor {
            problems.append("the groups are \(groups)")
        }
        guard groups.contains(PowerScript.group.string) else {
            if demand.durable > 0 { problems.append("the group is gone, revision \(demand.durable) was durable") }
            return problems
        }
        return try problems + check(peer, daemon, before, demand)
    }

    private func check(
        _ peer: SettingsPeer, _ daemon: RunningDaemon, _ before: Data?, _ demand: PowerScript.Promise
    ) throws -> [String] {
        var problems: [String] = []
        let isSound = before.map(Self.isPropertyList) ?? true
        let path = daemon.plist(PowerScript.group.string)
        // Nobody was told yet that there is a group: it may be half made, and whoever makes it again has it whole.
        if demand.durable == 0 { try peer.create(PowerScript.group) }
        let refusal = try peer.refusal(of: .synchronize(PowerScript.group))
        if isSound, let refusal { problems.append("it cannot be synchronized: \(refusal)") }
        if !isSound {
            let status = try peer.status(of: PowerScript.group)
            if status?.plist != .damaged { problems.append("a damaged plist is \(String(describing: status?.plist))") }
            if try Data(contentsOf: URL(filePath: path)) != before { problems.append("a damaged plist was touched") }
        }
        guard isSound || demand.durable > 0 else { return problems }
        let (position, values) = try peer.read(PowerScript.group)
        problems += judge(position, values, demand)
        if isSound, refusal == nil {
            let entries = try Plist.exists(path) ? Plist.entries(path) : [:]
            if entries != values { problems.append("the plist holds something else") }
            let directory = URL(filePath: path).deletingLastPathComponent().path
            let names = try FileManager.default.contentsOfDirectory(atPath: directory)
            let others = names.filter { $0 != "\(PowerScript.group).plist" && !$0.hasSuffix("~") }
            if !others.isEmpty { problems.append("left: \(others)") }
        }
        // A journal may be in the middle of being rewritten.
        let isTidy = try eventually {
            try !FileManager.default.contentsOfDirectory(atPath: daemon.state).contains { $0.hasSuffix(".new") }
        }
        return isTidy ? problems : problems + ["an unfinished journal is left"]
    }

    private func judge(_ position: Position?, _ values: [Key: Value], _ demand: PowerScript.Promise) -> [String] {
        let revision = position?.revision ?? -1
        if revision < demand.durable { return ["at revision \(revision), \(demand.durable) was durable"] }
        let least = script.states[demand.durable] ?? [:]
        let lost = PowerScript.edits.filter { least[$0] != nil && values[$0] == nil }
        if !lost.isEmpty { return ["lost \(lost)"] }
        let state = Self.withoutEdits(values)
        let matches = script.states.contains { $0.key >= demand.durable && Self.withoutEdits($0.value) == state }
        return matches ? [] : ["at revision \(revision), no state that ever was: \(values.keys.sorted())"]
    }

    private static func withoutEdits(_ values: [Key: Value]) -> [Key: Value] {
        values.filter { !PowerScript.edits.contains($0.key) }
    }

    private static func isPropertyList(_ data: Data) -> Bool {
        let object = unsafe try? PropertyListSerialization.propertyList(from: data, format: nil)
        return object is [String: Any]
    }
}
