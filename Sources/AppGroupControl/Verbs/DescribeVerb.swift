package import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let describe = Verb(
        "describe", [Argument("GROUP"), Argument("KEY", .optional)],
        summary: "print what the schema of a group says: types, defaults, what is allowed",
        details: """
            A schema is optional. It is /etc/appgroupd/schemas/GROUP.plist, or GROUP.json, or
            in /usr/lib/appgroupd/schemas, where a program's package puts it:

              {
                "unknownKeys": "refuse",
                "keys": {
                  "theme": { "type": "string", "allowed": ["light", "dark"], "default": "light",
                             "summary": "How windows look" },
                  "font.*": { "type": "integer", "minimum": 6, "maximum": 72 }
                }
              }

            Every write is held against it: InvalidValue says which rule is broken. An edit of
            the file that breaks one leaves the last good values in force, and status says
            so. --json prints the daemon's own answer.
            """,
        body: DescribeVerb.run)
}

enum DescribeVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let key = session.arguments.count > 1 ? Key(session.arguments[1]) : nil
        let reply = try session.call(.describe(group, key))
        guard let list = reply["rules"]?.arrayValue else { throw Session.unexpectedReply }
        if session.printsJSON { return try session.print(.object(reply)) }
        let rules = list.compactMap(Schema.Rule.init(wire:))
        guard rules.count == list.count else { throw Session.unexpectedReply }
        guard let path = reply["path"]?.stringValue else { throw .refused("\(group) has no schema") }
        if let key, rules.isEmpty { throw .refused("the schema of \(group) says nothing of \(quoted(key.string))") }
        if key == nil {
            let unknown = reply["allowsUnknownKeys"]?.booleanValue == false ? "refused" : "allowed"
            try session.console.print("\(path); other keys are \(unknown)")
        }
        for line in rules.flatMap(SchemaRendering.lines) { try session.console.print(line) }
    }
}

/// One rule of a schema for people.
package enum SchemaRendering {
    package static func lines(_ rule: Schema.Rule) -> [String] {
        var parts: [String] = []
        if let type = rule.type { parts.append(type.rawValue) }
        if let allowed = rule.allowed {
            parts.append("one of " + allowed.map(TextRendering.inline).joined(separator: ", "))
        }
        if let minimum = rule.minimum { parts.append("at least \(TextRendering.inline(number(minimum)))") }
        if let maximum = rule.maximum { parts.append("at most \(TextRendering.inline(number(maximum)))") }
        if let pattern = rule.pattern { parts.append("matching \(quoted(pattern))") }
        if let standard = rule.standard { parts.append("default \(TextRendering.inline(standard))") }
        let head = TextRendering.key(Key(rule.key)) + (parts.isEmpty ? "" : ": " + parts.joined(separator: ", "))
        return [head]
            + [rule.summary, rule.description].compactMap { $0.map { "    " + $0.replacing("\n", with: "\n    ") } }
    }

    private static func number(_ number: Double) -> Value {
        Int64(exactly: number).map(Value.integer) ?? .real(number)
    }
}
