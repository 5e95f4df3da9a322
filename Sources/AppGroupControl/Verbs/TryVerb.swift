import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

extension Verb {
    static let tryOut = Verb(
        "try", [Argument("GROUP"), Argument("KEY")], takesValue: true, summary: "set a value for a while",
        options: [.duration, .tag, .create],
        details: """
            The value goes back to what it was when the time is over, even if this tool
            is gone by then: the daemon sees to it, over its own restarts as well. On a
            terminal it asks whether to keep the value: y keeps it, anything else and
            Ctrl-C take it back at once. Elsewhere it prints the revision that keep takes.
            What others change meanwhile stays.
            """,
        body: TryVerb.run)

    static let keep = Verb(
        "keep", [Argument("GROUP"), Argument("REVISION")], summary: "keep what try has set",
        details: "REVISION is what try printed. Status 1 where the trial is over."
    ) { (session) throws(Failure) in
        let (group, revision) = (try session.group(), try session.revision(1))
        guard try TryVerb.end(group, revision, keeps: true, session) else {
            throw .refused("there is no trial of revision \(revision): it was kept, or is over")
        }
    }
}

enum TryVerb {
    private static let standardSeconds = 30.0

    @Sendable static func run(_ session: Session) throws(Failure) {
        let group = try session.group()
        let key = Key(session.arguments[1])
        let seconds = try session.invocation.duration() ?? standardSeconds
        let written = try WrittenValue(session.invocation.valueTokens, for: .tryOut)
        let reply = try session.callIfPresent(.read(group, keys: [key.pattern]))
        if reply == nil { try session.createUnlessMistyped(group) }
        let present = try reply.map { (reply) throws(Failure) in try session.values(reply) } ?? [:]
        let request = TryRequest(
            group: group, edits: try written.edits(of: key, holding: present[key]), seconds: seconds,
            tag: session.invocation.value(.tag))
        let answer = try session.call(.tryOut(request))
        let revision = try Session.position(answer).revision
        guard answer["changed"]?.arrayValue?.isEmpty == false else {
            return session.console.note("\(TextRendering.key(key)) has that value already; nothing changed")
        }
        guard Terminal.isThere(0), Terminal.isThere(2), !session.printsJSON else {
            if session.printsJSON { return try session.print(.object(answer)) }
            return try session.console.print(String(revision))
        }
        try ask(group, key, revision, seconds, session)
    }

    /// Until the time is over the user may say so.
    private static func ask(
        _ group: GroupIdentifier, _ key: Key, _ revision: Int64, _ seconds: Double, _ session: Session
    ) throws(Failure) {
        session.console.complain("keep \(TextRendering.key(key))? [y/N] ")
        let answer = try session.file { () throws(SystemError) in try Terminal.readLine(within: seconds) }
        let keeps = answer?.lowercased().hasPrefix("y") ?? false
        if answer == nil { session.console.complain("\n") }
        let isEnded = try end(group, revision, keeps: keeps, session)
        if keeps, !isEnded { throw .refused("the time was over; \(TextRendering.key(key)) is what it was") }
        session.console.note("\(TextRendering.key(key)) \(keeps ? "is kept" : "is what it was")")
    }

    /// - Returns: whether the trial was still under way.
    static func end(
        _ group: GroupIdentifier, _ revision: Int64, keeps: Bool, _ session: Session
    ) throws(Failure) -> Bool {
        let reply = try session.call(.endTrial(group, revision: revision, keeps: keeps))
        guard let isEnded = reply["ended"]?.booleanValue else { throw Session.unexpectedReply }
        return isEnded
    }
}

extension Invocation {
    /// The seconds of --for: a number, with a unit or in seconds.
    fileprivate func duration() throws(Failure) -> Double? {
        guard let text = value(.duration) else { return nil }
        guard let seconds = TimeSpan.microseconds(text).map({ Double($0) / 1e6 }), TryRequest.bounds.contains(seconds)
        else {
            throw .usage("--for takes a time from 0.1s to 30d, such as 30s, not \(quoted(text))", verb)
        }
        return seconds
    }
}
