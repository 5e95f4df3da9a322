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
    private let loop: EventLoop
    private let screen: TerminalScreen
    private var model = TopModel()
    private var view: TopView
    private var watch: TopWatch?
    private var sources: [EventSource] = []
    private var redraw: TimerSource?
    private var tick: TimerSource?
    private var watchSource: IOSource?

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
        EventLoop.blockSignals([SIGTERM, SIGINT, SIGHUP, SIGWINCH])
        loop = try session.file { () throws(SystemError) in try EventLoop() }
        guard let screen = TerminalScreen() else {
            throw .refused(
                "the terminal \(quoted(session.environment["TERM"] ?? "")) cannot show a full screen",
                advice: "appgroupctl top | cat prints lines")
        }
        self.screen = screen
    }

    /// Until the user has seen enough.
    ///
    /// - Returns: the signal that ended it, if one did.
    func run() throws(Failure) -> Int32? {
        let code = try session.file { () throws(SystemError) in
            try addSources()
            look()
            return try loop.run()
        }
        sources = []
        (redraw, tick, watchSource) = (nil, nil, nil)
        return code == 0 ? nil : code
    }

    private func addSources() throws(SystemError) {
        sources.append(
            try IOSource(loop, RawDescriptor(rawValue: 0), .readable) { [unowned self] in takeInput() })
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            sources.append(
                try SignalSource(loop, signal) { [unowned self] in loop.exit(signal) })
        }
        sources.append(
            try SignalSource(loop, SIGWINCH) { [unowned self] in
                screen.fit()
                draw()
            })
        redraw = try TimerSource(loop) { [unowned self] in draw() }
        tick = try TimerSource(loop) { [unowned self] in look() }
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
            watchSource = nil
            watch = nil
        }
        tick?.arm(afterMicroseconds: Self.tickMicroseconds)
        draw()
    }

    /// A connection of its own: the one before may be broken.
    private func anew() -> Session {
        let session = Session(session.invocation, session.console, session.environment)
        session.answerSeconds = Self.patience
        return session
    }

    private func follow(_ groups: [GroupIdentifier]) throws(Failure) {
        watchSource = nil
        for gone in Set(watch?.groups ?? []).subtracting(groups) { model.forget(gone) }
        let watch = try TopWatch(groups, session, patience: Self.patience)
        self.watch = watch
        watchSource = try session.file { () throws(SystemError) in
            try IOSource(loop, watch.descriptor, .readable) { [unowned self] in takeNews() }
        }
        takeNews()
    }

    private func takeNews() {
        guard let watch else { return }
        do throws(ConnectionError) {
            try watch.takeAll(into: &model, now: ProcessFacts.monotonicMicroseconds())
        } catch {
            // The next look says what is wrong.
            watchSource = nil
            self.watch = nil
        }
        if redraw?.isArmed == false { redraw?.arm(afterMicroseconds: Self.redrawMicroseconds) }
    }

    // MARK: The screen

    private func draw() {
        let size = screen.size
        screen.show(
            TopScreen(
                model, &view, rows: size.rows, columns: size.columns, now: ProcessFacts.monotonicMicroseconds()))
    }

    private func takeInput() {
        guard let inputs = screen.inputs() else { return loop.exit(SIGHUP) }
        for input in inputs {
            guard let action = view.take(input, model) else { continue }
            if action == .quit { return loop.exit(0) }
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
