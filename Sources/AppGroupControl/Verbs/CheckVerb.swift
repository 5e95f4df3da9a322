import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

extension Verb {
    static let check = Verb(
        "check", [Argument("GROUP|FILE", .optional)], summary: "tell what is wrong, where, and what will happen",
        details: """
            Of all groups, of one, or of a file: a property list or a journal, for which
            the daemon is not asked. A word with a / in it is a file. Status 1 where
            something is wrong; repair GROUP mends a damaged property list.
            """,
        body: CheckVerb.run)
}

enum CheckVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let findings: [CheckFinding]
        if let name = session.arguments.first, name.contains("/") {
            findings = try FileCheck.findings(of: name)
        } else {
            findings = try ofGroups(session)
        }
        for finding in findings {
            if session.printsJSON { try session.print(finding.json) } else { try session.console.print(finding.text) }
        }
        let wrong = findings.filter { $0.problem != nil }.count
        guard wrong == 0 else {
            throw .refused("something is wrong with \(wrong) of \(findings.count)")
        }
    }

    private static func ofGroups(_ session: Session) throws(Failure) -> [CheckFinding] {
        let status = try session.status().status
        let groups: [GroupStatus]
        if session.arguments.isEmpty {
            groups = status.groups
        } else {
            let group = try session.group()
            groups = status.groups.filter { $0.group == group }
            // The daemon's own words for one that is not there, or cannot be opened.
            if groups.isEmpty { _ = try session.call(.read(group, keys: [])) }
        }
        let daemon = session.arguments.isEmpty ? status.problems : []
        return daemon.map { CheckFinding(subject: "appgroupd", problem: $0, consequence: nil) }
            + groups.map(CheckFinding.init)
    }
}

/// What was found out about one group or file.
struct CheckFinding {
    var subject: String
    /// What is good to know of what is sound.
    var summary = "sound"
    var problem: Problem?
    /// What will happen as long as nothing is done.
    var consequence: String?

    init(subject: String, summary: String = "sound", problem: Problem? = nil, consequence: String? = nil) {
        self.subject = subject
        self.summary = summary
        self.problem = problem
        self.consequence = consequence
    }

    init(_ status: GroupStatus) {
        self.init(
            subject: status.group.string, summary: "sound, \(status.keys) keys at revision \(status.position.revision)",
            problem: status.problem, consequence: Self.consequence(status))
    }

    private static func consequence(_ status: GroupStatus) -> String? {
        switch status.plist {
        case .clean, .pending: nil
        case .damaged, .unreachable:
            "writes go to the journal meanwhile, and the file is left alone"
        case .readOnly: "every write of the group is refused with ReadOnly meanwhile"
        }
    }

    var text: String {
        guard let problem else { return "\(subject): \(summary)" }
        let place = problem.path.map { path in
            "\n  at "
                + ([path] + [problem.line, problem.column].compactMap { $0.map(String.init) }).joined(separator: ":")
        }
        let notes = [problem.advice, consequence].compactMap { $0.map { "\n  " + $0 } }
        return "\(subject): \(problem.reason)" + (place ?? "") + notes.joined()
    }

    var json: JSON {
        var object: JSONObject = ["subject": .string(subject), "sound": .boolean(problem == nil)]
        if let problem {
            object["reason"] = .string(problem.reason)
            if let path = problem.path { object["path"] = .string(path) }
            if let line = problem.line { object["line"] = .integer(Int64(line)) }
            if let column = problem.column { object["column"] = .integer(Int64(column)) }
            if let advice = problem.advice { object["advice"] = .string(advice) }
        } else {
            object["summary"] = .string(summary)
        }
        return .object(object)
    }
}

/// A file by itself, without the daemon.
enum FileCheck {
    private static let journalLimit = 1 << 30

    static func findings(of path: String) throws(Failure) -> [CheckFinding] {
        path.hasSuffix(".journal") ? [try journal(path)] : [plist(path)]
    }

    private static func plist(_ path: String) -> CheckFinding {
        switch PlistFile(path: path).read() {
        case .content(let content):
            CheckFinding(
                subject: path,
                summary: "a sound property list, \(content.format == .xml ? "XML" : "binary"), "
                    + "\(content.entries.count) keys")
        case .absent:
            CheckFinding(subject: path, problem: Problem(reason: "there is no such file", path: nil))
        case .damaged(let problem, _, _), .unreachable(let problem, _):
            CheckFinding(
                subject: path,
                problem: Problem(
                    reason: problem.reason, path: problem.path, line: problem.line, column: problem.column))
        }
    }

    private static func journal(_ path: String) throws(Failure) -> CheckFinding {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try Files.read(path, limit: journalLimit).bytes
        } catch {
            throw .refused("\(path) cannot be read: \(error.errno)")
        }
        let scan = RecordScanner.scan(bytes)
        let sound = "\(scan.payloads.count) sound records in \(scan.end) bytes"
        switch scan.tail {
        case .none: return CheckFinding(subject: path, summary: "a sound journal: \(sound)")
        case .room(let size):
            return CheckFinding(
                subject: path, summary: "a sound journal: \(sound), and \(size) bytes of room for the next ones")
        case .torn(let size):
            return CheckFinding(
                subject: path,
                summary: "\(sound), then \(size) bytes of an append that was cut short: the next start "
                    + "of the daemon cuts them off, and nothing that was acknowledged is lost")
        case .damaged(let next):
            return CheckFinding(
                subject: path,
                problem: Problem(
                    reason: "damaged from byte \(scan.end) to byte \(next), behind \(sound)", path: path,
                    advice: "restore it from a backup while the daemon is stopped"),
                consequence: "the next start of the daemon sets it aside, and the property list begins a new epoch")
        }
    }
}
