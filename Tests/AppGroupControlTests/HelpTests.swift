import AppGroupControl
import Foundation
import GroupProtocol
import TestSupport
import Testing

@Suite("Help")
struct HelpTests {
    static let general = """
        usage: appgroupctl [OPTION…] VERB [ARGUMENT…]

        Reads, writes and watches the settings that programs share through appgroupd.

          values    list create read read-type write increment toggle get-and-set try
                    keep rename delete delete-all delete-group find explain describe
          live      watch wait top
          history   history log blame show diff undo
          files     import export apply edit backup restore link unlink
          daemon    status check cat-config log-level repair sync
          tool      completions help

          appgroupctl write group.com.example.app theme dark
          appgroupctl watch group.com.example.app 'ui.*'

        appgroupctl help VERB     what a verb does, its options, examples
        appgroupctl help verbs    all verbs, one a line
        appgroupctl help options  the options of every verb, and the exit status

        """

    @Test("the general screen fits 24 lines of 80 columns")
    func fits() {
        let lines = Self.general.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count < 24 && lines.allSatisfy { $0.count <= 80 })
    }

    @Test("all verbs, and the options of every one")
    func topics() {
        let verbs = CapturedRun("help", "verbs").output
        for verb in Verb.all { #expect(verbs.contains("\n  \(verb.synopsis)  ")) }
        #expect(verbs.split(separator: "\n").allSatisfy { $0.count <= 110 })
        #expect(
            CapturedRun("help", "options").output == """
                options:
                  --socket PATH      the daemon's socket, instead of the one in $XDG_RUNTIME_DIR
                  --json             print JSON, one value a line
                  --json-seq         the same with a record separator before each (RFC 7464)
                  --plain            for scripts: one line a record, fields set apart by tabs
                  -z, --null         end each line of the output with a zero byte instead
                  --no-pager         print long output as it is, without $PAGER
                  --timeout SECONDS  how long an answer may take (30); watch, wait: how long to wait
                  -q, --quiet        no notes on standard error, only errors
                  --version          print the version
                  -h, --help         print this; after a verb, its help

                exit status: 0 done, 1 not found or refused, 2 appgroupd cannot be reached, 64 wrong usage

                """)
    }

    @Test("the general screen", arguments: [["--help"], ["-h"], ["help"], ["HELP"], ["--json", "-h"]])
    func general(_ arguments: [String]) {
        let run = CapturedRun(arguments)
        #expect(run.output == Self.general)
        #expect(run.error == "")
        #expect(run.status == 0)
    }

    static let history = """
        usage: appgroupctl history GROUP [GLOB…]

        Print the changes that are still kept, newest first.

        One line a change, as watch prints them; GLOBs choose keys: * any run, ? one character, \\ escapes.

        options:
          --limit N  at most N commits (100)

        examples:
          appgroupctl history group.com.example.app --limit 10

        appgroupctl help options lists what every verb takes.

        """

    @Test(
        "a verb's screen",
        arguments: [["history", "-h"], ["--help", "history"], ["help", "history"], ["help", "History"]])
    func ofVerb(_ arguments: [String]) {
        #expect(CapturedRun(arguments).output == Self.history)
    }

    @Test("every verb has one, within 100 columns, with all of its options", arguments: Verb.all.map(\.name))
    func everyVerb(_ name: String) throws {
        let run = CapturedRun(name, "--help")
        #expect(run.status == 0)
        #expect(run.output.hasPrefix("usage: appgroupctl \(name)"))
        let lines = run.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.allSatisfy { $0.count <= 100 } && lines.count <= 50)
        let verb = try #require(Verb.named(name))
        for option in verb.options { #expect(run.output.contains("\n  \(option.synopsis)  ")) }
        if verb.takesValue {
            for flag in ValueFlag.allCases { #expect(run.output.contains("\n  \(flag.rawValue) ")) }
        }
    }

    @Test("every verb has examples, and what they say is understood", arguments: Verb.all.map(\.name))
    func examples(_ name: String) throws {
        let examples = try #require(Verb.named(name)).examples
        #expect(examples.contains { $0.contains("appgroupctl \(name)") })
        let directory = try TemporaryDirectory()
        for example in examples {
            // The shell tells what the tool would be called with.
            let script = """
                appgroupctl() { printf '%s\\0' "$@" >words; }; jq() { :; }; notify-send() { :; }; revision=17
                cd \(directory.path) && \(example)
                """
            _ = try ChildProcess.run("/bin/bash", ["-c", script], inheriting: false)
            let words = try String(contentsOfFile: directory.file("words"), encoding: .utf8)
                .split(separator: "\0").map(String.init)
            let invocation = try? CommandLineParser.parse(words)
            #expect(invocation?.verb?.name == words.first, "\(example): \(words)")
        }
    }

    @Test("the other names of a verb lead to its screen, which tells them", arguments: ["domains", "Domains"])
    func alias(_ name: String) {
        #expect(
            CapturedRun("help", name).output == """
                usage: appgroupctl list

                Print the groups, one a line.
                Also called domains.

                --json prints one array.

                examples:
                  appgroupctl list

                appgroupctl help options lists what every verb takes.

                """)
    }

    @Test("the version", arguments: [["--version"], ["list", "--version"]])
    func version(_ arguments: [String]) {
        #expect(CapturedRun(arguments).output == "appgroupctl \(Version.string)\n")
    }
}
