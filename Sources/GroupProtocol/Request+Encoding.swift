import GroupModel
import PropertyList
import Varlink

extension Request {
    package var method: SettingsMethod {
        switch self {
        case .listGroups: .listGroups
        case .createGroup: .createGroup
        case .deleteGroup: .deleteGroup
        case .read: .read
        case .explain: .explain
        case .describe: .describe
        case .write: .write
        case .reset: .reset
        case .tryOut: .tryOut
        case .endTrial: .endTrial
        case .synchronize: .synchronize
        case .repair: .repair
        case .watch: .watch
        case .watchDocuments: .watchDocuments
        case .history: .history
        case .status: .status
        case .logLevel: .logLevel
        }
    }

    /// The call as a client sends it, its NUL included.
    package var callBytes: [UInt8] {
        let name = SettingsInterface.name + "." + method.rawValue
        let mode: Call.Mode = method.isStream ? .more : .single
        return Call.bytes(method: name, mode: mode, parameters: parameterBytes)
    }

    private var parameterBytes: [UInt8]? {
        var writer = JSONWriter(capacity: 128)
        writer.beginObject()
        switch self {
        case .listGroups, .status(observers: false), .synchronize(nil), .logLevel(nil): return nil
        case .status(observers: true): writer.member("observers", boolean: true)
        case .logLevel(let level?): writer.member("level", string: level.rawValue)
        case .createGroup(let group), .deleteGroup(let group), .synchronize(let group?), .repair(let group):
            writer.member("group", string: group.string)
        case .read(let group, let keys):
            writer.member("group", string: group.string)
            if let keys { writer.member("keys", strings: keys) }
        case .explain(let group, let key):
            writer.member("group", string: group.string)
            writer.member("key", string: key.string)
        case .describe(let group, let key):
            writer.member("group", string: group.string)
            if let key { writer.member("key", string: key.string) }
        case .write(let request): writer.members(of: request)
        case .tryOut(let request): writer.members(of: request)
        case .endTrial(let group, let revision, let keeps):
            writer.member("group", string: group.string)
            writer.member("revision", integer: revision)
            writer.member("keep", boolean: keeps)
        case .reset(let group, let tag):
            writer.member("group", string: group.string)
            if let tag { writer.member("tag", string: tag) }
        case .watch(let watches):
            writer.member("watches")
            writer.beginArray()
            for watch in watches { writer.write(watch) }
            writer.endArray()
        case .watchDocuments(let group, let path):
            writer.member("group", string: group.string)
            if let path { writer.member("path", string: path.string) }
        case .history(let request): writer.members(of: request)
        }
        writer.endObject()
        return writer.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func members(of request: WriteRequest) {
        member("group", string: request.group.string)
        member("edits")
        beginArray()
        for edit in request.edits { write(edit) }
        endArray()
        if request.isReset { member("reset", boolean: true) }
        if let revision = request.unchangedSince { member("ifUnchangedSince", integer: revision) }
        if request.isDurable { member("durable", boolean: true) }
        if let tag = request.tag { member("tag", string: tag) }
    }

    fileprivate mutating func members(of request: TryRequest) {
        member("group", string: request.group.string)
        member("edits")
        beginArray()
        for edit in request.edits { write(edit) }
        endArray()
        member("seconds", real: request.seconds)
        if let tag = request.tag { member("tag", string: tag) }
    }

    fileprivate mutating func members(of request: HistoryRequest) {
        member("group", string: request.group.string)
        if let keys = request.keys { member("keys", strings: keys) }
        if let limit = request.limit { member("limit", integer: limit) }
        if let before = request.before { member("before", integer: before) }
    }

    private mutating func write(_ edit: Edit) {
        beginObject()
        member("key", string: edit.key.string)
        // Without operation the daemon takes a set, or a removal where there is no value.
        if edit.operation != (edit.value == nil ? .remove : .set) {
            member("operation", string: edit.operation.rawValue)
        }
        if let value = edit.value {
            member("value")
            write(value)
        }
        if let otherwise = edit.otherwise {
            member("otherwise")
            write(otherwise)
        }
        endObject()
    }

    fileprivate mutating func write(_ watch: WatchedGroup) {
        beginObject()
        member("group", string: watch.group.string)
        if let keys = watch.keys { member("keys", strings: keys) }
        if let since = watch.since {
            member("since")
            write(since)
        }
        endObject()
    }
}
