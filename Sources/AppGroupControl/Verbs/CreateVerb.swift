import Varlink

extension Verb {
    static let create = Verb(
        "create", [Argument("GROUP")], summary: "make a group and print its directory; an existing one is fine"
    ) { (session) throws(Failure) in
        let container = try session.createGroup(try session.group())
        if session.printsJSON { return try session.print(["container": .string(container)]) }
        try session.console.print(container)
    }
}
