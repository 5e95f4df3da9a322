import GroupModel
import GroupProtocol

extension Verb {
    static let sync = Verb(
        "sync", [Argument("GROUP", .optional)],
        summary: "wait until all is on disk and in the files, and edits are seen",
        details: """
            Comes back when all acknowledged writes are on stable storage and in the
            property list, and every edit of the file made before is seen. Without GROUP:
            of every group.
            """
    ) { (session) throws(Failure) in
        let group: GroupIdentifier? = session.arguments.isEmpty ? nil : try session.group()
        _ = try session.call(.synchronize(group))
    }
}
