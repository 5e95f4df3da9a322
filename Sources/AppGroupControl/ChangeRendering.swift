package import GroupModel
import GroupProtocol
package import PropertyList
package import Varlink

/// One change of a commit, as `watch` and `history` print it.
package enum ChangeRendering {
    /// `2026-11-30T09:00:00.123456Z  r12  theme: "light" → "dark"  (demo[123])`
    package static func line(
        _ change: Change, _ commit: Commit, coalesced: Int64? = nil, usesColor: Bool = false
    ) -> String {
        let style = Style(isOn: usesColor)
        let values = "\(side(change.old)) → \(side(change.new))"
        let note = coalesced.map { ", stands for \($0) revisions" } ?? ""
        return style.dim(commit.time.rfc3339Microseconds) + "  r\(commit.revision)  "
            + style.bold(TextRendering.key(change.key)) + ": \(values)  "
            + style.dim("(\(origin(commit.origin))\(note))")
    }

    /// The same for programs: time, revision, key, old and new value, origin; `-` stands for no value.
    package static func fields(_ change: Change, _ commit: Commit) -> [String] {
        [commit.time.rfc3339Microseconds, String(commit.revision)]
            + fields(change.key, change.old, change.new) + [origin(commit.origin)]
    }

    /// A value of a snapshot in the same form.
    static func fields(_ key: Key, _ value: Value, at position: Position, _ reason: String) -> [String] {
        ["-", String(position.revision)] + fields(key, nil, value) + [reason]
    }

    static func fields(_ key: Key, _ old: Value?, _ new: Value?) -> [String] {
        [TextRendering.key(key)] + [old, new].map { $0.map(TextRendering.inline) ?? "-" }
    }

    package static func json(_ change: Change, _ commit: Commit, coalesced: Int64? = nil) -> JSON {
        var object: JSONObject = [
            "group": .string(commit.group.string), "revision": .integer(commit.revision),
            "time": .string(commit.time.rfc3339Microseconds), "origin": .object(originObject(commit.origin)),
            "key": .string(change.key.string),
        ]
        if let old = change.old { object["old"] = JSONRendering.json(old) }
        if let new = change.new { object["new"] = JSONRendering.json(new) }
        if let coalesced { object["coalesced"] = .integer(coalesced) }
        return .object(object)
    }

    /// A commit with all of its changes: who, when, then an indented line a change.
    package static func lines(_ commit: Commit, usesColor: Bool = false) -> [String] {
        let style = Style(isOn: usesColor)
        let head =
            style.bold("r\(commit.revision)") + "  " + style.dim(commit.time.rfc3339Microseconds)
            + "  \(origin(commit.origin))"
        return [head]
            + commit.changes.sorted { $0.key < $1.key }.map {
                "    \(TextRendering.key($0.key)): \(side($0.old)) → \(side($0.new))"
            }
    }

    package static func json(_ commit: Commit) -> JSON {
        let changes = commit.changes.sorted { $0.key < $1.key }.map { change -> JSON in
            var object: JSONObject = ["key": .string(change.key.string)]
            if let old = change.old { object["old"] = JSONRendering.json(old) }
            if let new = change.new { object["new"] = JSONRendering.json(new) }
            return .object(object)
        }
        return [
            "group": .string(commit.group.string), "revision": .integer(commit.revision),
            "time": .string(commit.time.rfc3339Microseconds), "origin": .object(originObject(commit.origin)),
            "changes": .array(changes),
        ]
    }

    /// `snapshot at r12: 2 keys`, then an indented line a key.
    package static func lines(
        snapshot values: [Key: Value], at position: Position, reason: String
    ) -> [String] {
        let why = reason == "initial" ? "" : " (\(reason))"
        let count = "\(values.count) \(values.count == 1 ? "key" : "keys")"
        return ["snapshot at r\(position.revision)\(why): \(count)"]
            + TextRendering.sorted(values).map { "  \(TextRendering.key($0.key)) = \(TextRendering.inline($0.value))" }
    }

    package static func json(
        snapshot values: [Key: Value], of group: GroupIdentifier, at position: Position, reason: String
    ) -> JSON {
        [
            "group": .string(group.string), "epoch": .string(position.epoch.description),
            "revision": .integer(position.revision), "reason": .string(reason),
            "values": .object(JSONRendering.object(values)),
        ]
    }

    private static func side(_ value: Value?) -> String {
        value.map(TextRendering.inline) ?? "absent"
    }

    /// Names come from other programs: nothing in them may act on a terminal.
    static func origin(_ origin: Origin) -> String {
        var text = origin.kind.rawValue
        if let client = origin.client { text = TextRendering.key(Key(client)) }
        if let processId = origin.processId { text += "[\(processId)]" }
        if let unit = origin.unit { text += " of \(TextRendering.key(Key(unit)))" }
        if let tag = origin.tag { text += " \(quoted(tag))" }
        return text
    }

    static func originObject(_ origin: Origin) -> JSONObject {
        var object: JSONObject = ["kind": .string(origin.kind.rawValue)]
        if let client = origin.client { object["client"] = .string(client) }
        if let processId = origin.processId { object["processId"] = .integer(Int64(processId)) }
        if let unit = origin.unit { object["unit"] = .string(unit) }
        if let tag = origin.tag { object["tag"] = .string(tag) }
        return object
    }
}

extension Console {
    /// A line of `watch` and `history`.
    func print(_ change: Change, of commit: Commit, coalesced: Int64? = nil) throws(Failure) {
        if isPlain { return try print(fields: ChangeRendering.fields(change, commit)) }
        try print(ChangeRendering.line(change, commit, coalesced: coalesced, usesColor: usesColor))
    }
}

/// The escapes of terminals, or nothing.
struct Style {
    var isOn: Bool

    func bold(_ text: String) -> String { wrap("1", text) }
    func dim(_ text: String) -> String { wrap("2", text) }

    private func wrap(_ code: String, _ text: String) -> String {
        isOn ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
    }
}
