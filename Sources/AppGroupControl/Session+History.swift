import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

/// A place in a group's history, as the command line names it.
enum Moment {
    case revision(Int64)
    case time(Timestamp)

    /// `12`, `r12` as it is printed, or a time.
    init(_ text: String, of option: Option, _ verb: Verb?) throws(Failure) {
        if let revision = Self.revision(text) {
            self = .revision(revision)
        } else if case .date(let time)? = try? ValueParsing.value(text, as: .date) {
            self = .time(time)
        } else if let span = TimeSpan.microseconds(text) {
            self = .time(Timestamp(microseconds: ProcessFacts.realtimeMicroseconds() - span))
        } else {
            throw .usage(
                "\(option.name) takes a revision such as 12, a time such as 2026-11-30T09:00:00Z or how long ago, such as "
                    + "5min, not \(quoted(text))",
                verb)
        }
    }

    static func revision(_ text: String) -> Int64? {
        let digits = text.hasPrefix("r") ? text.dropFirst() : text[...]
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(digits)
    }
}

/// The commits that are still kept.
extension Session {
    private static let pageSize: Int64 = 1000

    /// The argument that names a revision.
    func revision(_ index: Int) throws(Failure) -> Int64 {
        let text = arguments[index]
        guard let revision = Moment.revision(text) else {
            throw .usage("a revision is a number such as 12, not \(quoted(text)); log shows them", invocation.verb)
        }
        return revision
    }

    /// At most so many commits before a revision, newest first. Fewer than `limit` do not mean that there are no more.
    func page(
        of group: GroupIdentifier, keys: [String]? = nil, before: Int64?, limit: Int64
    ) throws(Failure) -> [Commit] {
        let request = HistoryRequest(group: group, keys: keys, limit: limit, before: before)
        guard let list = try call(.history(request))["commits"]?.arrayValue else { throw Self.unexpectedReply }
        var commits: [Commit] = []
        for json in list {
            guard let commit = Commit(wire: json) else { throw Self.unexpectedReply }
            commits.append(commit)
        }
        return commits
    }

    /// Goes through the commits, newest first, until `body` says that it has seen enough.
    func eachCommit(
        of group: GroupIdentifier, keys: [String]? = nil, before: Int64? = nil, limit: Int64 = .max,
        _ body: (Commit) throws(Failure) -> Bool
    ) throws(Failure) {
        var (before, rest) = (before, limit)
        while rest > 0 {
            let commits = try page(of: group, keys: keys, before: before, limit: min(rest, Self.pageSize))
            for commit in commits where try !body(commit) { return }
            guard let last = commits.last else { return }
            before = last.revision
            rest -= Int64(commits.count)
        }
    }

    /// Every commit after one revision up to another, newest first; an error where one of them is not kept.
    func commits(of group: GroupIdentifier, after low: Int64, upTo high: Int64) throws(Failure) -> [Commit] {
        var commits: [Commit] = []
        guard high > low else { return [] }
        try eachCommit(of: group, before: high == .max ? nil : high + 1) { commit in
            guard commit.revision > low, commit.revision == high - Int64(commits.count) else { return false }
            commits.append(commit)
            return true
        }
        guard Int64(commits.count) == high - low else { throw try missing(high - Int64(commits.count), of: group) }
        return commits
    }

    /// Why a revision's commit cannot be had.
    private func missing(_ revision: Int64, of group: GroupIdentifier) throws(Failure) -> Failure {
        let newest = try Self.position(try call(.read(group, keys: []))).revision
        if revision > newest { return .refused("\(group) has no revision \(revision), it is at \(newest)") }
        var oldest: Int64?
        try eachCommit(of: group) { commit in
            oldest = commit.revision
            return true
        }
        let begin = oldest.map { "it begins with revision \($0)" } ?? "nothing of it is kept"
        return .refused(
            "the history of \(group) does not reach back to revision \(revision): \(begin)",
            advice: "HistoryCommits= and HistorySec= in appgroupd.conf say how much is kept")
    }

    /// The revision that was the newest at a time.
    func revision(of group: GroupIdentifier, at moment: Moment) throws(Failure) -> Int64 {
        switch moment {
        case .revision(let revision): return revision
        case .time(let time):
            var found: Int64?
            var oldest: Int64 = 1
            try eachCommit(of: group) { commit in
                oldest = commit.revision
                if commit.time <= time { found = commit.revision }
                return found == nil
            }
            // Before the first commit there was nothing; before the oldest that is kept nobody knows.
            return found ?? oldest - 1
        }
    }

    func position(of group: GroupIdentifier, at moment: Moment) throws(Failure) -> Position {
        var position = try Self.position(try call(.read(group, keys: [])))
        position.revision = try revision(of: group, at: moment)
        return position
    }

    /// All values as they were then: the present ones, with every later commit taken back.
    func values(of group: GroupIdentifier, at moment: Moment) throws(Failure) -> [Key: Value] {
        let wanted = try revision(of: group, at: moment)
        let present = try snapshot(of: group)
        guard wanted <= present.position.revision else { throw try missing(wanted, of: group) }
        var values = present.values
        for commit in try commits(of: group, after: wanted, upTo: present.position.revision) {
            for change in commit.changes { values[change.key] = change.old }
        }
        return values
    }
}
