import GroupClient
import GroupModel
import GroupProtocol
import Varlink

/// A `watch` from its beginning to its end. Owned by the tool's one thread.
final class Watcher {
    private let session: Session
    private let group: GroupIdentifier
    private let stream: WatchStream
    /// How many changes are still to be printed; nil: no end.
    private var remaining: Int64?
    private let command: WatchCommand?

    init(_ session: Session) throws(Failure) {
        self.session = session
        let group = try session.group()
        self.group = group
        let globs = Array(session.arguments.dropFirst())
        remaining = try session.invocation.number(.count)
        command = try session.invocation.value(.exec).map { (text) throws(Failure) in
            try WatchCommand(text, of: group, session)
        }
        for option in [Option.state, .debounce] where command == nil && session.invocation.has(option) {
            throw .usage("\(option.name) goes with --exec", .watch)
        }
        let since = try session.invocation.value(.since).map { (text) throws(Failure) in
            try session.position(of: group, at: try Moment(text, of: .since, .watch))
        }
        stream = try WatchStream(session, group, globs: globs.isEmpty ? nil : globs, since: command?.position ?? since)
        if let since { command?.begin(at: since) }
    }

    func run() throws(Failure) {
        while remaining != 0 {
            if let event = try stream.next(until: command?.due ?? .never) {
                try handle(event)
                try session.console.flush()
            }
            if let command, command.due?.isOver == true || stream.isOver {
                count(try command.runPending(remaining ?? .max))
            }
            if stream.isOver {
                try timeIsOver()
                break
            }
        }
        if let command, command.failures > 0 {
            throw .refused("\(command.failures) of the commands failed")
        }
    }

    private func handle(_ event: WatchStream.Event) throws(Failure) {
        guard let command else { return try show(event) }
        count(try command.handle(event, limit: remaining ?? .max))
    }

    private func count(_ handled: Int64) {
        remaining = remaining.map { $0 - handled }
    }

    private func timeIsOver() throws(Failure) {
        guard let remaining, remaining > 0 else { return }
        throw .refused("the time is over, and \(remaining) of the changes asked for did not come")
    }
}

// MARK: - Printing

extension Watcher {
    private func show(_ event: WatchStream.Event) throws(Failure) {
        switch event {
        case .commit(let commit, let coalesced): try show(commit, coalesced)
        case .snapshot(let snapshot): try show(snapshot)
        case .deleted:
            if session.printsJSON {
                try session.print(["group": .string(group.string), "deleted": true])
            } else {
                try session.console.print("deleted: \(group)")
            }
        }
    }

    private func show(_ commit: Commit, _ coalesced: Int64?) throws(Failure) {
        for change in commit.changes where remaining != 0 {
            if session.printsJSON {
                try session.print(ChangeRendering.json(change, commit, coalesced: coalesced))
            } else {
                try session.console.print(change, of: commit, coalesced: coalesced)
            }
            remaining = remaining.map { $0 - 1 }
        }
    }

    /// After a gap a snapshot is always printed: it says what the missed changes led to.
    private func show(_ snapshot: WatchStream.Snapshot) throws(Failure) {
        guard snapshot.reason != "initial" || session.invocation.has(.initial) else { return }
        let (values, position) = (snapshot.values, snapshot.position)
        if session.printsJSON {
            return try session.print(
                ChangeRendering.json(snapshot: values, of: group, at: position, reason: snapshot.reason))
        }
        if session.printsPlain {
            for (key, value) in TextRendering.sorted(values) {
                try session.console.print(fields: ChangeRendering.fields(key, value, at: position, snapshot.reason))
            }
            return
        }
        for line in ChangeRendering.lines(snapshot: values, at: position, reason: snapshot.reason) {
            try session.console.print(line)
        }
    }
}
