import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import ServiceIO
import Varlink

/// One who waits for the making or the removal of a group.
typealias TransitionWaiter = (Result<Void, GroupError>) -> Void

/// Groups on their way in and out. Both wait for the disk, a dozen times in the worst case: that is done on the worker, while
/// everybody else is served. A group is in `transitions` meanwhile, and no other is begun with it: who wants one waits.
extension Server {
    /// Has directories and journal made where they are missing, and opens the group. `done` is told when it is served, or why
    /// it is not. Without `isAsked` its directory has appeared, and it is a group whatever cannot be made there.
    func makeGroup(_ group: GroupIdentifier, isAsked: Bool, _ done: @escaping TransitionWaiter) {
        guard transitions[group] == nil else {
            return afterTransition(of: group) { [unowned self] in makeGroup(group, isAsked: isAsked, done) }
        }
        if hosts[group] != nil, container.isWhole(group) { return done(.success(())) }
        transitions[group] = [done]
        let beginning = GroupBeginning(
            group: group, container: container, journalPath: paths.journal(of: group.string),
            places: placesAreDurable ? [] : [paths.root, paths.state], isAsked: isAsked)
        runTransition {
            beginning.make()
        } then: { server, outcome in
            server.endTransition(of: group, server.made(group, outcome))
        }
    }

    private func made(
        _ group: GroupIdentifier, _ outcome: Result<Bool, Container.Failure>
    ) -> Result<Void, GroupError> {
        do throws(Container.Failure) {
            if try outcome.get() { placesAreDurable = true }
        } catch .notOurs(let path, let owner) {
            return .failure(.notPermitted(reason: "\(Container.Failure.notOurs(path: path, owner: owner))"))
        } catch {
            let errno = if case .system(let error) = error { error.errno.rawValue } else { Int32(0) }
            return .failure(.storageFailed(reason: "the group's directory cannot be made: \(error)", errno: errno))
        }
        do throws(GroupError) {
            return .success(try openGroup(group))
        } catch {
            return .failure(error)
        }
    }

    /// A directory with a group's name has appeared.
    func adoptGroup(_ group: GroupIdentifier) {
        makeGroup(group, isAsked: false) { _ in }
    }

    /// Puts away the journal of a group that is served no more, when its directory is on stable storage where it is now:
    /// else a power cut could bring that back without the journal, and it would be a group again.
    func removeJournal(of host: GroupHost, into directory: String, _ done: @escaping () -> Void) {
        let removal = GroupRemoval(
            group: host.identifier, container: container, journalPath: host.journal.path, directory: directory,
            time: fileTimeText)
        let subject = host.subject
        transitions[removal.group] = [{ _ in done() }]
        runTransition {
            removal.finish()
        } then: { server, outcome in
            switch outcome {
            case .success(let path):
                Log.info("group \(removal.group): deleted; its journal is kept as \(path)", about: subject)
            case .failure(let error):
                Log.warning(
                    "group \(removal.group): its journal could not be moved to \(directory): \(error)", about: subject)
            }
            server.endTransition(of: removal.group, .success(()))
        }
    }

    /// Runs `body` when this group is not on its way any more.
    func afterTransition(of group: GroupIdentifier, _ body: @escaping () -> Void) {
        guard transitions[group] != nil else { return body() }
        // Another who waited may have begun the next one.
        transitions[group]?.append { [unowned self] _ in afterTransition(of: group, body) }
    }

    /// Runs `body` when the groups that are on their way now have come in or gone.
    func afterTransitions(_ body: @escaping () -> Void) {
        let count = Countdown(transitions.count + 1) { _ in body() }
        for group in transitions.keys { transitions[group]?.append { _ in count.one(nil) } }
        count.one(nil)
    }

    private func endTransition(of group: GroupIdentifier, _ result: Result<Void, GroupError>) {
        for waiter in transitions.removeValue(forKey: group) ?? [] { waiter(result) }
    }

    private func runTransition<Outcome: Sendable>(
        _ job: @escaping @Sendable () -> Outcome, then: @escaping @Sendable (Server, Outcome) -> Void
    ) {
        if runsJobsInline { return then(self, job()) }
        fileWorker.submit { [post] in
            let outcome = job()
            post { server in server.turn { then(server, outcome) } }
        }
    }

    /// For a call that is answered later: those behind it on its connection wait until it is, since they may be about what it
    /// makes. One without a reply holds them up too.
    func answerLater(
        _ method: SettingsMethod, _ target: Connection.ReplyTarget, _ connection: Connection
    ) -> (Result<[UInt8], GroupError>) -> Void {
        let serial = target.serial ?? connection.openSlot()
        connection.phase = .waiting(serial: serial)
        let place = Connection.ReplyTarget(connection: connection.id, serial: serial)
        return { [unowned self] result in
            switch result {
            case .success(let reply): answer(place, with: target.serial == nil ? [] : reply)
            case .failure(let error):
                answer(place, with: target.serial == nil ? [] : error.replyBytes)
                if target.serial == nil { tellOfRefusal(method, connection, error.textForLog) }
            }
        }
    }
}
