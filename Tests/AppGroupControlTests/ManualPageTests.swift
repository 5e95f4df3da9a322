import AppGroupControl
import Foundation
import TestSupport
import Testing

@Suite("Manual page")
struct ManualPageTests {
    @Test("has every verb and every option")
    func complete() {
        let page = CapturedRun("manual").output
        for verb in Verb.all {
            #expect(page.contains("\n.SS \(verb.name.replacing("-", with: "\\-"))"), "\(verb.name)")
            for option in verb.options { #expect(page.contains(option.name.replacing("-", with: "\\-"))) }
        }
    }

    @Test(
        "groff formats it without a warning",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/groff"), "groff is not installed"))
    func groff() throws {
        let run = try ChildProcess.run(
            "/usr/bin/groff", ["-ww", "-man", "-Kutf8", "-Tutf8", "-P-cbou"], input: CapturedRun("manual").output)
        #expect(run.errors == "")
        #expect(run.code == 0)
        #expect(run.output.contains("write GROUP KEY [TYPE] VALUE..."))
        #expect(run.output.contains("choose keys: * any run, ? one character, \\ escapes."))
    }
}
