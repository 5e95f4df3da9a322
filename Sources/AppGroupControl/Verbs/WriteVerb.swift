import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let write = Verb(
        "write", [Argument("GROUP"), Argument("KEY")], takesValue: true, summary: "set a value",
        options: [.durable, .unchangedSince, .tag, .create],
        details: """
            As defaults has it, but strict: what is no value of the type is refused.
            Without TYPE the value keeps the type that the key has, if it is such a value,
            and is a text otherwise; a note says which. A group that does not exist is
            made, unless one of nearly the same name exists.

              appgroupctl write group.com.example.app theme dark
              appgroupctl write group.com.example.app size -int 12
              appgroupctl write group.com.example.app window -dict width -int 640 title -string -untitled-
            """,
        body: WriteVerb.run)
}

enum WriteVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let key = Key(session.arguments[1])
        let written = try WrittenValue(session.invocation.valueTokens)
        let unchangedSince = try session.invocation.number(.unchangedSince)
        let (edits, present) = try edits(written, key, group, session)
        let request = WriteRequest(
            group: group, edits: edits,
            unchangedSince: unchangedSince,
            isDurable: session.invocation.has(.durable), tag: session.invocation.value(.tag))
        if try session.callIfPresent(.write(request)) == nil {
            try session.createUnlessMistyped(group)
            _ = try session.call(.write(request))
        }
        if case .untyped = written { noteType(edits, instead: present, session) }
    }

    /// The type was guessed: it is said which one it was.
    private static func noteType(_ edits: [Edit], instead old: Value?, _ session: Session) {
        for edit in edits {
            guard let value = edit.value else { continue }
            let text = TextRendering.inline(value)
            let change = old.flatMap { $0.kind == value.kind ? nil : " instead of \($0.kind.rawValue)" } ?? ""
            session.console.note("\(TextRendering.key(edit.key)): stored as \(value.kind.rawValue)\(change) \(text)")
        }
    }

    /// - Returns: the edits, and for a word without a type what the key holds.
    private static func edits(
        _ written: WrittenValue, _ key: Key, _ group: GroupIdentifier, _ session: Session
    ) throws(Failure) -> ([Edit], present: Value?) {
        guard case .untyped = written else { return (written.edits(of: key, holding: nil), nil) }
        let reply = try session.callIfPresent(.read(group, keys: [key.pattern]))
        let present = try reply.map { (reply) throws(Failure) in try session.values(reply) } ?? [:]
        return (written.edits(of: key, holding: present[key]), present[key])
    }
}

extension WrittenValue {
    /// `present` is what the key holds, for a word without a type.
    func edits(of key: Key, holding present: Value?) -> [Edit] {
        switch self {
        case .set(let value): [.set(key, value)]
        case .append(let elements): elements.map { Edit(key: key, operation: .append, value: $0) }
        case .merge(let entries): [Edit(key: key, operation: .merge, value: .dictionary(entries))]
        case .untyped(let word): [.set(key, Self.guess(word, like: present))]
        }
    }
}
