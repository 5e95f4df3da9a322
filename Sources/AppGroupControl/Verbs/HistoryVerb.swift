import GroupModel

extension Verb {
    static let history = Verb(
        "history", [Argument("GROUP"), Argument("GLOB", .any)],
        summary: "print the changes that are still kept, newest first", options: [.limit],
        details: "One line a change, as watch prints them; GLOBs choose keys: * any run, ? one character, \\ escapes.",
        isPaged: true, body: HistoryVerb.run)
}

enum HistoryVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let globs = Array(session.arguments.dropFirst())
        // As many as the interface gives unasked; a reply may be the shorter for large ones among them.
        let limit = try session.invocation.number(.limit) ?? 100
        try session.eachCommit(of: session.group(), keys: globs.isEmpty ? nil : globs, limit: limit) {
            (commit) throws(Failure) in
            for change in commit.changes { try print(change, commit, session) }
            return true
        }
    }

    private static func print(_ change: Change, _ commit: Commit, _ session: Session) throws(Failure) {
        if session.printsJSON { return try session.print(ChangeRendering.json(change, commit)) }
        try session.console.print(change, of: commit)
    }
}
