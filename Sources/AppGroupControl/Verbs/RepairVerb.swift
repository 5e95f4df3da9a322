import GroupModel
import GroupProtocol
import Varlink

extension Verb {
    static let repair = Verb(
        "repair", [Argument("GROUP")], summary: "mend a group whose property list is damaged",
        details: """
            The damaged text stays, as a copy beside the file whose name ends in .damaged
            and the time. The file gets the group's last good values, with every write
            that was taken meanwhile. Of a sound group nothing is changed. check shows
            what is wrong before anything is done about it.
            """
    ) { (session) throws(Failure) in
        let group = try session.group()
        let reply = try session.call(.repair(group))
        let copy = reply["copy"]?.stringValue
        if session.printsJSON { return try session.print(copy.map { ["copy": .string($0)] } ?? [:]) }
        session.console.note(
            copy.map { "\(group) is sound again; the damaged text is kept in \($0)" }
                ?? "\(group) is sound, there is nothing to repair")
    }
}
