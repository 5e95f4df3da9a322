import Glibc
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

extension Verb {
    static let edit = Verb(
        "edit", [Argument("GROUP")], summary: "change a group's values in an editor",
        options: [.format, .durable, .tag],
        details: """
            Opens $VISUAL, $EDITOR or vi on a copy: an XML property list, or JSON with
            --format json. What was changed in it goes into the group in one change; what
            others write meanwhile stays. Where both changed one key nothing is done, and
            the copy is kept. A copy that does not parse is kept and told, and
            import takes it when it is mended. --json prints {"group", "set", "removed"},
            how many keys were.
            """,
        body: EditVerb.run)
}

enum EditVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let name = session.invocation.value(.format) ?? SettingsFile.Format.xml.rawValue
        guard let format = SettingsFile.Format(rawValue: name.lowercased()), format != .binary else {
            throw .usage("edit goes with xml or json, not \(quoted(name))", .edit)
        }
        let saved = try session.snapshot(of: group)
        let path = copyPath(of: group, format, session)
        try session.write(try SettingsFile(format: format, entries: saved.values).encoded, to: path)
        try openEditor(on: path, session)
        do throws(Failure) {
            try apply(path, saved, session)
        } catch {
            session.console.note("the edited copy is kept: \(path)")
            throw error
        }
        try session.file { () throws(SystemError) in _ = try Files.unlinkIfPresent(path) }
    }

    private static func copyPath(of group: GroupIdentifier, _ format: SettingsFile.Format, _ session: Session) -> String
    {
        let given = session.environment["TMPDIR"] ?? ""
        let directory = given.hasPrefix("/") ? given : "/tmp"
        return "\(directory)/\(group).\(getpid()).\(format == .xml ? "plist" : "json")"
    }

    /// The editor may be a command with options, as `$EDITOR` is everywhere.
    private static func openEditor(on path: String, _ session: Session) throws(Failure) {
        let names = ["VISUAL", "EDITOR"].compactMap { session.environment[$0] }
        let editor = names.first { !$0.isEmpty } ?? "vi"
        let ending = try session.file { () throws(SystemError) in
            try Subprocess.run(
                "/bin/sh", ["-c", "\(editor) \"$1\"", editor, path], environment: Subprocess.startEnvironment(),
                readsInput: true)
        }
        guard ending == .exited(0) else {
            try session.file { () throws(SystemError) in _ = try Files.unlinkIfPresent(path) }
            throw .refused("the editor did not end well, and nothing changed")
        }
    }

    private static func apply(_ path: String, _ saved: Backup.Group, _ session: Session) throws(Failure) {
        let file = try SettingsFile(parsing: try session.read(path), from: path)
        let plan = Plan(from: saved.values, to: file.entries, removesOthers: true, format: file.format.plist)
        guard !plan.isEmpty else {
            if session.printsJSON { return try plan.tell(of: saved.group, session) }
            return session.console.note("nothing changed")
        }
        let request = session.writeRequest(saved.group, plan.edits, unchangedSince: saved.position.revision)
        switch try session.outcome(of: .write(request)) {
        case .success: try plan.tell(of: saved.group, session)
        case .failure(.conflict(let keys, _)):
            throw .refused(
                "changed meanwhile by others: \(keys.map(quoted).joined(separator: ", ")); nothing was written")
        case .failure(let error): throw session.failure(error)
        }
    }
}
