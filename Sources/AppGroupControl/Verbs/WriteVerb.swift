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
            Without TYPE the value keeps the type that the key has, and a new key gets a
            text; a note says which. A group that does not exist is made, unless one of
            nearly the same name exists.
            """,
        body: WriteVerb.run)
}

enum WriteVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let key = Key(session.arguments[1])
        let written = try WrittenValue(session.invocation.valueTokens)
        let unchangedSince = try session.invocation.number(.unchangedSince)
        let edits = try edits(written, key, group, session)
        let request = WriteRequest(
            group: group, edits: edits,
            unchangedSince: unchangedSince,
            isDurable: session.invocation.has(.durable), tag: session.invocation.value(.tag))
        if try session.callIfPresent(.write(request)) == nil {
            try session.createUnlessMistyped(group)
            _ = try session.call(.write(request))
        }
        if case .untyped = written { noteType(edits, session) }
    }

    /// The type was guessed: it is said which one it was.
    private static func noteType(_ edits: [Edit], _ session: Session) {
        for edit in edits {
            guard let value = edit.value else { continue }
            let text = TextRendering.inline(value)
            session.console.note("\(TextRendering.key(edit.key)): stored as \(value.kind.rawValue) \(text)")
        }
    }

    /// A word without a type depends on what the key holds.
    private static func edits(
        _ written: WrittenValue, _ key: Key, _ group: GroupIdentifier, _ session: Session
    ) throws(Failure) -> [Edit] {
        guard case .untyped = written else { return try written.edits(of: key, holding: nil) }
        let reply = try session.callIfPresent(.read(group, keys: [key.pattern]))
        let present = try reply.map { (reply) throws(Failure) in try session.values(reply) } ?? [:]
        return try written.edits(of: key, holding: present[key])
    }
}

extension WrittenValue {
    /// `present` is what the key holds, for a word without a type.
    func edits(of key: Key, holding present: Value?) throws(Failure) -> [Edit] {
        switch self {
        case .set(let value): [.set(key, value)]
        case .append(let elements): elements.map { Edit(key: key, operation: .append, value: $0) }
        case .merge(let entries): [Edit(key: key, operation: .merge, value: .dictionary(entries))]
        case .untyped(let word): [.set(key, try Self.value(word, of: key, like: present))]
        }
    }
}
