import GroupProtocol
import Varlink

extension Verb {
    static let logLevel = Verb(
        "log-level", [Argument("LEVEL", .optional)], summary: "print or change what the daemon logs, while it runs",
        details: """
            LEVEL is error, warning, notice, info or debug: that and what is more urgent goes
            to the log. debug says of every change who made it. It holds until the daemon
            reads its configuration again (LogLevel= of appgroupd.conf). To read the log:

              journalctl --user -u appgroupd            with -x for explanations
              journalctl --user APPGROUP_GROUP=GROUP    what is about one group
            """
    ) { (session) throws(Failure) in
        let name = session.arguments.first
        let level = name.flatMap(LogVerbosity.init)
        guard name == nil || level != nil else {
            let names = LogVerbosity.allCases.map(\.rawValue).joined(separator: ", ")
            throw .usage("LEVEL is one of \(names), not \(quoted(name ?? ""))", session.invocation.verb)
        }
        guard let present = try session.call(.logLevel(level))["level"]?.stringValue else {
            throw Session.unexpectedReply
        }
        if session.printsJSON { return try session.print(.string(present)) }
        try session.console.print(present)
    }
}
