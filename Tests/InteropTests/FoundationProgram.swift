import Foundation
import TestSupport
import Testing

/// `userdefaults.swift`, compiled at its first use: a program that uses Foundation's `UserDefaults` and knows nothing of
/// appgroupd. One that runs, told what to do line by line.
final class FoundationProgram {
    private static let compiled: Result<String, RunDirectory.NotMade> = Result { () throws(RunDirectory.NotMade) in
        do {
            let directory = try RunDirectory.path
            let program = "\(directory)/userdefaults"
            let source = RunDirectory.fixture("userdefaults.swift")
            let outcome = try ChildProcess.run(
                "/usr/bin/env",
                ["swiftc", "-module-cache-path", "\(directory)/modules", "-o", program, source], seconds: 180)
            guard outcome.code == 0 else { throw RunDirectory.NotMade(description: outcome.errors) }
            return program
        } catch {
            throw RunDirectory.NotMade(description: "userdefaults.swift does not compile: \(error)")
        }
    }

    private let process: ChildProcess

    /// With the HOME of the daemon's test.
    init(_ group: String, of daemon: RunningDaemon) throws {
        process = try ChildProcess(try Self.compiled.get(), [group], environment: Self.environment(of: daemon))
    }

    static func environment(of daemon: RunningDaemon) -> [String: String] {
        ["HOME": daemon.directory.path, "XDG_CONFIG_HOME": daemon.directory.file("config")]
    }

    /// Gives the line that it answers.
    @discardableResult
    func tell(_ command: String) throws -> String {
        process.write(command + "\n")
        return try #require(try process.readLine())
    }

    func synchronize() throws {
        #expect(try tell("synchronize") == "true")
    }
}
