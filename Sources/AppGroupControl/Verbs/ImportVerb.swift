import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let importFile = Verb(
        "import", [Argument("GROUP"), Argument("FILE")],
        summary: "set the values of a property list or of JSON",
        options: [.merge, .replace, .dryRun, .skipForced, .durable, .tag, .create],
        details: """
            Takes what export writes, and any XML or binary property list or JSON object;
            the content tells which. All in one change, or nothing. Keys that FILE does
            not have stay, or go with --replace. - is standard input. --dry-run prints
            what would change. A group that does not exist is made, unless one of nearly
            the same name exists. --json prints {"group", "set", "removed"}, how many keys
            were.
            """
    ) { (session) throws(Failure) in
        if session.invocation.has(.merge), session.invocation.has(.replace) {
            throw .usage("--merge and --replace exclude each other", session.invocation.verb)
        }
        let path = session.arguments[1]
        let file = try SettingsFile(parsing: try session.read(path), from: path)
        let group = try session.group()
        var application = try Application(of: file, to: group, removesOthers: session.invocation.has(.replace), session)
        if session.invocation.has(.dryRun) { return try application.plan.print(of: group, session) }
        try application.prepareGroup()
        try application.run()
        try application.plan.tell(of: group, session)
    }
}

/// A wanted state on its way into a group: what it takes, and the one write that does it.
struct Application {
    private let session: Session
    private let group: GroupIdentifier
    private let exists: Bool
    private(set) var plan: Plan

    /// Reads the group's present state; one that does not exist is empty.
    init(
        of file: SettingsFile, to group: GroupIdentifier, removesOthers: Bool, _ session: Session
    ) throws(Failure) {
        self.session = session
        self.group = group
        let reply = try session.callIfPresent(.read(group, keys: nil))
        exists = reply != nil
        let present = try reply.map { (reply) throws(Failure) in try session.values(reply) } ?? [:]
        plan = Plan(from: present, to: file.entries, removesOthers: removesOthers, format: file.format.plist)
    }

    /// Refuses a group that does not exist and whose name looks mistyped, and makes another.
    func prepareGroup() throws(Failure) {
        if !exists { try session.createUnlessMistyped(group) }
    }

    /// With --skip-forced, keys that the administrator has set are left out and told.
    mutating func run() throws(Failure) {
        while !plan.isEmpty {
            let request = session.writeRequest(group, plan.edits, unchangedSince: nil)
            switch try session.outcome(of: .write(request)) {
            case .success: return
            case .failure(.forced(let keys)) where session.invocation.has(.skipForced) && !keys.isEmpty:
                session.console.note("left out, set by the administrator: \(keys.map(quoted).joined(separator: ", "))")
                let rest = plan.without(keys)
                guard rest.edits.count < plan.edits.count else { throw Session.unexpectedReply }
                plan = rest
            case .failure(let error): throw session.failure(error)
            }
        }
    }
}
