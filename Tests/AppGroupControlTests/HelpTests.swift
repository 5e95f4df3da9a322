import AppGroupControl
import GroupProtocol
import Testing

@Suite("Help")
struct HelpTests {
    static let general = """
        usage: appgroupctl [OPTION…] VERB [ARGUMENT…]

        Reads, writes and watches the settings that programs share through appgroupd.

        verbs:
          list                                 print the groups, one a line
          create GROUP                         make a group and print its directory; an existing one is fine
          read GROUP [KEY…]                    print all values, or those of the keys
          read-type GROUP KEY                  print the type of a value
          write GROUP KEY [TYPE] VALUE…        set a value
          increment GROUP KEY [BY]             add to a number, by 1 without BY, and print the sum
          toggle GROUP KEY                     flip a boolean, and print what it is now
          get-and-set GROUP KEY [TYPE] VALUE…  set a value, and print the one before
          rename GROUP OLD NEW                 give a value another key
          delete GROUP [KEY…]                  remove the keys, or all of them
          delete-all GROUP                     remove all keys; the group stays
          delete-group GROUP                   remove the group and its directory, which goes to .trash
          find WORD                            look for a word in groups, keys and texts
          import GROUP FILE                    set the values of a property list or of JSON
          export GROUP FILE                    save a group's values as a property list or JSON
          apply GROUP FILE                     bring a group to the state that a file describes
          edit GROUP                           change a group's values in an editor
          watch GROUP [GLOB…]                  print every change as it happens
          wait GROUP KEY [[TYPE] VALUE…]       wait until a key is there, or has a value
          history GROUP [GLOB…]                print the changes that are still kept, newest first
          log GROUP [KEY…]                     print who changed what, and when, newest first
          blame GROUP [KEY…]                   print who gave each key its present value
          show GROUP REVISION                  print one change of the history
          diff GROUP REVISION [REVISION]       print what is different between two revisions
          undo GROUP [REVISION]                take changes back, as a new change
          status [GROUP]                       print how the daemon and its groups are doing
          check [GROUP|FILE]                   tell what is wrong, where, and what will happen
          repair GROUP                         mend a group whose property list is damaged
          backup [GROUP] FILE                  save a group's settings, or those of all groups, to a file
          restore [GROUP] FILE                 put back what backup saved, of a group or of all
          sync [GROUP]                         wait until all is on disk and in the files, and edits are seen
          link GROUP                           let programs that use Foundation's UserDefaults take part
          unlink GROUP                         undo link: put a copy of the group's file in the link's place
          completions SHELL                    print what bash, zsh or fish needs to complete words
          help [VERB]                          print this, or the help of a verb

        options:
          --socket PATH      the daemon's socket, instead of the one in $XDG_RUNTIME_DIR
          --json             print JSON, one value a line
          --timeout SECONDS  how long an answer may take (30); watch, wait: how long to wait
          -q, --quiet        no notes on standard error, only errors
          --version          print the version
          -h, --help         print this; after a verb, its help

        exit status: 0 done, 1 not found or refused, 2 appgroupd cannot be reached, 64 wrong usage

        """

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

        appgroupctl --help lists the options that every verb takes.

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
        #expect(run.output.split(separator: "\n").allSatisfy { $0.count <= 100 })
        let verb = try #require(Verb.named(name))
        for option in verb.options { #expect(run.output.contains("\n  \(option.synopsis)  ")) }
        if verb.takesValue {
            for flag in ValueFlag.allCases { #expect(run.output.contains("\n  \(flag.rawValue) ")) }
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

                appgroupctl --help lists the options that every verb takes.

                """)
    }

    @Test("the version", arguments: [["--version"], ["list", "--version"]])
    func version(_ arguments: [String]) {
        #expect(CapturedRun(arguments).output == "appgroupctl \(Version.string)\n")
    }
}
