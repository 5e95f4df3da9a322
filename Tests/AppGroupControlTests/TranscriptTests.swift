import AppGroupControl
import Foundation
import TestSupport
import Testing

/// Everything that each verb prints, to the letter, against the real daemon, for people and as JSON.
///
/// The texts are in `Fixtures/transcripts`, a file a verb, and `Fixtures/help`. With `APPGROUP_TEST_RECORD=1` they are written
/// anew: what changed is then for whoever reads the difference to judge.
@Suite("Transcripts")
struct TranscriptTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Fixtures")
    private static let records = ProcessInfo.processInfo.environment["APPGROUP_TEST_RECORD"] == "1"
    static let verbs = Verb.all.map(\.name)

    private static func file(_ folder: String, _ name: String) -> URL {
        fixtures.appending(path: "\(folder)/\(name).txt")
    }

    /// Of verbs that print nothing of their own for programs to read: what they print is a file, or is for a shell.
    private static let withoutJSON: Set = ["completions", "export", "help", "cat-config"]

    @Test("of every verb", arguments: verbs)
    func verb(_ name: String) throws {
        let file = Self.file("transcripts", name)
        let text = try String(contentsOf: file, encoding: .utf8)
        let commands = text.split(separator: "\n").filter { $0.hasPrefix("$ ") && $0.contains("appgroupctl \(name)") }
        #expect(commands.contains { !$0.contains("--json") })
        #expect(Self.withoutJSON.contains(name) || commands.contains { $0.contains("--json") })
        let now = try Transcript().replayed(text)
        if Self.records { try Data(now.utf8).write(to: file) }
        #expect(now == text)
    }

    @Test("no transcript is of a verb that is no more", arguments: ["transcripts", "help"])
    func leftovers(_ folder: String) throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.fixtures.appending(path: folder).path)
        let known = Self.verbs + (folder == "help" ? ["general", "verbs", "options"] : [])
        #expect(names.sorted() == known.map { "\($0).txt" }.sorted())
    }

    private static let screens =
        verbs.map { ($0, [$0, "--help"]) } + [
            ("general", ["help"]), ("verbs", ["help", "verbs"]), ("options", ["help", "options"]),
        ]

    @Test("of every help", arguments: screens)
    func help(_ name: String, _ arguments: [String]) throws {
        let file = Self.file("help", name)
        let run = CapturedRun(arguments)
        if Self.records { try Data(run.output.utf8).write(to: file) }
        #expect(run.output == (try String(contentsOf: file, encoding: .utf8)))
        #expect(run.error == "")
        #expect(run.status == 0)
    }
}
