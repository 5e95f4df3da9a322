import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList

extension Verb {
    static let link = Verb(
        "link", [Argument("GROUP")], summary: "let programs that use Foundation's UserDefaults take part",
        options: [.path, .create],
        details: """
            Makes $XDG_CONFIG_HOME/GROUP.plist (~/.config/GROUP.plist), which Foundation's
            UserDefaults(suiteName: "GROUP") reads and writes, a link to the group's
            property list. What a file there holds goes into the group first: its values
            win, conflicts are told, and the file stays beside the link as
            GROUP.plist.before-link-TIME. A group that does not exist is made, unless one
            of nearly the same name exists. unlink undoes it.

            UserDefaults rewrites its whole file when a program synchronizes, and deletes it
            when its last key goes, which takes the link away: then link again. --json
            prints {"path", "group", "kept"}; kept is the file that was there.
            """
    ) { (session) throws(Failure) in
        let group = try session.group()
        let path = try LinkPath.of(group, session)
        let target = Container(root: try session.status().status.root).plistPath(of: group)
        let linking = Linking(session, group, path: path, target: target)
        // What cannot be linked makes no group.
        try linking.check()
        if try session.groupNames().contains(group.string) {
            _ = try session.createGroup(group)
        } else {
            try session.createUnlessMistyped(group)
        }
        try linking.run()
    }

    static let unlink = Verb(
        "unlink", [Argument("GROUP")], summary: "undo link: put a copy of the group's file in the link's place",
        options: [.path],
        details: """
            The group stays; the copy and the group have nothing to do with each other any
            more. --json prints {"path", "file"}; file says whether there is one now.
            """
    ) { (session) throws(Failure) in
        let group = try session.group()
        _ = try session.call(.synchronize(group))
        let target = Container(root: try session.status().status.root).plistPath(of: group)
        try Unlinking(session, path: try LinkPath.of(group, session), target: target).run()
    }
}

/// Where Foundation looks for a suite's property list.
///
/// Against the rule that the daemon alone decides where files are (fault R81), this is computed here: what counts is
/// the directory that programs in the caller's environment look into, and the caller is told which one it was.
enum LinkPath {
    static func of(_ group: GroupIdentifier, _ session: Session) throws(Failure) -> String {
        if let path = session.invocation.value(.path) {
            guard !path.isEmpty else { throw .usage("--path needs the name of a file", session.invocation.verb) }
            return path
        }
        guard let directory = session.environment.configurationDirectory else {
            throw .refused("neither XDG_CONFIG_HOME nor HOME is set", advice: "say --path FILE")
        }
        return "\(directory)/\(group).plist"
    }

    /// What stands at the path, seen without following a link there.
    enum Occupant {
        case nothing
        /// A link that leads to the group's property list.
        case ourLink
        case otherLink(String)
        case file
        /// The group's property list itself, or something that is no file.
        case unusable(String)
    }

    static func occupant(of path: String, target: String) throws(SystemError) -> Occupant {
        guard let status = try Files.statusIfPresent(path, followLinks: false) else { return .nothing }
        switch status.kind {
        case .symlink:
            let written = try Files.readLink(path)
            if try isName(written, of: target, seenFrom: path) { return .ourLink }
            return try isSame(path, target) ? .ourLink : .otherLink(written)
        case .regular:
            return try isSame(path, target) ? .unusable("is the group's own property list") : .file
        case .directory: return .unusable("is a directory")
        default: return .unusable("is no regular file")
        }
    }

    /// Whether a link's text names the target, which need not be there yet: the same name in the same directory.
    private static func isName(_ text: String, of target: String, seenFrom path: String) throws(SystemError) -> Bool {
        if text == target { return true }
        let place = text.hasPrefix("/") ? text : "\(Files.parent(of: path))/\(text)"
        guard Files.lastComponent(of: place) == Files.lastComponent(of: target) else { return false }
        return try isSame(Files.parent(of: place), Files.parent(of: target))
    }

    private static func isSame(_ path: String, _ other: String) throws(SystemError) -> Bool {
        guard let one = try Files.statusIfPresent(path), let two = try Files.statusIfPresent(other) else {
            return false
        }
        return one.device == two.device && one.inode == two.inode
    }
}

extension Failure {
    init(_ error: SystemError) {
        self = .refused("\(error.path ?? error.call): \(error.errno)")
    }
}

extension Session {
    /// A file operation whose failure is that of the command.
    func file<Result>(_ body: () throws(SystemError) -> Result) throws(Failure) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            throw Failure(error)
        }
    }
}
