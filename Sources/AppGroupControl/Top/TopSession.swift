import Glibc
import GroupClient
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList

/// `top` on a terminal, from its beginning to its end. Owned by the tool's one thread.
///
/// News come by one watch of all groups; once a second the daemon's status says which groups there are. A daemon that goes
/// away is asked for again with every status.
final class TopSession {
    private let session: Session
    private var loop: InteractiveLoop?
    private let screen: TerminalScreen
    private var model = TopModel()
    private var view: TopView
    private var watch: TopWatch?
    private var watchToken: UInt64?

    private static let redraw = InteractiveLoop.Alarm(0)
    private static let tick = InteractiveLoop.Alarm(1)

    /// So long an answer may take, in seconds: the screen stands still meanwhile.
    private static let patience = 2.0
    private static let tickMicroseconds: Int64 = 1_000_000
    /// Changes are shown together, at most so often.
    private static let redrawMicroseconds: Int64 = 50_000

    /// The first connection must stand: else there is nothing to look at, and the reason is an error.
    init(_ session: Session) throws(Failure) {
        self.session = session
        session.answerSeconds = Self.patience
        view = TopView()
        model.status = try session.status(observers: true).status
        guard let screen = TerminalScreen() else {
            throw .refused(
                "the terminal \(quoted(session.environment["TERM"] ?? "")) cannot show a full screen",
                advice: "appgroupctl top | cat prints lines")
        }
        self.screen = screen
        loop = try session.file { () throws(SystemError) in
            try InteractiveLoop([SIGTERM, SIGINT, SIGHUP, SIGWINCH]) { [unowned self] in take(signal: $0) }
        }
    }

    /// Until the user has seen enough.
    ///
    /// - Returns: the signal that ended it, if one did.
    func run() throws(Failure) -> Int32? {
        guard let loop else { return nil }
        let code = try session.file { () throws(SystemError) in
            _ = try loop.follow(RawDescriptor(rawValue: 0)) { [unowned self] in takeInput() }
            look()
            return try loop.run()
        }
        return code == 0 ? nil : code
    }

    private func take(signal number: Int32) {
        guard number == SIGWINCH else {
            loop?.exit(number)
            return
        }
        screen.fit()
        draw()
    }

    private func dropWatch() {
        loop?.drop(watchToken)
        (watchToken, watch) = (nil, nil)
    }

    // MARK: News

    /// Asks how things are, and follows what there is.
    private func look() {
        do throws(Failure) {
            let status = try anew().status(observers: true).status
            (model.status, model.trouble) = (status, nil)
            let groups = status.groups.map(\.group)
            if watch?.groups != groups { try follow(groups) }
        } catch {
            model.trouble = error.message
            dropWatch()
        }
        loop?.set(Self.tick, afterMicroseconds: Self.tickMicroseconds) { [unowned self] in look() }
        draw()
    }

    /// A connection of its own: the one before may be broken.
    private func anew() -> Session {
        let session = Session(session.invocation, session.console, session.environment)
        session.answerSeconds = Self.patience
        return session
    }

    private func follow(_ groups: [GroupIdentifier]) throws(Failure) {
        for gone in Set(watch?.groups ?? []).subtracting(groups) { model.forget(gone) }
        dropWatch()
        let watch = try TopWatch(groups, session, patience: Self.patience)
        self.watch = watch
        watchToken = try session.file { () throws(SystemError) in
            try loop?.follow(watch.descriptor) { [unowned self] in takeNews() }
        }
        takeNews()
    }

    private func takeNews() {
        guard let watch else { return }
        do throws(ConnectionError) {
            try watch.takeAll(into: &model, now: ProcessFacts.monotonicMicroseconds())
        } catch {
            // The next look says what is wrong.
            dropWatch()
        }
        guard let loop, !loop.isSet(Self.redraw) else { return }
        loop.set(Self.redraw, afterMicroseconds: Self.redrawMicroseconds) { [unowned self] in draw() }
    }

    // MARK: The screen

    private func draw() {
        let size = screen.size
        screen.show(
            TopScreen(
                model, &view, rows: size.rows, columns: size.columns, now: ProcessFacts.monotonicMicroseconds()))
    }

    private func takeInput() {
        guard let inputs = screen.inputs() else {
            loop?.exit(SIGHUP)
            return
        }
        for input in inputs {
            guard let action = view.take(input, model) else { continue }
            if action == .quit {
                loop?.exit(0)
                return
            }
            do throws(Failure) {
                try perform(action)
            } catch {
                view.message = error.message
            }
        }
        draw()
    }

    private func perform(_ action: TopView.Action) throws(Failure) {
        switch action {
        case .quit: break
        case .write(let name, let value):
            _ = try anew().call(.write(WriteRequest(group: name.group, edits: [.set(name.key, value)])))
        case .undo(let name): try undo(name)
        }
    }

    /// Gives the key the value that it had before its last change, unless somebody changes it at that moment.
    private func undo(_ name: TopModel.Name) throws(Failure) {
        let session = anew()
        var last: Commit?
        try session.eachCommit(of: name.group, keys: [name.key.pattern], limit: 1) { commit in
            last = commit
            return false
        }
        guard let last, let change = last.changes.first(where: { $0.key == name.key }) else {
            throw .refused("the history does not say what \(TextRendering.key(name.key)) was before")
        }
        let edit = change.old.map { Edit.set(name.key, $0) } ?? .remove(name.key)
        _ = try session.call(
            .write(WriteRequest(group: name.group, edits: [edit], unchangedSince: last.revision)))
        view.message = "took back \(TextRendering.key(name.key)): \(change.old.map(TextRendering.inline) ?? "absent")"
    }
}

/// The watch of all groups.
final class TopWatch {
    let groups: [GroupIdentifier]
    private let connection: DaemonConnection
    private var parts: [GroupIdentifier: [Key: Value]] = [:]

    /// So many events are taken at once: then the screen and the keyboard have their turn.
    private static let batch = 1000

    init(_ groups: [GroupIdentifier], _ session: Session, patience: Double) throws(Failure) {
        self.groups = groups
        let address = try session.address()
        do throws(ConnectionError) {
            let deadline = Deadline(afterSeconds: patience)
            connection = try DaemonConnection(to: address, deadline: deadline)
            try connection.watch(groups.map { WatchedGroup(group: $0) }, deadline: deadline)
        } catch {
            throw session.failure(error)
        }
    }

    var descriptor: RawDescriptor { RawDescriptor(rawValue: connection.descriptor) }

    /// Takes what is there.
    func takeAll(into model: inout TopModel, now: Int64) throws(ConnectionError) {
        for _ in 0..<Self.batch {
            do throws(ConnectionError) {
                take(try connection.next(deadline: Deadline(afterSeconds: 0)), into: &model, now)
            } catch .timedOut {
                return
            }
        }
    }

    /// One event, waiting for it.
    func next(until deadline: Deadline) throws(ConnectionError) -> WatchEvent {
        try connection.next(deadline: deadline)
    }

    private func take(_ event: WatchEvent, into model: inout TopModel, _ now: Int64) {
        switch event {
        case .established: break
        case .commit(let commit, _): model.take(commit, now: now)
        case .deleted(let name): if let group = try? GroupIdentifier(name) { model.forget(group) }
        case .snapshot(let part):
            guard let group = try? GroupIdentifier(part.group) else { return }
            parts[group, default: [:]].merge(part.values) { $1 }
            guard !part.isPartial else { return }
            model.take(parts.removeValue(forKey: group) ?? [:], of: group)
        }
    }
}
