package import GroupModel
package import PropertyList
package import Varlink

/// A call of `io.appgroupd.Settings`, typed.
package enum Request: Equatable, Sendable {
    case listGroups
    case createGroup(GroupIdentifier)
    case deleteGroup(GroupIdentifier)
    case read(GroupIdentifier, keys: [String]?)
    case explain(GroupIdentifier, Key)
    case describe(GroupIdentifier, Key?)
    case write(WriteRequest)
    case reset(GroupIdentifier, tag: String?)
    case tryOut(TryRequest)
    case endTrial(GroupIdentifier, revision: Int64, keeps: Bool)
    case synchronize(GroupIdentifier?)
    case repair(GroupIdentifier)
    case watch([WatchedGroup])
    case watchDocuments(GroupIdentifier, path: DocumentPath?)
    case history(HistoryRequest)
    case status(observers: Bool)
    case logLevel(LogVerbosity?)
}

/// How much the daemon logs.
package enum LogVerbosity: String, CaseIterable, Sendable {
    case error, warning, notice, info, debug
}

package struct WriteRequest: Equatable, Sendable {
    package var group: GroupIdentifier
    package var edits: [Edit]
    /// Every key is removed before the edits.
    package var isReset: Bool
    package var unchangedSince: Int64?
    package var isDurable: Bool
    package var tag: String?

    package init(
        group: GroupIdentifier, edits: [Edit], isReset: Bool = false, unchangedSince: Int64? = nil,
        isDurable: Bool = false, tag: String? = nil
    ) {
        self.group = group
        self.edits = edits
        self.isReset = isReset
        self.unchangedSince = unchangedSince
        self.isDurable = isDurable
        self.tag = tag
    }
}

package struct TryRequest: Equatable, Sendable {
    package var group: GroupIdentifier
    package var edits: [Edit]
    package var seconds: Double
    package var tag: String?

    /// What the interface takes.
    package static let bounds = 0.1...2_592_000

    package init(group: GroupIdentifier, edits: [Edit], seconds: Double, tag: String? = nil) {
        self.group = group
        self.edits = edits
        self.seconds = seconds
        self.tag = tag
    }
}

package struct WatchedGroup: Equatable, Sendable {
    package var group: GroupIdentifier
    package var keys: [String]?
    package var since: Position?

    package init(group: GroupIdentifier, keys: [String]? = nil, since: Position? = nil) {
        self.group = group
        self.keys = keys
        self.since = since
    }
}

package struct HistoryRequest: Equatable, Sendable {
    package var group: GroupIdentifier
    package var keys: [String]?
    package var limit: Int64?
    package var before: Int64?

    package init(group: GroupIdentifier, keys: [String]? = nil, limit: Int64? = nil, before: Int64? = nil) {
        self.group = group
        self.keys = keys
        self.limit = limit
        self.before = before
    }
}

/// The methods of the interface, by their names in it.
package enum SettingsMethod: String, CaseIterable, Sendable {
    case listGroups = "ListGroups"
    case createGroup = "CreateGroup"
    case deleteGroup = "DeleteGroup"
    case read = "Read"
    case explain = "Explain"
    case describe = "Describe"
    case write = "Write"
    case reset = "Reset"
    case tryOut = "Try"
    case endTrial = "EndTrial"
    case synchronize = "Synchronize"
    case repair = "Repair"
    case watch = "Watch"
    case watchDocuments = "WatchDocuments"
    case history = "History"
    case status = "Status"
    case logLevel = "LogLevel"

    /// Whether the call must have the flag `more`: its replies go on.
    package var isStream: Bool { self == .watch || self == .watchDocuments }
}

// MARK: - Reading a call

