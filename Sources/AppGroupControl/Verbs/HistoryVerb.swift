import GroupModel
import GroupProtocol
import Varlink

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
        let request = HistoryRequest(
            group: try session.group(), keys: globs.isEmpty ? nil : globs,
            limit: try session.invocation.number(.limit))
        guard let commits = try session.call(.history(request))["commits"]?.arrayValue else {
            throw Session.unexpectedReply
        }
        for json in commits {
            guard let commit = Commit(wire: json) else { throw Session.unexpectedReply }
            for change in commit.changes { try print(change, commit, session) }
        }
    }

    private static func print(_ change: Change, _ commit: Commit, _ session: Session) throws(Failure) {
        if session.printsJSON { return try session.print(ChangeRendering.json(change, commit)) }
        try session.console.print(change, of: commit)
    }
}
