import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let backup = Verb(
        "backup", [Argument("GROUP", .optional), Argument("FILE")],
        summary: "save a group's settings, or those of all groups, to a file",
        details: """
            Each group is saved as it was at one revision, whoever writes meanwhile. FILE
            is replaced in one step, and only when the backup is whole; - is standard
            output. The file is JSON with every value and its type; restore reads it.
            --json prints {"groups", "keys"}, how many were saved.
            """,
        body: BackupVerb.run)

    static let restore = Verb(
        "restore", [Argument("GROUP", .optional), Argument("FILE")],
        summary: "put back what backup saved, of a group or of all",
        options: [.dryRun, .tag],
        details: """
            Each group becomes exactly what it was, in one change: keys that the backup
            does not have are removed. A group that does not exist is made. Without GROUP:
            every group of the file; other groups are left alone. --dry-run prints what
            would change. - is standard input. --json prints for each group
            {"group", "set", "removed", "revision"}: how many keys were, and the revision
            that is put back.
            """,
        body: RestoreVerb.run)
}

enum BackupVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let path = session.arguments.last ?? "-"
        var groups: [GroupIdentifier] = []
        if session.arguments.count > 1 {
            groups = [try session.group()]
        } else {
            for name in try session.groupNames() { groups.append(try session.group(named: name)) }
        }
        var backup = Backup()
        let progress = Progress("saving", of: groups.count, session.console)
        for group in groups {
            backup.groups.append(try session.snapshot(of: group))
            progress.advance()
        }
        progress.clear()
        try session.write(backup.encoded, to: path)
        let keys = backup.groups.reduce(0) { $0 + $1.values.count }
        if session.printsJSON, path != "-" {
            return try session.print(
                ["groups": .integer(Int64(backup.groups.count)), "keys": .integer(Int64(keys))])
        }
        let count = StatusRendering.counted(backup.groups.count, "group")
        session.console.note("saved \(count) with \(StatusRendering.counted(keys, "key"))")
    }
}

extension Session {
    /// All values at one revision, however many: as a watch begins.
    func snapshot(of group: GroupIdentifier) throws(Failure) -> Backup.Group {
        let address = try address()
        let deadline = try answerDeadline()
        do throws(ConnectionError) {
            let connection = try DaemonConnection(to: address, deadline: deadline)
            try connection.watch([WatchedGroup(group: group)], deadline: deadline)
            var values: [Key: Value] = [:]
            while true {
                guard case .snapshot(let part) = try connection.next(deadline: deadline) else {
                    throw .unexpectedReply
                }
                values.merge(part.values) { $1 }
                if !part.isPartial { return Backup.Group(group: group, position: part.position, values: values) }
            }
        } catch {
            throw failure(error)
        }
    }
}

enum RestoreVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let path = session.arguments.last ?? "-"
        var groups = try Backup(parsing: try session.read(path), from: path).groups
        if session.arguments.count > 1 {
            let wanted = try session.group()
            let names = groups.map(\.group.string)
            groups.removeAll { $0.group != wanted }
            guard !groups.isEmpty else {
                let near = NearNames.question(NearNames.of(wanted.string, among: names))
                throw .refused("\(Session.name(of: path)) has no group \(wanted)\(near)")
            }
        }
        let progress = Progress("restoring", of: groups.count, session.console)
        for group in groups {
            try restore(group, session, progress)
            progress.advance()
        }
    }

    private static func restore(
        _ saved: Backup.Group, _ session: Session, _ progress: Progress
    ) throws(Failure) {
        let present = try session.callIfPresent(.read(saved.group, keys: nil))
        let values = try present.map { (reply) throws(Failure) in try session.values(reply) } ?? [:]
        let plan = Plan(from: values, to: saved.values, removesOthers: true)
        progress.clear()
        if session.invocation.has(.dryRun) {
            return try plan.print(of: saved.group, namesGroup: true, session)
        }
        if present == nil { _ = try session.createGroup(saved.group) }
        guard !plan.isEmpty else {
            if session.printsJSON { return try tell(plan, saved, session) }
            return session.console.note("\(saved.group) is as it was saved")
        }
        // Exactly what was saved, whatever has been written since we looked.
        let sets = TextRendering.sorted(saved.values).map { Edit.set($0.key, $0.value) }
        let request = WriteRequest(
            group: saved.group, edits: sets, isReset: true, tag: session.invocation.value(.tag))
        _ = try session.call(.write(request))
        if session.printsJSON { return try tell(plan, saved, session) }
        let count = StatusRendering.counted(plan.edits.count, "key")
        session.console.note("\(saved.group): \(count) put back, as of revision \(saved.position.revision)")
    }

    private static func tell(_ plan: Plan, _ saved: Backup.Group, _ session: Session) throws(Failure) {
        var object = plan.counts(of: saved.group)
        object["revision"] = .integer(saved.position.revision)
        try session.print(.object(object))
    }
}
