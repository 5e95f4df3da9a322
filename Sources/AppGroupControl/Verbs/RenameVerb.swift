import GroupModel
import PropertyList

extension Verb {
    static let rename = Verb(
        "rename", [Argument("GROUP"), Argument("OLD"), Argument("NEW")], summary: "give a value another key",
        options: [.durable, .unchangedSince, .tag],
        details: "In one change, whoever writes meanwhile. A key NEW that is there already is not overwritten."
    ) { (session) throws(Failure) in
        let group = try session.group()
        let (old, new) = (Key(session.arguments[1]), Key(session.arguments[2]))
        guard old != new else { throw .usage("OLD and NEW are the same key", session.invocation.verb) }
        try session.update(group, [old, new]) { (values) throws(Failure) in
            try MissingKeys.check([old], in: values, of: group, consequence: "; nothing changed", session)
            guard let value = values[old], values[new] == nil else {
                throw .refused(
                    "\(group) has a key \(quoted(new.string)) already; nothing changed",
                    advice: "appgroupctl delete removes it")
            }
            return [.set(new, value), .remove(old)]
        }
    }
}
