import Varlink

extension Verb {
    static let list = Verb(
        "list", aliases: ["domains"], summary: "print the groups, one a line",
        details: "--json prints one array."
    ) { (session) throws(Failure) in
        let names = try session.groupNames()
        if session.printsJSON { return try session.print(.array(names.map(JSON.string))) }
        if names.isEmpty { session.console.note("there is no group yet; write and create make one") }
        for name in names { try session.console.print(name) }
    }
}
