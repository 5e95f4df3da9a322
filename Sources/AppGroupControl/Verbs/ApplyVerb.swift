import GroupModel

extension Verb {
    static let apply = Verb(
        "apply", [Argument("GROUP"), Argument("FILE")], summary: "bring a group to the state that a file describes",
        options: [.prune, .check, .skipForced, .durable, .tag, .create],
        details: """
            FILE is an XML or binary property list or JSON, as with import. Prints what
            changes, one line a key (--json: one object), and changes it, all at once;
            applied again it changes nothing. --check prints the same, changes nothing,
            and ends with status 3 if something would change.
            """
    ) { (session) throws(Failure) in
        let path = session.arguments[1]
        let file = try SettingsFile(parsing: try session.read(path), from: path)
        let group = try session.group()
        var application = try Application(of: file, to: group, removesOthers: session.invocation.has(.prune), session)
        let isCheck = session.invocation.has(.check)
        if !isCheck { try application.prepareGroup() }
        try application.plan.print(of: group, session)
        guard isCheck else { return try application.run() }
        guard application.plan.isEmpty else { throw Failure(.different, "") }
    }
}
