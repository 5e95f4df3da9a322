/// The help, made from the table of verbs and options.
package enum HelpScreen {
    /// The general one: it fits a screen of 24 lines.
    package static var general: String {
        """
        usage: appgroupctl [OPTION…] VERB [ARGUMENT…]

        Reads, writes and watches the settings that programs share through appgroupd.

        \(Verb.sections.map { names(of: $0.verbs, titled: $0.title) }.joined())
          appgroupctl write group.com.example.app theme dark
          appgroupctl watch group.com.example.app 'ui.*'

        appgroupctl help VERB     what a verb does, its options, examples
        appgroupctl help verbs    all verbs, one a line
        appgroupctl help options  the options of every verb, and the exit status

        """
    }

    /// The words after `help` that are no verbs.
    package static let topics: [String: String] = ["verbs": verbs, "options": options]

    private static let verbs = Verb.sections.map { title, verbs in
        section(title, verbs.map { ($0.synopsis, $0.summary) })
    }.joined(separator: "\n")

    private static let options =
        section("options", Option.global.map { ($0.synopsis, $0.summary) })
        + "\nexit status: 0 done, 1 not found or refused, 2 appgroupd cannot be reached, 64 wrong usage\n"

    /// The names after the title, over as many lines as they need.
    private static func names(of verbs: [Verb], titled title: String) -> String {
        var lines: [String] = []
        var line = "  " + title.padded(to: 10)
        for verb in verbs {
            if line.count + verb.name.count > 79 {
                lines.append(line)
                line = String(repeating: " ", count: 12)
            }
            line += verb.name + " "
        }
        return (lines + [line]).map { $0.dropLast() + "\n" }.joined()
    }

    package static func of(_ verb: Verb) -> String {
        var text = "usage: appgroupctl \(verb.synopsis)\n\n\(sentence(verb.summary))\n"
        if !verb.aliases.isEmpty { text += "Also called \(verb.aliases.joined(separator: ", ")).\n" }
        if !verb.details.isEmpty { text += "\n" + verb.details + "\n" }
        if verb.takesValue {
            text += "\n" + section("types", ValueFlag.allCases.map { ("\($0.rawValue) \($0.valueName)", $0.summary) })
        }
        if !verb.options.isEmpty {
            text += "\n" + section("options", verb.options.map { ($0.synopsis, $0.summary) })
        }
        text += "\nexamples:\n" + verb.examples.map { "  \($0)\n" }.joined()
        return text + "\nappgroupctl help options lists what every verb takes.\n"
    }

    private static func sentence(_ summary: String) -> String {
        summary.prefix(1).uppercased() + summary.dropFirst() + "."
    }

    private static func section(_ title: String, _ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.displayWidth).max() ?? 0
        let lines = rows.map { "  " + $0.0.padded(to: width + 2) + $0.1 + "\n" }
        return title + ":\n" + lines.joined()
    }
}
