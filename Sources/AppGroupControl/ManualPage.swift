import GroupProtocol

/// The page appgroupctl(1), made from the table of verbs and options, in the language of man(7).
package enum ManualPage {
    package static var text: String {
        var page = """
            .TH APPGROUPCTL 1 "" "appgroupd \(escaped(Version.string))" "User Commands"
            .SH NAME
            appgroupctl \\- read, write and watch settings that programs share
            .SH SYNOPSIS
            .B appgroupctl
            [\\fIOPTION\\fR...] \\fIVERB\\fR [\\fIARGUMENT\\fR...]
            .SH DESCRIPTION
            Reads, writes and watches the settings that programs share through
            .BR appgroupd .
            .SH VERBS

            """
        for verb in Verb.all { page += section(verb) }
        page += ".SH OPTIONS\nEvery verb takes these.\n" + list(Option.global)
        return page + end
    }

    private static let end = """
        .SH EXIT STATUS
        .TP
        0
        Done.
        .TP
        1
        Not found, or refused.
        .TP
        2
        appgroupd cannot be reached.
        .TP
        3
        .B apply \\-\\-check
        found that something would change.
        .TP
        64
        Wrong usage.
        .SH ENVIRONMENT
        .TP
        .B XDG_RUNTIME_DIR
        Where the socket of appgroupd is.
        .TP
        .B NO_COLOR
        If not empty, no colours on a terminal.
        .TP
        .B PAGER
        What shows long output on a terminal, instead of less; empty or cat: nothing.
        .TP
        .BR VISUAL ", " EDITOR
        The editor of
        .BR edit .

        """

    private static func section(_ verb: Verb) -> String {
        var text = ".SS \(escaped(verb.synopsis))\n"
        text += escaped(verb.summary.prefix(1).uppercased() + verb.summary.dropFirst() + ".") + "\n"
        if !verb.aliases.isEmpty { text += "Also called \(escaped(verb.aliases.joined(separator: ", "))).\n" }
        // As it is on the screen: it has examples and columns.
        if !verb.details.isEmpty { text += ".PP\n.nf\n" + escaped(verb.details) + "\n.fi\n" }
        if verb.takesValue {
            text += ValueFlag.allCases.map { flag in
                ".TP\n.B \(escaped("\(flag.rawValue) \(flag.valueName)"))\n\(escaped(flag.summary))\n"
            }.joined()
        }
        let examples = verb.examples.map { "  \($0)" }.joined(separator: "\n")
        return text + list(verb.options) + ".PP\n.nf\n" + escaped(examples) + "\n.fi\n"
    }

    private static func list(_ options: [Option]) -> String {
        options.map { ".TP\n.B \(escaped($0.synopsis))\n\(escaped($0.summary))\n" }.joined()
    }

    /// Nothing in it acts: no backslash, no request at the beginning of a line, hyphens that can be copied.
    static func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            var result = line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : ""
            for character in line {
                switch character {
                case "\\": result += "\\e"
                case "-": result += "\\-"
                case "…": result += "..."
                case "→": result += "\\(->"
                default: result.append(character)
                }
            }
            return result
        }.joined(separator: "\n")
    }
}
