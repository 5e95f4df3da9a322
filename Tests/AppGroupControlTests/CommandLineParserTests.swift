import AppGroupControl
import Testing

@Suite("Command line")
struct CommandLineParserTests {
    struct Case: CustomTestStringConvertible {
        var line: [String]
        var verb: String
        var arguments: [String] = []
        var tokens: [ValueToken] = []
        var options: [String: String] = [:]

        var testDescription: String { line.joined(separator: " ") }
    }

    static let good: [Case] = [
        Case(line: ["list"], verb: "list"),
        Case(line: ["LIST"], verb: "list"),
        Case(line: ["Delete-Group", "g"], verb: "delete-group", arguments: ["g"]),
        Case(line: ["--json", "list"], verb: "list", options: ["--json": ""]),
        Case(line: ["list", "--json", "-q"], verb: "list", options: ["--json": "", "--quiet": ""]),
        Case(line: ["--socket", "list", "list"], verb: "list", options: ["--socket": "list"]),
        Case(line: ["list", "--socket=/a=b"], verb: "list", options: ["--socket": "/a=b"]),
        Case(line: ["--count", "3", "watch", "g"], verb: "watch", arguments: ["g"], options: ["--count": "3"]),
        Case(
            line: ["watch", "g", "--count", "3", "ui.*"], verb: "watch", arguments: ["g", "ui.*"],
            options: ["--count": "3"]),
        Case(line: ["read", "g", "--", "-key", "--json"], verb: "read", arguments: ["g", "-key", "--json"]),
        Case(line: ["read", "--", "g", ""], verb: "read", arguments: ["g", ""]),
        Case(line: ["read", "g", "-"], verb: "read", arguments: ["g", "-"]),
        Case(line: ["delete", "g", "a", "b"], verb: "delete", arguments: ["g", "a", "b"]),
        Case(line: ["sync"], verb: "sync"),
        Case(line: ["domains"], verb: "list"),
        Case(line: ["Remove", "g", "k"], verb: "delete", arguments: ["g", "k"]),
        Case(line: ["increment", "g", "k", "-5"], verb: "increment", arguments: ["g", "k", "-5"]),
        Case(line: ["increment", "-.5", "k"], verb: "increment", arguments: ["-.5", "k"]),
        Case(line: ["wait", "g", "k"], verb: "wait", arguments: ["g", "k"]),
        Case(
            line: ["wait", "g", "k", "-int", "5", "--timeout", "3"], verb: "wait", arguments: ["g", "k"],
            tokens: [.typed(.integer, "5")], options: ["--timeout": "3"]),
        Case(line: ["write", "g", "k", "v"], verb: "write", arguments: ["g", "k"], tokens: [.plain("v")]),
        Case(line: ["write", "g", "k", ""], verb: "write", arguments: ["g", "k"], tokens: [.plain("")]),
        Case(line: ["write", "g", "k", "-5"], verb: "write", arguments: ["g", "k"], tokens: [.plain("-5")]),
        Case(line: ["write", "g", "k", "-.5e3"], verb: "write", arguments: ["g", "k"], tokens: [.plain("-.5e3")]),
        Case(
            line: ["write", "g", "k", "-int", "-5"], verb: "write", arguments: ["g", "k"],
            tokens: [.typed(.integer, "-5")]),
        Case(
            line: ["write", "g", "k", "-integer", "5"], verb: "write", arguments: ["g", "k"],
            tokens: [.typed(.integer, "5")]),
        Case(
            line: ["write", "g", "k", "-boolean", "no"], verb: "write", arguments: ["g", "k"],
            tokens: [.typed(.boolean, "no")]),
        Case(
            line: ["write", "g", "k", "-string", "--json"], verb: "write", arguments: ["g", "k"],
            tokens: [.typed(.string, "--json")]),
        Case(
            line: ["write", "g", "k", "-string", "-int"], verb: "write", arguments: ["g", "k"],
            tokens: [.typed(.string, "-int")]),
        Case(
            line: ["write", "g", "k", "--durable", "-array", "a", "-int", "1", "--tag", "t"], verb: "write",
            arguments: ["g", "k"], tokens: [.collection(.array), .plain("a"), .typed(.integer, "1")],
            options: ["--durable": "", "--tag": "t"]),
        Case(
            line: ["write", "g", "k", "-array", "--", "-int", "--json"], verb: "write", arguments: ["g", "k"],
            tokens: [.collection(.array), .plain("-int"), .plain("--json")]),
        Case(
            line: ["write", "g", "--", "-key", "-int", "1"], verb: "write", arguments: ["g", "-key"],
            tokens: [.typed(.integer, "1")]),
        Case(
            line: ["write", "g", "--", "-key", "--value"], verb: "write", arguments: ["g", "-key"],
            tokens: [.plain("--value")]),
    ]

    @Test("takes apart", arguments: good)
    func takesApart(_ example: Case) throws {
        let invocation = try CommandLineParser.parse(example.line)
        #expect(invocation.verb?.name == example.verb)
        #expect(invocation.arguments == example.arguments)
        #expect(invocation.valueTokens == example.tokens)
        #expect(invocation.options == example.options)
    }

    static let bad: [([String], String)] = [
        ([], "no verb is given"),
        (["--json"], "no verb is given"),
        (["lst"], #"there is no verb "lst"; did you mean "list"?"#),
        (["raed", "g"], #"there is no verb "raed"; did you mean "read"?"#),
        (["frobnicate"], #"there is no verb "frobnicate""#),
        (["a\u{1B}[2J"], #"there is no verb "a\u{1b}[2J""#),
        (["list", "extra"], #"list takes no "extra""#),
        (["read"], "read needs GROUP"),
        (["write"], "write needs GROUP"),
        (["write", "g"], "write needs KEY"),
        (["write", "g", "k", "-int"], "-int needs a value: NUMBER"),
        (["write", "g", "-int", "5"], "-int stands after GROUP and KEY of write"),
        (["write", "g", "k", "-foo"], #"unknown option -foo; for a text that begins with - say: -string "-foo""#),
        (["list", "--frob"], "unknown option --frob"),
        (["list", "--jsn"], #"unknown option --jsn; did you mean "--json"?"#),
        (["list", "-x"], "unknown option -x"),
        (["list", "--socket"], "--socket needs a value: PATH"),
        (["list", "--json=yes"], "--json takes no value"),
        (["list", "--socket", "a", "--socket", "b"], "--socket is given twice"),
        (["read", "g", "--count", "3"], "--count is no option of read"),
        (["--durable", "list"], "--durable is no option of list"),
    ]

    @Test("refuses with the reason", arguments: bad)
    func refuses(_ line: [String], _ message: String) {
        let failure = #expect(throws: Failure.self) { try CommandLineParser.parse(line) }
        #expect(failure?.status == .usage)
        #expect(failure?.message == message)
        #expect(failure?.advice?.hasSuffix("--help shows how") == true)
    }

    @Test("an option means the same with every verb")
    func optionsAreConsistent() {
        var seen: [String: String] = [:]
        for verb in Verb.all {
            for option in verb.options {
                for name in option.names {
                    #expect(seen[name, default: option.synopsis] == option.synopsis, "\(name)")
                    seen[name] = option.synopsis
                }
            }
        }
    }

    @Test("verbs have one name each, in lower case")
    func verbNames() {
        let names = Verb.all.flatMap { [$0.name] + $0.aliases }
        #expect(Set(names).count == names.count)
        #expect(names == names.map { $0.lowercased() })
    }
}
