import Foundation
import TestSupport

/// A process of `AppGroupStress`: what it says, line by line. Used by one thread at a time.
final class CampaignWorker {
    /// It ended, or said nothing for too long.
    struct Silent: Error, CustomStringConvertible {
        let description: String
    }

    private let process: ChildProcess
    /// All that it has said so far.
    private(set) var lines: [String] = []

    init(_ daemon: RunningDaemon, _ arguments: [String], environment: [String: String] = [:]) throws {
        let environment = daemon.clientEnvironment.merging(environment) { $1 }
        process = try ChildProcess(
            builtProgram("AppGroupStress"), arguments, environment: environment, inheriting: false)
    }

    /// Reads on until it says this word, and gives what stands behind it.
    @discardableResult
    func wait(for word: String, seconds: Double = 60) throws -> String {
        try wait(forAny: [word], seconds: seconds).rest
    }

    /// Reads on until it says one of these words, and gives it and what stands behind it.
    func wait(forAny words: [String], seconds: Double = 60) throws -> (word: String, rest: String) {
        while let line = try process.readLine(seconds: seconds) {
            lines.append(line)
            let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if words.contains(parts[0]) { return (parts[0], parts.count == 2 ? parts[1] : "") }
        }
        let end = try process.finish()
        throw Silent(
            description: "\(end.ending) before it said \(words): \(lines.suffix(20)) \(end.errors.suffix(8000))")
    }

    func tell(_ line: String) {
        process.write(line + "\n")
    }

    /// Its end, after which all lines are there.
    func finish(seconds: Double = 60) throws -> ChildProcess.Outcome {
        let outcome = try process.finish(seconds: seconds)
        lines += outcome.output.split(separator: "\n").map(String.init)
        return outcome
    }

    /// What stands behind a word in all lines that begin with it.
    func all(_ word: String) -> [String] {
        lines.filter { $0.hasPrefix(word + " ") }.map { String($0.dropFirst(word.count + 1)) }
    }

    func number(_ word: String) -> Int {
        all(word).compactMap { Int($0) }.reduce(0, +)
    }
}

/// Several processes that load one group, and what has to hold of it afterwards.
struct CampaignCrowd {
    static let group = "group.com.example.load"

    let daemon: RunningDaemon
    let workers: [CampaignWorker]

    /// Seconds of 0: until `stop`.
    init(_ daemon: RunningDaemon, processes: Int, threads: Int, seconds: Int, seed: UInt64) throws {
        self.daemon = daemon
        workers = try (0..<processes).map { number in
            let seed = seed &+ UInt64(number) &* 1000
            return try CampaignWorker(
                daemon, ["load", Self.group, "p\(number)", "\(seed)", "\(threads)", "\(seconds)"])
        }
        for worker in workers { try worker.wait(for: "ready") }
    }

    func stop() {
        for worker in workers { worker.tell("stop") }
    }

    /// Waits until all have done what they do, and lets each say what the group is like then.
    ///
    /// - Returns: the digests.
    func digests(patience: Double) throws -> [String] {
        for worker in workers { try worker.wait(for: "done", seconds: patience) }
        let mark = "all are done"
        let written = try daemon.control(["write", Self.group, "mark", mark])
        if written.code != 0 { throw CampaignWorker.Silent(description: "no mark: \(written)") }
        for worker in workers { worker.tell(mark) }
        return try workers.map { try $0.wait(for: "digest", seconds: patience) }
    }

    func sum(_ word: String) -> Int { workers.map { $0.number(word) }.reduce(0, +) }
}
