import GroupModel
import PropertyList

extension Verb {
    static let wait = Verb(
        "wait", [Argument("GROUP"), Argument("KEY")], takesValue: true, valueIsOptional: true,
        summary: "wait until a key is there, or has a value", options: [.absent],
        details: """
            Comes back when the condition holds, at once if it does already, and prints
            the value. VALUE without TYPE is compared in the type that the key has.
            --timeout gives up, with status 1. A daemon that goes away is waited for.
            """,
        body: WaitVerb.run)
}

enum WaitVerb {
    private enum Condition {
        case present, absent
        case equal(WrittenValue)

        func holds(for value: Value?) -> Bool {
            switch self {
            case .present: value != nil
            case .absent: value == nil
            case .equal(.untyped(let word)): value.map { $0 == WrittenValue.guess(word, like: $0) } ?? false
            case .equal(.set(let wanted)): value == wanted
            case .equal: false
            }
        }
    }

    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let key = Key(session.arguments[1])
        let condition = try condition(session)
        let stream = try WatchStream(session, group, globs: [key.pattern])
        var value: Value?
        while true {
            guard let event = try stream.next() else {
                guard stream.isOver else { continue }
                let state = value.map { "is " + TextRendering.inline($0) } ?? "is not there"
                throw .refused("the time is over, and \(quoted(key.string)) \(state)")
            }
            switch event {
            case .snapshot(let snapshot): value = snapshot.values[key]
            case .commit(let commit, _): value = commit.changes.last { $0.key == key }.map(\.new) ?? value
            case .deleted: value = nil
            }
            guard condition.holds(for: value) else { continue }
            if let value { try session.print(value: value) }
            return
        }
    }

    private static func condition(_ session: Session) throws(Failure) -> Condition {
        let tokens = session.invocation.valueTokens
        if session.invocation.has(.absent) {
            guard tokens.isEmpty else { throw .usage("--absent takes no VALUE", .wait) }
            return .absent
        }
        guard !tokens.isEmpty else { return .present }
        let written = try WrittenValue(tokens, for: .wait)
        switch written {
        case .set, .untyped: return .equal(written)
        case .append, .merge: throw .usage("wait takes a whole VALUE", .wait)
        }
    }
}
