import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

extension Server {
    /// Every layer's value of a key, with who set it, which one wins and why.
    func explain(_ group: GroupIdentifier, _ key: Key, _ target: Connection.ReplyTarget) throws(GroupError) {
        let host = try settledHost(of: group)
        let files = layers.scan.readings[group]?.files ?? []
        var values = files.filter { $0.kind == .managed }.compactMap { host.value(of: key, in: $0) }
        if let own = host.ownValue(of: key) { values.append(own) }
        values += files.filter { $0.kind == .defaults }.compactMap { host.value(of: key, in: $0) }
        for place in values.indices { values[place].explain(place == 0, below: values.first) }
        answer(
            target,
            with: Reply.bytes {
                $0.member("layers")
                $0.beginArray()
                for value in values { $0.write(value) }
                $0.endArray()
            })
    }
}

extension Server {
    /// What the group's schema says, if it has one.
    func describe(_ group: GroupIdentifier, _ key: Key?, _ target: Connection.ReplyTarget) throws(GroupError) {
        let host = try host(of: group)
        let schema = host.schema?.schema
        let rules = key.map { key in [schema?.rule(for: key)].compactMap { $0 } } ?? schema?.rules ?? []
        let path = schema == nil ? nil : layers.scan.readings[group]?.schema?.path
        answer(
            target,
            with: Reply.bytes {
                $0.member("rules")
                $0.beginArray()
                for rule in rules { $0.write(rule) }
                $0.endArray()
                $0.member("allowsUnknownKeys", boolean: schema?.allowsUnknownKeys ?? true)
                if let path { $0.member("path", string: path) }
            })
    }
}

extension GroupHost {
    fileprivate func value(of key: Key, in file: LayerFile) -> LayerValue? {
        guard let entry = file.entries[key] else { return nil }
        let layer: Layer = file.kind == .managed ? .managed : .defaults
        var value = LayerValue(layer: layer, value: entry, path: file.path, wins: false, reason: "")
        value.time = file.time
        value.user = ProcessFacts.userName(file.user)
        return value
    }

    fileprivate func ownValue(of key: Key) -> LayerValue? {
        guard let entry = state[key] else { return nil }
        var value = LayerValue(layer: .group, value: entry, path: plist.file.path, wins: false, reason: "")
        // Of what was there when the journal was rewritten last, nobody knows any more who set it.
        guard let revision = state.revision(of: key), let commit = recorded(revision)?.commit,
            commit.changes.contains(where: { $0.key == key })
        else { return value }
        (value.time, value.revision, value.origin) = (commit.time, revision, commit.origin)
        return value
    }
}

extension LayerValue {
    fileprivate mutating func explain(_ isFirst: Bool, below winner: LayerValue?) {
        wins = isFirst
        switch (isFirst, layer) {
        case (true, .managed): reason = "an administrator forces it"
        case (true, .group): reason = "set in the group, and no administrator forces another value"
        case (true, .defaults): reason = "an administrator's default, since the group has no value"
        case (false, _): reason = winner.map { "hidden by \($0.path)" } ?? ""
        }
    }
}
