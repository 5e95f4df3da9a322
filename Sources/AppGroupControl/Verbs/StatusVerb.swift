import GroupModel
package import GroupProtocol
import Varlink

extension Verb {
    static let status = Verb(
        "status", [Argument("GROUP", .optional)], summary: "print how the daemon and its groups are doing",
        details: """
            plist: clean, pending (it is about to be written), damaged, readOnly,
            unreachable. watching: inotify, or polling where the file system tells
            nothing. What is wrong follows the table, with the place and what helps.
            --plain prints the rows of the table alone, sizes in bytes.
            --json prints the daemon's own answer, or that for the group.
            """,
        isPaged: true, body: StatusVerb.run)
}

enum StatusVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        var (raw, status) = try session.status()
        if let name = session.arguments.first {
            let group = try session.group(named: name)
            let names = status.groups.map(\.group.string)
            status.groups = status.groups.filter { $0.group == group }
            guard !status.groups.isEmpty else {
                throw .refused("there is no group \(group)" + NearNames.question(NearNames.of(name, among: names)))
            }
            if session.printsJSON { return try session.print(raw.group(name)) }
        } else {
            if session.printsJSON { return try session.print(.object(raw)) }
        }
        let lines =
            session.printsPlain
            ? StatusRendering.plainLines(status)
            : StatusRendering.lines(status, isOneGroup: !session.arguments.isEmpty)
        for line in lines { try session.console.print(line) }
    }
}

extension JSONObject {
    fileprivate func group(_ name: String) -> JSON {
        let groups = self["groups"]?.arrayValue ?? []
        return groups.first { $0.objectValue?["group"] == .string(name) } ?? .null
    }
}

/// The human form of `Status`.
package enum StatusRendering {
    package static func lines(_ status: DaemonStatus, isOneGroup: Bool) -> [String] {
        let head = isOneGroup ? [] : summary(status)
        let problems = isOneGroup ? [] : status.problems.flatMap { problem("appgroupd", $0) }
        let groupProblems = status.groups.flatMap { group in
            group.problem.map { problem(group.group.string, $0) } ?? []
        }
        return head + table(status.groups) + problems + groupProblems
    }

    private static func summary(_ status: DaemonStatus) -> [String] {
        let counts = [
            counted(status.clients, "client"), counted(status.watches, "watch", "watches"),
            counted(status.commits, "commit") + " since the start",
        ]
        return [
            "appgroupd \(status.version), up \(duration(status.uptime)), durability \(status.durability.rawValue)",
            counts.joined(separator: ", "),
            "containers in \(status.root)",
            "journals in \(status.state)",
            "",
        ]
    }

    private static func table(_ groups: [GroupStatus]) -> [String] {
        guard !groups.isEmpty else { return ["no groups"] }
        let header = ["GROUP", "REVISION", "KEYS", "SIZE", "WATCHERS", "PLIST", "WATCHING"]
        let rows = [header] + groups.map { row($0, size: size($0.bytes)) }
        return Table(rows: rows, rightAligned: Set(1...4)).lines(isPlain: false)
    }

    /// The groups alone, for programs.
    package static func plainLines(_ status: DaemonStatus) -> [String] {
        Table(rows: status.groups.map { row($0, size: String($0.bytes)) }).lines(isPlain: true)
    }

    private static func row(_ group: GroupStatus, size: String) -> [String] {
        [
            group.group.string, String(group.position.revision), String(group.keys), size, String(group.watchers),
            group.plist.rawValue, group.watching.rawValue,
        ]
    }

    private static func problem(_ subject: String, _ problem: Problem) -> [String] {
        let place = problem.path.map { path in
            "  at "
                + ([path] + [problem.line, problem.column].compactMap { $0.map(String.init) }).joined(separator: ":")
        }
        return ["", "\(subject): \(problem.reason)"]
            + [place, problem.advice.map { "  \($0)" }].compactMap { $0 }
    }

    static func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count) \(count == 1 ? one : many ?? one + "s")"
    }

    /// Of values, not of files. Below a KiB to the byte.
    package static func size(_ bytes: Int) -> String {
        if bytes < 1024 { return "\(bytes) B" }
        let (unit, name) = bytes < 1 << 20 ? (1024, "KiB") : (1 << 20, "MiB")
        return "\(bytes / unit).\(bytes % unit * 10 / unit) \(name)"
    }

    package static func duration(_ seconds: Double) -> String {
        let whole = Int(exactly: seconds.rounded(.down)) ?? 0
        switch whole {
        case ..<60: return "\(whole) s"
        case ..<3600: return "\(whole / 60) min \(whole % 60) s"
        case ..<86400: return "\(whole / 3600) h \(whole / 60 % 60) min"
        default: return "\(whole / 86400) d \(whole / 3600 % 24) h"
        }
    }
}
