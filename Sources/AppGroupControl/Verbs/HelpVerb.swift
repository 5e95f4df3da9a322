import GroupModel

extension Verb {
    static let help = Verb(
        "help", [Argument("VERB", .optional)], summary: "print this, or the help of a verb",
        details: "help verbs prints all verbs, one a line; help options the options of every verb.",
        isPaged: true
    ) { (session) throws(Failure) in
        guard let name = session.arguments.first else { return try printHelp(of: nil, session.console) }
        if let topic = HelpScreen.topics[name.lowercased()] {
            return try session.console.print(String(topic.dropLast()))
        }
        guard let verb = Verb.named(name) else {
            let near = Verb.suggestions(for: name)
            throw .usage("there is no verb \(quoted(name))" + NearNames.question(near), nil)
        }
        try printHelp(of: verb, session.console)
    }

    static func printHelp(of verb: Verb?, _ console: Console) throws(Failure) {
        let text = verb.map(HelpScreen.of) ?? HelpScreen.general
        try console.print(String(text.dropLast()))
    }
}
