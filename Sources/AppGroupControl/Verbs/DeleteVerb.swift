import GroupModel
import GroupProtocol
import PropertyList
import Varlink

extension Verb {
    static let delete = Verb(
        "delete", aliases: ["remove"], [Argument("GROUP"), Argument("KEY", .any)],
        summary: "remove the keys, or all of them",
        options: [.durable, .unchangedSince, .tag],
        details: """
            Several keys are removed in one change; if one of them is not there, none is.
            Without KEY every key is removed and the group stays; delete-group removes the
            group.
            """,
        body: DeleteVerb.run)

    static let deleteAll = Verb(
        "delete-all", [Argument("GROUP")], summary: "remove all keys; the group stays", options: [.tag],
        details: "What delete without KEY does: one change. delete-group removes the group."
    ) { (session) throws(Failure) in
        _ = try session.call(.reset(try session.group(), tag: session.invocation.value(.tag)))
    }

    static let deleteGroup = Verb(
        "delete-group", [Argument("GROUP")], summary: "remove the group and its directory, which goes to .trash"
    ) { (session) throws(Failure) in
        let group = try session.group()
        _ = try session.call(.deleteGroup(group))
        session.console.note("\(group) is in the directory .trash, beside where it was")
    }
}

enum DeleteVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let keys = session.arguments.dropFirst().map { Key($0) }
        guard !keys.isEmpty else { return try reset(group, session) }
        let present = try session.read(group, patterns: keys.map(\.pattern))
        try MissingKeys.check(keys, in: present, of: group, consequence: "; nothing changed", session)
        let request = WriteRequest(
            group: group, edits: keys.map(Edit.remove),
            unchangedSince: try session.invocation.number(.unchangedSince),
            isDurable: session.invocation.has(.durable), tag: session.invocation.value(.tag))
        _ = try session.call(.write(request))
    }

    private static func reset(_ group: GroupIdentifier, _ session: Session) throws(Failure) {
        for option in [Option.durable, Option.unchangedSince] where session.invocation.has(option) {
            throw .usage("\(option.name) goes with KEY", .delete)
        }
        _ = try session.call(.reset(group, tag: session.invocation.value(.tag)))
    }
}
