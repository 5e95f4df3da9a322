import GroupClient
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import Varlink

extension Verb {
    static let top = Verb(
        "top", summary: "show all settings live, with who changes them, on a full screen", options: [.count],
        details: """
            Groups, keys, values, the last writer, changes a second, and the observers
            with how far each is behind. ? shows the keys: a filter, an order, editing a
            value in place, taking a change back.

            Where the output is no terminal: one line a value, then one line a change of
            any group, as read --plain and watch --plain print them with the group in
            front; --json prints {"group", "key", "value"}, then what watch --json does.
            --count and --timeout end it.
            """
    ) { (session) throws(Failure) in
        if Terminal.isThere(0), Terminal.isThere(1), !session.printsJSON, !session.console.isPlain {
            // The terminal is the shell's again before the process ends as any other that gets the signal.
            if let signal = try TopSession(session).run() { Signals.end(by: signal) }
        } else {
            try TopLines(session).run()
        }
    }
}

/// `top` into a pipe. Owned by the tool's one thread.
final class TopLines {
    private let session: Session
    private let end: Deadline
    private var remaining: Int64?

    init(_ session: Session) throws(Failure) {
        self.session = session
        end = try session.invocation.seconds().map(Deadline.init(afterSeconds:)) ?? .never
        remaining = try session.invocation.number(.count)
    }

    func run() throws(Failure) {
        let groups = try session.groupNames().map { (name) throws(Failure) in try session.group(named: name) }
        let watch = try TopWatch(groups, session, patience: Session.defaultSeconds)
        while remaining != 0, let event = try next(of: watch) {
            try show(event)
            try session.console.flush()
        }
    }

    /// Nil when the time is over.
    private func next(of watch: TopWatch) throws(Failure) -> WatchEvent? {
        do throws(ConnectionError) {
            return try watch.next(until: end)
        } catch .timedOut {
            return nil
        } catch {
            throw session.failure(error)
        }
    }

    private func show(_ event: WatchEvent) throws(Failure) {
        switch event {
        case .established, .deleted: break
        case .snapshot(let part): try show(part)
        case .commit(let commit, let coalesced):
            for change in commit.changes where remaining != 0 {
                if session.printsJSON {
                    try session.print(ChangeRendering.json(change, commit, coalesced: coalesced))
                } else {
                    try session.console.print(
                        fields: [commit.group.string] + ChangeRendering.fields(change, commit))
                }
                remaining = remaining.map { $0 - 1 }
            }
        }
    }

    private func show(_ part: WatchEvent.SnapshotPart) throws(Failure) {
        for (key, value) in TextRendering.sorted(part.values) {
            if session.printsJSON {
                try session.print([
                    "group": .string(part.group), "key": .string(key.string), "value": JSONRendering.json(value),
                ])
            } else {
                try session.console.print(
                    fields: [part.group, TextRendering.key(key), TextRendering.inline(value)])
            }
        }
    }
}
