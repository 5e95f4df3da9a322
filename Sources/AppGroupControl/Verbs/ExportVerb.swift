import GroupModel
import PropertyList

extension Verb {
    static let export = Verb(
        "export", [Argument("GROUP"), Argument("FILE")],
        summary: "save a group's values as a property list or JSON", options: [.format],
        details: """
            All values of one revision, keys sorted. FILE is replaced in one step; - is
            standard output. An XML property list knows whole seconds only; binary and
            JSON (in the form of read --json) keep all there is. import reads each.
            """
    ) { (session) throws(Failure) in
        let name = session.invocation.value(.format) ?? SettingsFile.Format.xml.rawValue
        guard let format = SettingsFile.Format(rawValue: name.lowercased()) else {
            throw .usage(
                "\(Option.format.name) takes xml, binary or json, not \(quoted(name))", session.invocation.verb)
        }
        let file = SettingsFile(format: format, entries: try session.snapshot(of: session.group()).values)
        try session.write(try file.encoded, to: session.arguments[1])
        guard file.lossCount > 0 else { return }
        session.console.note("an XML property list holds whole seconds: \(file.lossCount) of the values lost fractions")
    }
}
