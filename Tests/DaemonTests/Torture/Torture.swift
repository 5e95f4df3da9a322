import Foundation
import Synchronization
import TestSupport

/// How much the fault campaigns try: little in `make test`, much in `make torture`, which sets the environment.
enum Torture {
    private static let environment = ProcessInfo.processInfo.environment

    /// Where the report goes; only the long form has one.
    private static let reportPath = environment["APPGROUP_TORTURE_REPORT"]
    static let isLong = reportPath != nil

    /// How often the daemon is killed at random in the long form.
    static let kills = number("TORTURE_KILLS") ?? 2000
    /// How many crash states are tried of each recording in the long form.
    static let states = number("TORTURE_STATES") ?? 2000

    private static func number(_ name: String) -> Int? {
        environment[name].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    /// Lines of the report come from several suites.
    private static let writing = Mutex(())

    /// Says what was tried and what came of it: one row of the report, and a line on the standard output.
    static func report(_ campaign: String, tried: String, found: String) {
        print("torture: \(campaign): tried \(tried); \(found)")
        guard let reportPath else { return }
        writing.withLock { _ in
            guard let file = FileHandle(forWritingAtPath: reportPath) else { return }
            _ = try? file.seekToEnd()
            try? file.write(contentsOf: Data("| \(campaign) | \(tried) | \(found) |\n".utf8))
            try? file.close()
        }
    }

    /// The text of a campaign's findings.
    static func outcome(_ problems: [String]) -> String {
        problems.isEmpty ? "nothing lost" : "\(problems.count) BROKEN: \(problems.prefix(3).joined(separator: "; "))"
    }
}
