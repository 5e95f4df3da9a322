import Foundation
import TestSupport

/// The real daemon under `AppGroupTracer`: killed at one of its system calls, or watched for what it does to files. On the
/// store of a `RunningDaemon` that is not running.
final class TracedDaemon {
    private let process: ChildProcess
    private let report: String

    /// Starts it, and waits for nothing: it may be dead before it serves.
    init(
        _ daemon: RunningDaemon, killAt point: Int? = nil, record: String? = nil, environment: [String: String] = [:]
    ) throws {
        report = daemon.directory.file("tracer.report")
        var options = ["--report", report]
        if let point { options += ["--kill", "\(point)"] }
        if let record { options += ["--record", record] }
        process = try ChildProcess(
            builtProgram("AppGroupTracer"), options + ["--", daemonProgram] + daemon.commandLine,
            environment: ["HOME": daemon.directory.path, "PATH": "/usr/bin:/bin"].merging(environment) { $1 },
            inheriting: false)
    }

    /// What the tracer counted.
    struct Report {
        var points = 0
        /// Where it was killed, if it was.
        var killed: String?
    }

    func terminate() { process.kill(SIGTERM) }

    var hasEnded: Bool { (try? process.waitForEnd(seconds: 0)) != nil }

    /// Waits for its end.
    func finish() throws -> Report {
        let outcome = try process.finish()
        let lines = try String(contentsOfFile: report, encoding: .utf8).split(separator: "\n")
        var result = Report()
        for line in lines {
            let words = line.split(separator: " ", maxSplits: 2)
            if words.first == "points" { result.points = Int(words[1]) ?? 0 }
            if words.first == "killed", words.count == 3 { result.killed = String(words[2]) }
        }
        if result.killed == nil, outcome.code != 0 { throw Failed(description: outcome.errors) }
        return result
    }

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }
}
