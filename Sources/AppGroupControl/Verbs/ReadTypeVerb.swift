import GroupModel
import PropertyList
import Varlink

extension Verb {
    static let readType = Verb(
        "read-type", [Argument("GROUP"), Argument("KEY")], summary: "print the type of a value",
        details: "string, integer, real, boolean, date, data, array or dictionary; --json prints it as a text."
    ) { (session) throws(Failure) in
        let group = try session.group()
        let key = Key(session.arguments[1])
        let values = try session.read(group, patterns: [key.pattern])
        try MissingKeys.check([key], in: values, of: group, session)
        guard let kind = values[key]?.kind else { return }
        if session.printsJSON { return try session.print(.string(kind.rawValue)) }
        try session.console.print("Type is \(kind.rawValue)")
    }
}
