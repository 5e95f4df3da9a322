import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// Verbs that change a value by what it is: in the daemon, so that no change of others is lost.
extension Verb {
    static let increment = Verb(
        "increment", [Argument("GROUP"), Argument("KEY"), Argument("BY", .optional)],
        summary: "add to a number, by 1 without BY, and print the sum", options: [.durable, .unchangedSince, .tag],
        details: """
            BY may be negative, and have a fraction. A key that is not there counts as 0.
            Whoever writes at the same time, no addition is lost.
            """
    ) { (session) throws(Failure) in
        let step = session.arguments.count > 2 ? session.arguments[2] : "1"
        let number = (try? ValueParsing.value(step, as: .integer)) ?? (try? ValueParsing.value(step, as: .real))
        guard let number else {
            throw .usage("BY is a number such as 1, -5 or 0.5, not \(quoted(step))", session.invocation.verb)
        }
        try ChangingVerbs.run(.increment, number, session)
    }

    static let toggle = Verb(
        "toggle", [Argument("GROUP"), Argument("KEY")], summary: "flip a boolean, and print what it is now",
        options: [.durable, .unchangedSince, .tag], details: "A key that is not there counts as false."
    ) { (session) throws(Failure) in
        try ChangingVerbs.run(.toggle, nil, session)
    }

    static let getAndSet = Verb(
        "get-and-set", [Argument("GROUP"), Argument("KEY")], takesValue: true,
        summary: "set a value, and print the one before", options: [.durable, .unchangedSince, .tag],
        details: """
            Exactly the value that this change replaced, whoever writes at the same time.
            Nothing is printed where there was none (--json: null). The value is given as
            with write.
            """
    ) { (session) throws(Failure) in
        let group = try session.group()
        let key = Key(session.arguments[1])
        let written = try WrittenValue(session.invocation.valueTokens, for: session.invocation.verb ?? .write)
        let old = try session.update(group, [key]) { (values) throws(Failure) in
            try written.edits(of: key, holding: values[key])
        }[key]
        if let old { return try session.print(value: old) }
        if session.printsJSON { try session.print(.null) }
    }
}

enum ChangingVerbs {
    /// One edit that the daemon evaluates; prints what it led to.
    static func run(_ operation: Edit.Operation, _ operand: Value?, _ session: Session) throws(Failure) {
        let group = try session.group()
        let key = Key(session.arguments[1])
        let request = session.writeRequest(
            group, [Edit(key: key, operation: operation, value: operand)],
            unchangedSince: try session.invocation.number(.unchangedSince))
        let reply = try session.call(.write(request))
        let revision = try Session.position(reply).revision
        // The value of this very change: by now others may have made more.
        let made = try session.page(of: group, keys: [key.pattern], before: revision + 1, limit: 1).first
        if reply["changed"]?.arrayValue?.isEmpty == false, let made, made.revision == revision,
            let new = made.changes.first?.new
        {
            return try session.print(value: new)
        }
        guard let value = try session.read(group, patterns: [key.pattern])[key] else { return }
        try session.print(value: value)
    }
}
