import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let find = Verb(
        "find", [Argument("WORD")], summary: "look for a word in groups, keys and values",
        details: """
            Case does not matter. One line a finding: the group alone where its name has
            the word, else group, key and value. Texts, numbers and dates count, within
            arrays and dictionaries too. --json: {"group"} or {"group", "key", "value"}.
            Status 1 where nothing is found.
            """,
        isPaged: true, body: FindVerb.run)
}

enum FindVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let word = session.arguments[0].lowercased()
        var (found, unread) = (0, 0)
        for name in try session.groupNames() {
            let group = try session.group(named: name)
            if name.lowercased().contains(word) {
                found += 1
                if session.printsJSON { try session.print(["group": .string(name)]) }
                if !session.printsJSON { try session.console.print(name) }
            }
            switch try session.outcome(of: .read(group, keys: nil)) {
            case .success(let reply): found += try show(try session.values(reply), with: word, of: group, session)
            case .failure(.noSuchGroup): break
            case .failure(let error):
                unread += 1
                session.console.complain(session.failure(error).text)
            }
        }
        guard unread == 0 else { throw .refused("\(unread) of the groups could not be read") }
        guard found > 0 else { throw .refused("nothing has \(quoted(session.arguments[0])) in it") }
    }

    private static func show(
        _ values: [Key: Value], with word: String, of group: GroupIdentifier, _ session: Session
    ) throws(Failure) -> Int {
        let hits = values.filter { $0.key.string.lowercased().contains(word) || has($0.value, word) }
        for (key, value) in TextRendering.sorted(hits) {
            if session.printsJSON {
                try session.print([
                    "group": .string(group.string), "key": .string(key.string), "value": JSONRendering.json(value),
                ])
            } else if session.printsPlain {
                try session.console.print(
                    fields: [group.string, TextRendering.key(key), TextRendering.inline(value)])
            } else {
                try session.console.print("\(group) \(TextRendering.key(key)) = \(TextRendering.inline(value))")
            }
        }
        return hits.count
    }

    private static func has(_ value: Value, _ word: String) -> Bool {
        switch value {
        case .string(let text): text.lowercased().contains(word)
        case .array(let elements): elements.contains { has($0, word) }
        case .dictionary(let entries):
            entries.contains { $0.key.string.lowercased().contains(word) || has($0.value, word) }
        case .boolean, .data: false
        default: TextRendering.bare(value).lowercased().contains(word)
        }
    }
}
