package import GroupModel
package import Varlink

/// What is wrong, where, and what helps.
package struct Problem: Error, Equatable, Sendable {
    package var reason: String
    package var path: String?
    /// Counted from 1, as `column` is.
    package var line: Int?
    package var column: Int?
    package var advice: String?

    package init(
        reason: String, path: String? = nil, line: Int? = nil, column: Int? = nil, advice: String? = nil
    ) {
        self.reason = reason
        self.path = path
        self.line = line
        self.column = column
        self.advice = advice
    }
}

/// How a group's property list stands to the group.
package enum PlistCondition: String, Sendable, CaseIterable {
    case clean, pending, damaged, readOnly, unreachable
}

package struct GroupStatus: Equatable, Sendable {
    package enum Watching: String, Sendable, CaseIterable {
        case inotify, polling
    }

    package var group: GroupIdentifier
    package var position: Position
    package var keys: Int
    package var bytes: Int
    package var watchers: Int
    package var plist: PlistCondition
    package var watching: Watching
    package var problem: Problem?

    package init(
        group: GroupIdentifier, position: Position, keys: Int, bytes: Int, watchers: Int, plist: PlistCondition,
        watching: Watching, problem: Problem?
    ) {
        self.group = group
        self.position = position
        self.keys = keys
        self.bytes = bytes
        self.watchers = watchers
        self.plist = plist
        self.watching = watching
        self.problem = problem
    }
}

package enum Durability: String, Sendable, CaseIterable {
    /// A reply means that the kernel has the write: it survives every process, and a power cut after the sync interval.
    case process
    /// A reply means that stable storage has the write.
    case power
}

package struct DaemonStatus: Equatable, Sendable {
    package var version: String
    /// In seconds.
    package var uptime: Double
    package var durability: Durability
    package var clients: Int
    package var watches: Int
    package var commits: Int
    package var groups: [GroupStatus]
    package var problems: [Problem]
    package var root: String
    package var state: String
    /// Nil where they were not asked for.
    package var observers: [ObserverStatus]?

    package init(
        version: String, uptime: Double, durability: Durability, clients: Int, watches: Int, commits: Int,
        groups: [GroupStatus], problems: [Problem], root: String, state: String,
        observers: [ObserverStatus]? = nil
    ) {
        self.version = version
        self.uptime = uptime
        self.durability = durability
        self.clients = clients
        self.watches = watches
        self.commits = commits
        self.groups = groups
        self.problems = problems
        self.root = root
        self.state = state
        self.observers = observers
    }
}

/// A client that follows groups.
package struct ObserverStatus: Equatable, Sendable {
    package var client: String?
    package var processId: Int32?
    package var groups: [GroupIdentifier]
    /// Bytes of changes that wait until it reads.
    package var waiting: Int

    package init(client: String?, processId: Int32?, groups: [GroupIdentifier], waiting: Int) {
        self.client = client
        self.processId = processId
        self.groups = groups
        self.waiting = waiting
    }
}

// MARK: - On the wire

extension JSONWriter {
    package mutating func write(_ status: DaemonStatus) {
        beginObject()
        member("version", string: status.version)
        member("uptime", real: status.uptime)
        member("durability", string: status.durability.rawValue)
        member("clients", integer: Int64(status.clients))
        member("watches", integer: Int64(status.watches))
        member("commits", integer: Int64(status.commits))
        member("groups")
        beginArray()
        for group in status.groups { write(group) }
        endArray()
        member("problems")
        beginArray()
        for problem in status.problems { write(problem) }
        endArray()
        member("root", string: status.root)
        member("state", string: status.state)
        if let observers = status.observers {
            member("observers")
            beginArray()
            for observer in observers { write(observer) }
            endArray()
        }
        endObject()
    }

    private mutating func write(_ observer: ObserverStatus) {
        beginObject()
        if let client = observer.client { member("client", string: client) }
        if let processId = observer.processId { member("processId", integer: Int64(processId)) }
        member("groups", strings: observer.groups.map(\.string))
        member("waiting", integer: Int64(observer.waiting))
        endObject()
    }

    private mutating func write(_ status: GroupStatus) {
        beginObject()
        member("group", string: status.group.string)
        member("epoch", string: status.position.epoch.description)
        member("revision", integer: status.position.revision)
        member("keys", integer: Int64(status.keys))
        member("bytes", integer: Int64(status.bytes))
        member("watchers", integer: Int64(status.watchers))
        member("plist", string: status.plist.rawValue)
        member("watching", string: status.watching.rawValue)
        if let problem = status.problem {
            member("problem")
            write(problem)
        }
        endObject()
    }

    package mutating func write(_ problem: Problem) {
        beginObject()
        member("reason", string: problem.reason)
        if let path = problem.path { member("path", string: path) }
        if let line = problem.line { member("line", integer: Int64(line)) }
        if let column = problem.column { member("column", integer: Int64(column)) }
        if let advice = problem.advice { member("advice", string: advice) }
        endObject()
    }
}

extension DaemonStatus {
    package init?(wire object: JSONObject) {
        guard let version = object["version"]?.stringValue, let uptime = object["uptime"]?.realValue,
            let durability = object["durability"]?.stringValue.flatMap(Durability.init),
            let groups = object["groups"]?.arrayValue, let problems = object["problems"]?.arrayValue
        else { return nil }
        self.init(
            version: version, uptime: uptime, durability: durability, clients: object.count(of: "clients"),
            watches: object.count(of: "watches"), commits: object.count(of: "commits"),
            groups: groups.compactMap(GroupStatus.init(wire:)), problems: problems.compactMap(Problem.init(wire:)),
            root: object["root"]?.stringValue ?? "", state: object["state"]?.stringValue ?? "",
            observers: object["observers"]?.arrayValue?.compactMap(ObserverStatus.init(wire:)))
    }
}

extension ObserverStatus {
    fileprivate init?(wire json: JSON) {
        guard let object = json.objectValue, let groups = object["groups"]?.strings else { return nil }
        self.init(
            client: object["client"]?.stringValue,
            processId: object["processId"]?.integerValue.flatMap { Int32(exactly: $0) },
            groups: groups.compactMap { try? GroupIdentifier($0) }, waiting: object.count(of: "waiting"))
    }
}

extension GroupStatus {
    fileprivate init?(wire json: JSON) {
        guard let object = json.objectValue,
            let group = object["group"]?.stringValue.flatMap({ try? GroupIdentifier($0) }),
            let epoch = object["epoch"]?.stringValue.flatMap({ Epoch($0) }),
            let revision = object["revision"]?.integerValue,
            let plist = object["plist"]?.stringValue.flatMap(PlistCondition.init),
            let watching = object["watching"]?.stringValue.flatMap(Watching.init)
        else { return nil }
        self.init(
            group: group, position: Position(epoch: epoch, revision: revision), keys: object.count(of: "keys"),
            bytes: object.count(of: "bytes"), watchers: object.count(of: "watchers"), plist: plist,
            watching: watching, problem: object["problem"].flatMap(Problem.init(wire:)))
    }
}

extension Problem {
    fileprivate init?(wire json: JSON) {
        guard let object = json.objectValue, let reason = object["reason"]?.stringValue else { return nil }
        self.init(
            reason: reason, path: object["path"]?.stringValue,
            line: object["line"]?.integerValue.flatMap { Int(exactly: $0) },
            column: object["column"]?.integerValue.flatMap { Int(exactly: $0) },
            advice: object["advice"]?.stringValue)
    }
}

extension JSONObject {
    fileprivate func count(of name: String) -> Int {
        self[name]?.integerValue.flatMap { Int(exactly: $0) } ?? 0
    }
}
