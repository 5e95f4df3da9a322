import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let log = Verb(
        "log", [Argument("GROUP"), Argument("KEY", .any)], summary: "print who changed what, and when, newest first",
        options: [.glob, .limit],
        details: """
            What is still kept of the history, one paragraph a revision: its number, the
            time, who made it (a program, its process and unit, file, administrator), and
            the changes. --json: one object a line, {"group", "revision", "time", "origin",
            "changes": [{"key", "old", "new"}]}.
            """,
        isPaged: true
    ) { (session) throws(Failure) in
        let names = session.arguments.dropFirst().map { $0 }
        let patterns = session.invocation.has(.glob) ? names : names.map { Key($0).pattern }
        let limit = try session.invocation.number(.limit) ?? 100
        try session.eachCommit(of: session.group(), keys: names.isEmpty ? nil : patterns, limit: limit) {
            (commit) throws(Failure) in
            try session.print(commit)
            return true
        }
    }

    static let show = Verb(
        "show", [Argument("GROUP"), Argument("REVISION")], summary: "print one change of the history",
        details: "As log prints it.", isPaged: true
    ) { (session) throws(Failure) in
        let (group, revision) = (try session.group(), try session.revision(1))
        guard revision > 0 else { throw .refused("revision 0 is the empty group, there is nothing to show") }
        for commit in try session.commits(of: group, after: revision - 1, upTo: revision) {
            try session.print(commit)
        }
    }

    static let diff = Verb(
        "diff", [Argument("GROUP"), Argument("REVISION"), Argument("REVISION", .optional)],
        summary: "print what is different between two revisions",
        details: """
            From the first to the second, or to the present one. One line a key that is
            not the same; --json: one object, {"group", "key", "old", "new"}.
            """,
        isPaged: true
    ) { (session) throws(Failure) in
        let group = try session.group()
        let from = try session.revision(1)
        let to =
            session.arguments.count > 2
            ? try session.revision(2) : try Session.position(try session.call(.read(group, keys: []))).revision
        let commits = try session.commits(of: group, after: min(from, to), upTo: max(from, to))
        var (before, after): ([Key: Value], [Key: Value]) = ([:], [:])
        for change in commits.flatMap(\.changes) { before[change.key] = change.old }
        for change in commits.reversed().flatMap(\.changes) { after[change.key] = change.new }
        let (old, new) = from <= to ? (before, after) : (after, before)
        try Plan(from: old, to: new, removesOthers: true).print(of: group, session)
    }

    static let blame = Verb(
        "blame", [Argument("GROUP"), Argument("KEY", .any)], summary: "print who gave each key its present value",
        details: """
            One line a key: revision, time, who made it, key and value. Dashes stand for a
            change that is older than what is kept of the history. --json: one object a
            line, {"group", "key", "value", "revision", "time", "origin"}.
            """,
        isPaged: true, body: BlameVerb.run)
}

extension Session {
    fileprivate func print(_ commit: Commit) throws(Failure) {
        if printsJSON { return try print(ChangeRendering.json(commit)) }
        if printsPlain {
            for change in commit.changes.sorted(by: { $0.key < $1.key }) { try console.print(change, of: commit) }
            return
        }
        for line in ChangeRendering.lines(commit, usesColor: console.usesColor) { try console.print(line) }
    }
}

enum BlameVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let names = session.arguments.dropFirst().map { Key($0) }
        let present = try session.snapshot(of: group)
        let values = names.isEmpty ? present.values : present.values.filter { names.contains($0.key) }
        try MissingKeys.check(names, in: values, of: group, session)
        var makers: [Key: Commit] = [:]
        try session.eachCommit(
            of: group, keys: names.isEmpty ? nil : names.map(\.pattern), before: present.position.revision + 1
        ) { commit in
            for change in commit.changes where values[change.key] != nil && makers[change.key] == nil {
                makers[change.key] = commit
            }
            return makers.count < values.count
        }
        if session.printsJSON { return try printJSON(values, makers, group, session) }
        let table = table(values, makers, isPlain: session.printsPlain)
        for line in table.lines(isPlain: session.printsPlain) { try session.console.print(line) }
    }

    private static func table(_ values: [Key: Value], _ makers: [Key: Commit], isPlain: Bool) -> Table {
        Table(
            rows: TextRendering.sorted(values).map { key, value in
                let commit = makers[key]
                let head = [
                    commit.map { (isPlain ? "" : "r") + String($0.revision) } ?? "-",
                    commit?.time.rfc3339Microseconds ?? "-", commit.map { ChangeRendering.origin($0.origin) } ?? "-",
                ]
                let (name, text) = (TextRendering.key(key), TextRendering.inline(value))
                return head + (isPlain ? [name, text] : ["\(name) = \(text)"])
            })
    }

    private static func printJSON(
        _ values: [Key: Value], _ makers: [Key: Commit], _ group: GroupIdentifier, _ session: Session
    ) throws(Failure) {
        for (key, value) in TextRendering.sorted(values) {
            var object: JSONObject = [
                "group": .string(group.string), "key": .string(key.string), "value": JSONRendering.json(value),
            ]
            if let commit = makers[key] {
                object["revision"] = .integer(commit.revision)
                object["time"] = .string(commit.time.rfc3339Microseconds)
                object["origin"] = .object(ChangeRendering.originObject(commit.origin))
            }
            try session.print(.object(object))
        }
    }
}
