extension Verb {
    static let completions = Verb(
        "completions", [Argument("SHELL")], summary: "print what bash, zsh or fish needs to complete words",
        details: """
            make install puts it where the shells look. For one session of bash:

              source <(appgroupctl completions bash)
            """
    ) { (session) throws(Failure) in
        guard let script = CompletionScript(rawValue: session.arguments[0].lowercased()) else {
            throw .usage("SHELL is bash, zsh or fish, not \(quoted(session.arguments[0]))", session.invocation.verb)
        }
        try session.console.write(Array(script.text.utf8))
    }

    /// For the shells.
    static let complete = Verb(
        "complete", [Argument("WORD", .any)], summary: "print what may stand for the last of the words"
    ) { (session) throws(Failure) in
        session.answerSeconds = Completion.seconds
        for word in Completion(session.arguments, session).candidates { try session.console.print(word) }
    }

    /// For the installation.
    static let manual = Verb("manual", summary: "print the manual page") { (session) throws(Failure) in
        try session.console.write(Array(ManualPage.text.utf8))
    }
}
