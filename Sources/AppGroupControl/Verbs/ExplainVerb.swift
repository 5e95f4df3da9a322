import GroupModel
package import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let explain = Verb(
        "explain", [Argument("GROUP"), Argument("KEY")],
        summary: "print where a value comes from: every layer, who set it, and which wins",
        details: """
            The layers, from the highest to the lowest: managed is forced by an
            administrator (/etc/appgroupd/managed/GROUP.plist), group is what programs and
            people set, defaults are an administrator's
            (/etc/appgroupd/defaults/GROUP.plist). The first value is the one that programs
            see. What a program gets as an argument, or registers for itself, no other one
            knows. --json prints the daemon's own answer.
            """,
        body: ExplainVerb.run)
}

enum ExplainVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let key = Key(session.arguments[1])
        let reply = try session.call(.explain(group, key))
        guard let list = reply["layers"]?.arrayValue else { throw Session.unexpectedReply }
        if session.printsJSON { return try session.print(.object(reply)) }
        let layers = list.compactMap(LayerValue.init(wire:))
        guard layers.count == list.count else { throw Session.unexpectedReply }
        if layers.isEmpty { try MissingKeys.check([key], in: [:], of: group, session) }
        for line in layers.flatMap(LayerRendering.lines) { try session.console.print(line) }
    }
}

/// One layer for people.
package enum LayerRendering {
    /// What is put behind a value that nobody can write.
    package static let lock = "🔒"

    package static func lines(_ layer: LayerValue) -> [String] {
        let mark = layer.wins ? "→" : " "
        let lock = layer.layer == .managed ? "  \(lock)" : ""
        return [
            "\(mark) \(layer.layer.rawValue.padded(to: 8))  \(TextRendering.inline(layer.value))\(lock)",
            "    \(layer.path)\(layer.who)", "    \(layer.reason)",
        ]
    }
}

extension LayerValue {
    /// Who set it, and when.
    fileprivate var who: String {
        var parts: [String] = []
        if let revision { parts.append("r\(revision)") }
        if let time { parts.append(time.rfc3339Microseconds) }
        if let origin { parts.append(ChangeRendering.origin(origin)) }
        if let user { parts.append("of \(TextRendering.key(Key(user)))") }
        return parts.isEmpty ? "" : ", " + parts.joined(separator: ", ")
    }
}
