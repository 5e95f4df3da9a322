import Foundation
import TestSupport
import Testing

/// Many processes at once, with and without a daemon that is killed under them: all of them end with one state, no
/// increment is lost or made twice, and no observer hears of a change that goes on from something else than the last one.
///
/// Short in the suite; `APPGROUP_CAMPAIGN_SECONDS` and `APPGROUP_CAMPAIGN_KILLS` make them long.
@Suite(.serialized) struct CampaignLoadTests {
    private static func number(_ variable: String, or standard: Int) -> Int {
        ProcessInfo.processInfo.environment[variable].flatMap { Int($0) } ?? standard
    }

    private static let seconds = number("APPGROUP_CAMPAIGN_SECONDS", or: 5)
    private static let kills = number("APPGROUP_CAMPAIGN_KILLS", or: 30)

    @Test func `ten processes with four threads each end with one state`() throws {
        try SplitMix64.withSeed { random in
            let daemon = try RunningDaemon(isAtStandardPlace: true)
            let crowd = try CampaignCrowd(
                daemon, processes: 10, threads: 4, seconds: Self.seconds, seed: random.next())
            try check(crowd, patience: Double(Self.seconds) + 120)
        }
    }

    @Test func `a daemon that is killed again and again under load loses nothing`() throws {
        try SplitMix64.withSeed { random in
            let daemon = try RunningDaemon(isAtStandardPlace: true)
            let crowd = try CampaignCrowd(daemon, processes: 4, threads: 2, seconds: 0, seed: random.next())
            for _ in 0..<Self.kills {
                // What is tried is the moment of the kill; nothing is waited for.
                Thread.sleep(forTimeInterval: Double.random(in: 0.001...0.1, using: &random))
                try daemon.kill()
                if Bool.random(using: &random) {
                    Thread.sleep(forTimeInterval: Double.random(in: 0...0.05, using: &random))
                }
                try daemon.start()
            }
            crowd.stop()
            try check(crowd, patience: 180)
        }
    }

    private func check(_ crowd: CampaignCrowd, patience: Double) throws {
        let digests = try crowd.digests(patience: patience)
        #expect(Set(digests).count == 1, "\(digests)")
        for worker in crowd.workers {
            let outcome = try worker.finish()
            #expect(outcome.ending == .exited(0), "\(outcome.errors.suffix(8000))")
            #expect(worker.all("wrong") == [])
        }
        let values = try Self.values(crowd.daemon)
        let counts = (0..<3).compactMap { values["count.\($0)"] as? Int }.reduce(0, +)
        #expect(counts == crowd.sum("increments"))
        #expect((values["list"] as? [String])?.count == crowd.sum("appends"))
        for (name, last) in Self.pairs(crowd, "own") { #expect(values["own.\(name)"] as? Int == last) }
        for (name, count) in Self.pairs(crowd, "list") where count > 0 {
            #expect(values["list.\(name)"] as? [Int] == Array(1...count))
        }
        try checkDocument(crowd)
        print("operations \(crowd.sum("operations")), increments \(counts), changes \(crowd.sum("changes"))")
    }

    /// Every save is in the document that all have watched, as each process reads it.
    private func checkDocument(_ crowd: CampaignCrowd) throws {
        let saved = Self.pairs(crowd, "document").filter { $0.number > 0 }
        #expect(!saved.isEmpty)
        for worker in crowd.workers {
            let entries = Set(worker.all("entry"))
            #expect(entries == Set(saved.map { "\($0.name) \($0.number)" }))
        }
    }

    /// Lines such as `own p0.1 217`.
    private static func pairs(_ crowd: CampaignCrowd, _ word: String) -> [(name: String, number: Int)] {
        crowd.workers.flatMap { $0.all(word) }.compactMap { line in
            let words = line.split(separator: " ")
            guard words.count == 2, let number = Int(words[1]) else { return nil }
            return (String(words[0]), number)
        }
    }

    /// What the file says when everything is in it.
    private static func values(_ daemon: RunningDaemon) throws -> [String: Any] {
        let outcome = try daemon.control(["sync", CampaignCrowd.group])
        #expect(outcome.code == 0, "\(outcome.errors)")
        let data = try Data(contentsOf: URL(filePath: daemon.plist(CampaignCrowd.group)))
        return try unsafe PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any] ?? [:]
    }
}
