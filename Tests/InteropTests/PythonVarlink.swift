import Foundation
import TestSupport

/// Python's `varlink`, the reference implementation, in a virtual environment of this run.
///
/// It comes from PyPI at the first use. Where it cannot be had the tests fail and say so: it is the independent judge.
enum PythonVarlink {
    static let requirement = "varlink==31.0.0"

    private static let interpreter: Result<String, RunDirectory.NotMade> = Result { () throws(RunDirectory.NotMade) in
        try install()
    }

    /// The path of the environment's interpreter.
    static var python: String {
        get throws { try interpreter.get() }
    }

    private static func install() throws(RunDirectory.NotMade) -> String {
        do {
            let directory = try RunDirectory.path
            let environment = ["HOME": directory]
            let path = "\(directory)/python"
            try succeed("making a virtual environment", ["python3", "-m", "venv", path], environment)
            try succeed(
                "getting \(requirement) from PyPI",
                ["\(path)/bin/python", "-m", "pip", "install", "--quiet", "--no-cache-dir", requirement], environment)
            return "\(path)/bin/python"
        } catch {
            throw RunDirectory.NotMade(description: "Python's varlink is not to be had: \(error)")
        }
    }

    private static func succeed(_ what: String, _ command: [String], _ environment: [String: String]) throws {
        let outcome = try ChildProcess.run("/usr/bin/env", command, environment: environment, seconds: 180)
        guard outcome.code == 0 else {
            let words = outcome.errors + outcome.output
            throw RunDirectory.NotMade(description: "\(what) ended with \(outcome.code): \(words)")
        }
    }

    /// Runs it with these arguments to its end.
    static func run(_ arguments: [String], seconds: Double = 60) throws -> ChildProcess.Outcome {
        try ChildProcess.run(try python, arguments, environment: ["PYTHONUNBUFFERED": "1"], seconds: seconds)
    }

    /// Starts it, for what goes on for a while.
    static func start(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(try python, arguments, environment: ["PYTHONUNBUFFERED": "1"])
    }
}
