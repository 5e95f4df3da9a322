import Foundation
import TestSupport
import Testing

@Suite("The demo of make run")
struct LiveDemoTests {
    private func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ChildProcess {
        let programs = ["APPGROUPD": builtProgram("appgroupd"), "APPGROUPCTL": builtProgram("appgroupctl")]
        return try ChildProcess(
            RunDirectory.repository("Sources/Examples/live-demo/run.sh"), arguments,
            environment: programs.merging(environment) { $1 })
    }

    /// What was changed, as the table has it, with both times.
    private static var rows: [Regex<Substring>] {
        [
            #/appgroupctl write +theme: absent → "light" +2 +client appgroupctl +[0-9.]+ +[0-9.]+/#,
            #/an editor's save +theme: "light" → "dark" +3 +file +[0-9.]+ +[0-9.]+/#,
            #/a UserDefaults program +fontSize: 12 → 14 +4 +file +[0-9.]+ +[0-9.]+/#,
        ]
    }

    @Test("shows the three changes as both observers saw them, and leaves nothing behind")
    func once() throws {
        let outcome = try run(["--once"]).finish()
        #expect(outcome.code == 0, "\(outcome.errors)")
        for row in Self.rows { #expect(outcome.output.contains(row), "\(outcome.output)") }
        #expect(outcome.output.contains(#"reads theme = "dark" too."#))
        let home = try #require(outcome.output.firstMatch(of: #//tmp/appgroupd-demo\.[A-Za-z0-9]+/#)?.output)
        #expect(!FileManager.default.fileExists(atPath: String(home)))
    }

    @Test("goes on with the commands to try until it is interrupted, and then cleans up")
    func untilInterrupted() throws {
        let demo = try run([])
        var home: Substring?
        while let line = try demo.readLine(seconds: 60), !line.hasPrefix("Ctrl-C") {
            home = line.firstMatch(of: #/--socket (/tmp/appgroupd-demo\.[A-Za-z0-9]+)/#)?.output.1 ?? home
        }
        let directory = String(try #require(home))
        let write = ["--socket", "\(directory)/socket", "write", "group.com.example.app", "theme", "-string", "blue"]
        #expect(try ChildProcess.run(builtProgram("appgroupctl"), write).code == 0)
        demo.kill(SIGINT)
        #expect(try demo.finish().code == 0)
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test("says what it needs")
    func needs() throws {
        let outcome = try run(["--once"], ["APPGROUPD": "/nowhere"]).finish()
        #expect(outcome.code == 1 && outcome.errors.contains("set APPGROUPD and APPGROUPCTL"), "\(outcome)")
        #expect(try run(["--what"]).finish().code == 64)
    }
}
