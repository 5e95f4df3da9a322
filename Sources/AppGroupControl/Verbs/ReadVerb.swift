import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let read = Verb(
        "read", [Argument("GROUP"), Argument("KEY", .any)], summary: "print all values, or those of the keys",
        options: [.glob, .at],
        details: """
            One KEY gives the value alone, a text without quotation marks. Otherwise one
            line a value, sorted:

              name = "text"                   count = 42          ratio = 1.0       on = true
              seen = date(2026-11-30T09:00:00Z)   icon = data(aGVsbG8=)
              list = [1, 2]                   size = { height = 3, width = 4 }

            A lock behind a value: an administrator forces it, and nobody can write it
            (explain says who).

            --json prints the value of one KEY, otherwise one object. Dates, data and what
            JSON has no number for are {"date": "2026-11-30T09:00:00Z"}, {"data":
            "aGVsbG8="} and {"number": "18446744073709551615"} (also nan, +infinity,
            -infinity); a dictionary with a single entry of such a name is {"dictionary":
            {...}}.

            --plain prints KEY and value as above, each in one line; of one KEY the value
            alone. What is printed goes back by write with -value, JSON by -json.

            --at: by what is still kept of the history (log), or an error where it does
            not reach back so far.
            """,
        isPaged: true, body: ReadVerb.run)
}

enum ReadVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let names = session.arguments.dropFirst().map { $0 }
        let isGlob = session.invocation.has(.glob)
        let patterns = isGlob ? names : names.map { Key($0).pattern }
        let (values, forced) = try values(of: group, names.isEmpty ? nil : patterns, session)
        if names.count == 1, !isGlob {
            try printOne(Key(names[0]), values, session, group)
        } else {
            try printAll(values, forced, session)
            if isGlob, values.isEmpty { throw .refused("no key of \(group) matches") }
            if !isGlob { try MissingKeys.check(names.map { Key($0) }, in: values, of: group, session) }
        }
    }

    private static func values(
        of group: GroupIdentifier, _ patterns: [String]?, _ session: Session
    ) throws(Failure) -> (values: [Key: Value], forced: Set<Key>) {
        guard let text = session.invocation.value(.at) else {
            let reply = try session.call(.read(group, keys: patterns))
            let forced = (reply["managed"]?.arrayValue ?? []).compactMap(\.stringValue).map { Key($0) }
            return (try session.values(reply), Set(forced))
        }
        let values = try session.values(of: group, at: try Moment(text, of: .at, session.invocation.verb))
        guard let globs = patterns.map({ $0.map(Glob.init) }) else { return (values, []) }
        return (values.filter { key, _ in globs.contains { $0.matches(key) } }, [])
    }

    private static func printOne(
        _ key: Key, _ values: [Key: Value], _ session: Session, _ group: GroupIdentifier
    ) throws(Failure) {
        try MissingKeys.check([key], in: values, of: group, session)
        guard let value = values[key] else { return }
        try session.print(value: value)
    }

    private static func printAll(_ values: [Key: Value], _ forced: Set<Key>, _ session: Session) throws(Failure) {
        if session.printsJSON { return try session.print(.object(JSONRendering.object(values))) }
        for (key, value) in TextRendering.sorted(values) {
            if session.printsPlain {
                try session.console.print(fields: [TextRendering.key(key), TextRendering.inline(value)])
                continue
            }
            let lock = forced.contains(key) ? "  \(LayerRendering.lock)" : ""
            try session.console.print(TextRendering.entry(key, value) + lock)
        }
    }
}

/// The complaint about keys that are not there, with those that may have been meant.
enum MissingKeys {
    static func check(
        _ keys: [Key], in values: [Key: Value], of group: GroupIdentifier, consequence: String = "", _ session: Session
    ) throws(Failure) {
        let missing = keys.filter { values[$0] == nil }
        guard let first = missing.first else { return }
        guard missing.count == 1 else {
            let names = missing.map { quoted($0.string) }.joined(separator: ", ")
            throw .refused("\(group) has no keys \(names)\(consequence)")
        }
        // All keys, to find near ones: only now that something is amiss.
        let present = (try? session.read(group).keys.map(\.string)) ?? []
        let near = NearNames.of(first.string, among: present)
        throw .refused("\(group) has no key \(quoted(first.string))\(consequence)\(NearNames.question(near))")
    }
}
