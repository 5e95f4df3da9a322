import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let undo = Verb(
        "undo", [Argument("GROUP"), Argument("REVISION", .optional)], summary: "take changes back, as a new change",
        options: [.since, .by, .dryRun, .durable, .tag],
        details: """
            Of one revision (log shows them), or of all after --since, or of those --by a
            program, unit or tag, or both. All in one change, or nothing: where a key has
            been changed again by something else, that is told and nothing is done.
            --dry-run prints what would change. --json prints {"group", "set", "removed"},
            how many keys were.
            """,
        body: UndoVerb.run)
}

enum UndoVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let isNamed = session.arguments.count > 1
        let isSelection = session.invocation.has(.since) || session.invocation.has(.by)
        guard isNamed != isSelection else { throw .usage("undo needs REVISION, or --since or --by", .undo) }
        while true {
            let newest = try Session.position(try session.call(.read(group, keys: []))).revision
            let undoing = try undoing(group, newest, session)
            try check(undoing, group, session)
            if session.invocation.has(.dryRun) { return try undoing.plan.print(of: group, session) }
            guard !undoing.plan.isEmpty else {
                if session.printsJSON { return try undoing.plan.tell(of: group, session) }
                return session.console.note("nothing is to be undone")
            }
            let request = session.writeRequest(group, undoing.plan.edits, unchangedSince: newest)
            switch try session.outcome(of: .write(request)) {
            case .success: return try undoing.plan.tell(of: group, session)
            // Somebody was faster: it is a conflict now, or becomes none.
            case .failure(.conflict): continue
            case .failure(let error): throw session.failure(error)
            }
        }
    }

    private static func undoing(
        _ group: GroupIdentifier, _ newest: Int64, _ session: Session
    ) throws(Failure) -> Undoing {
        if session.arguments.count > 1 {
            let revision = try session.revision(1)
            guard revision > 0 else { throw .refused("there is no revision 0 to be undone") }
            let commits = try session.commits(of: group, after: revision - 1, upTo: max(newest, revision))
            return Undoing(commits) { $0.revision == revision }
        }
        let moment = try session.invocation.value(.since).map { (text) throws(Failure) in
            try Moment(text, of: .since, .undo)
        }
        let commits = try commits(group, newest, since: moment, session)
        guard let name = session.invocation.value(.by) else { return Undoing(commits) { _ in true } }
        let undoing = Undoing(commits) { [$0.origin.client, $0.origin.unit, $0.origin.tag].contains(name) }
        guard undoing.commitCount > 0 else { throw .refused("the history has nothing by \(quoted(name))") }
        return undoing
    }

    private static func commits(
        _ group: GroupIdentifier, _ newest: Int64, since: Moment?, _ session: Session
    ) throws(Failure) -> [Commit] {
        if let since {
            return try session.commits(of: group, after: try session.revision(of: group, at: since), upTo: newest)
        }
        var commits: [Commit] = []
        try session.eachCommit(of: group, before: newest + 1) { commit in
            commits.append(commit)
            return true
        }
        return commits
    }

    private static func check(_ undoing: Undoing, _ group: GroupIdentifier, _ session: Session) throws(Failure) {
        guard let first = undoing.conflicts.first else { return }
        let list = undoing.conflicts.map { "\(quoted($0.key.string)) in revision \($0.revision)" }
        throw .refused(
            "changed again since: \(list.joined(separator: ", ")); nothing was undone",
            advice: "undo that first, or write the value: appgroupctl log \(group) \(quoted(first.key.string))")
    }
}
