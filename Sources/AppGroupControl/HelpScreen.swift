/// The help, made from the table of verbs and options.
package enum HelpScreen {
    /// The general one.
    package static var general: String {
        """
        usage: appgroupctl [OPTION…] VERB [ARGUMENT…]

        Reads, writes and watches the settings that programs share through appgroupd.

        \(section("verbs", Verb.all.map { ($0.synopsis, $0.summary) }))
        \(section("options", Option.global.map { ($0.synopsis, $0.summary) }))
        exit status: 0 done, 1 not found or refused, 2 appgroupd cannot be reached, 64 wrong usage

        """
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
        return text + "\nappgroupctl --help lists the options that every verb takes.\n"
    }

    private static func sentence(_ summary: String) -> String {
        summary.prefix(1).uppercased() + summary.dropFirst() + "."
    }

    private static func section(_ title: String, _ rows: [(String, String)]) -> String {
        let width = rows.map(\.0.count).max() ?? 0
        let lines = rows.map { "  " + $0.0.padded(to: width + 2) + $0.1 + "\n" }
        return title + ":\n" + lines.joined()
    }
}

extension String {
    /// With spaces at the end, up to so many characters.
    func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }

    /// With spaces in front, for numbers.
    func paddedLeft(to width: Int) -> String {
        String(repeating: " ", count: max(0, width - count)) + self
    }
}