extension Request {
    package init(_ method: SettingsMethod, _ object: JSONObject) throws(RequestProblem) {
        switch method {
        case .listGroups:
            _ = try Parameters(object, knowing: [])
            self = .listGroups
        case .status:
            let parameters = try Parameters(object, knowing: ["observers"])
            self = .status(observers: try parameters.optional("observers", \.booleanValue) ?? false)
        case .createGroup: self = .createGroup(try Parameters(object, knowing: ["group"]).group("group"))
        case .deleteGroup: self = .deleteGroup(try Parameters(object, knowing: ["group"]).group("group"))
        case .repair: self = .repair(try Parameters(object, knowing: ["group"]).group("group"))
        case .read:
            let parameters = try Parameters(object, knowing: ["group", "keys"])
            self = .read(try parameters.group("group"), keys: try parameters.optionalStrings("keys"))
        case .explain:
            let parameters = try Parameters(object, knowing: ["group", "key"])
            self = .explain(try parameters.group("group"), Key(try parameters.string("key")))
        case .describe:
            let parameters = try Parameters(object, knowing: ["group", "key"])
            self = .describe(
                try parameters.group("group"), try parameters.optional("key", \.stringValue).map { Key($0) })
        case .write: self = .write(try WriteRequest(object))
        case .reset:
            let parameters = try Parameters(object, knowing: ["group", "tag"])
            self = .reset(try parameters.group("group"), tag: try parameters.optional("tag", \.stringValue))
        case .tryOut: self = .tryOut(try TryRequest(object))
        case .endTrial:
            let parameters = try Parameters(object, knowing: ["group", "revision", "keep"])
            self = .endTrial(
                try parameters.group("group"), revision: try parameters.integer("revision"),
                keeps: try parameters.required("keep", \.booleanValue))
        case .synchronize:
            let parameters = try Parameters(object, knowing: ["group"])
            self = .synchronize(parameters.json("group") == nil ? nil : try parameters.group("group"))
        case .watch: self = .watch(try Request.watches(object))
        case .watchDocuments:
            let parameters = try Parameters(object, knowing: ["group", "path"])
            self = .watchDocuments(
                try parameters.group("group"),
                path: try parameters.optional("path") { $0.stringValue.flatMap(DocumentPath.init) })
        case .history: self = .history(try HistoryRequest(object))
        case .logLevel:
            let parameters = try Parameters(object, knowing: ["level"])
            self = .logLevel(try parameters.optional("level") { $0.stringValue.flatMap(LogVerbosity.init) })
        }
    }

    private static func watches(_ object: JSONObject) throws(RequestProblem) -> [WatchedGroup] {
        let parameters = try Parameters(object, knowing: ["watches"])
        var watches: [WatchedGroup] = []
        var seen: Set<GroupIdentifier> = []
        for entry in try parameters.required("watches", \.arrayValue) {
            let fields = try Parameters(entry, knowing: ["group", "keys", "since"], within: "watches")
            let watch = WatchedGroup(
                group: try fields.group("group"), keys: try fields.optionalStrings("keys"),
                since: try fields.position("since"))
            guard seen.insert(watch.group).inserted else { throw parameters.refusal(of: "watches") }
            watches.append(watch)
        }
        return watches
    }
}

extension WriteRequest {
    init(_ object: JSONObject) throws(RequestProblem) {
        let parameters = try Parameters(
            object, knowing: ["group", "edits", "reset", "ifUnchangedSince", "durable", "tag"])
        var edits: [Edit] = []
        for entry in try parameters.required("edits", \.arrayValue) {
            edits.append(try Edit(entry))
        }
        self.init(
            group: try parameters.group("group"), edits: edits,
            isReset: try parameters.optional("reset", \.booleanValue) ?? false,
            unchangedSince: try parameters.optional("ifUnchangedSince", \.integerValue),
            isDurable: try parameters.optional("durable", \.booleanValue) ?? false,
            tag: try parameters.optional("tag", \.stringValue))
    }
}

extension TryRequest {
    init(_ object: JSONObject) throws(RequestProblem) {
        let parameters = try Parameters(object, knowing: ["group", "edits", "seconds", "tag"])
        var edits: [Edit] = []
        for entry in try parameters.required("edits", \.arrayValue) { edits.append(try Edit(entry)) }
        self.init(
            group: try parameters.group("group"), edits: edits,
            seconds: try parameters.required("seconds") { json in
                json.realValue.flatMap { Self.bounds.contains($0) ? $0 : nil }
            },
            tag: try parameters.optional("tag", \.stringValue))
    }
}

extension Edit {
    init(_ json: JSON) throws(RequestProblem) {
        let fields = try Parameters(json, knowing: ["key", "operation", "value", "otherwise"], within: "edits")
        let key = Key(try fields.string("key"))
        let value = try Edit.value("value", of: key, in: fields)
        let otherwise = try Edit.value("otherwise", of: key, in: fields)
        let operation = try fields.optional("operation") { $0.stringValue.flatMap(Operation.init) }
        self.init(key: key, operation: operation ?? (value == nil ? .remove : .set), value: value, otherwise: otherwise)
    }

    private static func value(_ name: String, of key: Key, in fields: Parameters) throws(RequestProblem) -> Value? {
        guard let json = fields.json(name) else { return nil }
        do throws(WireValueProblem) {
            return try Value(wire: json)
        } catch .content(let reason) {
            throw .settings(.invalidValue(key: key.string, reason: reason))
        } catch {
            throw fields.refusal(of: name)
        }
    }
}

extension HistoryRequest {
    init(_ object: JSONObject) throws(RequestProblem) {
        let parameters = try Parameters(object, knowing: ["group", "keys", "limit", "before"])
        self.init(
            group: try parameters.group("group"), keys: try parameters.optionalStrings("keys"),
            limit: try parameters.optional("limit") { $0.integerValue.flatMap { $0 >= 0 ? $0 : nil } },
            before: try parameters.optional("before", \.integerValue))
    }
}
