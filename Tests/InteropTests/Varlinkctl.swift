import Foundation
import TestSupport
import Testing

/// systemd's own client, the strictest there is. Debian 12 has none: Debian 13's is fetched at the first use and run
/// beside the system (see varlinkctl.sh), or named by `APPGROUP_TEST_VARLINKCTL`.
enum Varlinkctl {
    private static let program: Result<String, RunDirectory.NotMade> = Result { () throws(RunDirectory.NotMade) in
        try find()
    }

    private static func find() throws(RunDirectory.NotMade) -> String {
        let given = ProcessInfo.processInfo.environment["APPGROUP_TEST_VARLINKCTL"] ?? ""
        if !given.isEmpty { return given }
        do {
            let directory = try RunDirectory.path + "/varlinkctl"
            let script = RunDirectory.fixture("varlinkctl.sh")
            let outcome = try ChildProcess.run("/bin/sh", [script, directory], seconds: 180)
            guard outcome.code == 0 else { throw RunDirectory.NotMade(description: outcome.errors) }
            return outcome.output.trimmingCharacters(in: .newlines)
        } catch {
            throw RunDirectory.NotMade(description: "\(error)")
        }
    }

    /// Whether it is to be had. If it is not, says so, with the reason: the one test of which that is no failure.
    static let isAvailable: Bool = {
        switch program {
        case .success: return true
        case .failure(let reason):
            let words = "SKIPPED: the tests with varlinkctl do not run, it is not to be had: \(reason)\n"
            FileHandle.standardError.write(Data(words.utf8))
            return false
        }
    }()

    /// Runs it to its end, without colours and without words about what went well.
    static func run(_ arguments: [String], input: String = "") throws -> ChildProcess.Outcome {
        try ChildProcess.run(try program.get(), ["--no-pager"] + arguments, environment: quiet, input: input)
    }

    static func start(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(try program.get(), ["--no-pager"] + arguments, environment: quiet)
    }

    private static let quiet = ["SYSTEMD_COLORS": "0", "SYSTEMD_LOG_LEVEL": "notice", "SYSTEMD_LOG_COLOR": "0"]
}
