import GroupModel
import GroupProtocol

extension Verb {
    static let sync = Verb(
        "sync", [Argument("GROUP", .optional)],
        summary: "wait until all is on stable storage and in the files, and edits of the files are seen",
        details: "Without GROUP: of every group."
    ) { (session) throws(Failure) in
        let group: GroupIdentifier? = session.arguments.isEmpty ? nil : try session.group()
        _ = try session.call(.synchronize(group))
    }
}
