import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import GroupWatch
import LinuxIO
import ServiceIO
import Varlink

extension Server {
    /// Makes or finds a group. Its journal and its plist are read before the reply.
    func createGroup(
        _ group: GroupIdentifier, _ target: Connection.ReplyTarget, _ connection: Connection
    ) throws(GroupError) {
        let others = transitions.keys.count { hosts[$0] == nil && !unopened.contains($0) }
        let known = hosts.count + unopened.count + others
        let isKnown = hosts[group] != nil || unopened.contains(group) || transitions[group] != nil
        guard isKnown || known < configuration.groups else {
            throw .tooLarge(
                subject: "groups (MaxGroups=)", limit: Int64(configuration.groups), size: Int64(known + 1))
        }
        // A root that is out of reach is not made anew: all its groups would look deleted.
        if let problem = rootProblem { throw .storageFailed(reason: problem, errno: Errno.noSuchFile.rawValue) }
        let reply = Reply.bytes { $0.member("container", string: container.path(of: group)) }
        if let host = try openedHost(group), container.isWhole(group) {
            host.plistMayHaveChanged()
            return answer(target, with: reply)
        }
        let answer = answerLater(.createGroup, target, connection)
        makeGroup(group, isAsked: true) { answer($0.map { reply }) }
    }

    /// Opens the group's journal, unless that is done, and begins to look at its plist.
    func openGroup(_ group: GroupIdentifier) throws(GroupError) {
        if let host = hosts[group] { return host.plistMayHaveChanged() }
        unopened.remove(group)
        if (try? Files.status(paths.journal(of: group.string))) == nil { makePlacesDurable() }
        do throws(OpenedGroup.Failure) {
            let opened = try OpenedGroup(group, path: paths.journal(of: group.string), timeText: fileTimeText)
            if let notice = opened.notice {
                let subject = Log.Subject(group: group.string, path: paths.journal(of: group.string))
                Log.warning(notice, opened.isDamaged ? .damagedJournal : nil, about: subject)
            }
            // Somebody made the directory by hand: the rest of the layout is ours to make. Of a group that is known, what
            // is missing is out of reach, and not made anew.
            if opened.isNew { _ = try? container.create(group) }
            let host: GroupHost
            do throws(SystemError) {
                if opened.isNew { try makeDurable(group) }
                host = try GroupHost(server: self, opened: opened)
            } catch {
                throw .system(error)
            }
            failedGroups[group] = nil
            hosts[group] = host
            applyLayers(to: host)
            begin(host)
        } catch {
            let problem = Problem(
                reason: "the journal of \(group) cannot be used: \(error)", path: paths.journal(of: group.string),
                advice: "make it readable and writable for this user, then restart appgroupd")
            failedGroups[group] = problem
            Log.error(problem.text, .storageFailed, about: Log.Subject(group: group.string, path: problem.path))
            throw .storageFailed(reason: problem.text, errno: error.errno?.rawValue ?? 0)
        }
        statusChanged()
    }

    private func makePlacesDurable() {
        guard !placesAreDurable else { return }
        GroupBeginning.makeDurable([paths.root, paths.state])
        placesAreDurable = true
    }

    /// A group that is new is taken for one only when a power cut cannot take the directories that its files are in.
    private func makeDurable(_ group: GroupIdentifier) throws(SystemError) {
        do throws(SystemError) {
            try container.makeDurable(group)
        } catch  where error.errno == .noSuchFile {
            // A journal's group without a directory: deleted meanwhile, or out of reach.
        }
    }

    /// The plist of a new group is looked at before anybody is answered, so that it is never seen empty by mistake.
    private func begin(_ host: GroupHost) {
        let wasInline = runsJobsInline
        runsJobsInline = true
        host.advancePlist()
        if host.plist.isSettling {
            // Nobody is in the middle of anything yet: what is there counts.
            host.settleTimeIsOver()
        }
        runsJobsInline = wasInline
        // Those who watched the group before it was deleted begin again.
        for member in audiences[host.identifier].map({ Array($0.members) }) ?? [] {
            update(member.connection) { $0.offerSnapshot(of: host.identifier, reason: .otherEpoch) }
        }
        documentsMayHaveMoved(host.identifier)
    }

    func deleteGroup(
        _ group: GroupIdentifier, _ target: Connection.ReplyTarget, _ connection: Connection
    ) throws(GroupError) {
        _ = try host(of: group)
        let answer = answerLater(.deleteGroup, target, connection)
        afterTransition(of: group) { [unowned self] in
            do throws(GroupError) {
                try remove(host(of: group)) { answer(.success(Reply.bytes())) }
            } catch {
                answer(.failure(error))
            }
        }
    }

    private func remove(_ host: GroupHost, _ done: @escaping () -> Void) throws(GroupError) {
        host.flush()
        let trash: String
        do throws(Container.Failure) {
            trash = try container.trash(host.identifier, time: fileTimeText)
        } catch {
            throw .storageFailed(reason: "the group's directory cannot be moved away: \(error)", errno: 0)
        }
        forget(host)
        removeJournal(of: host, into: trash, done)
    }

    /// Somebody deleted the directory itself: then the group is gone, and its journal goes to the trash for them.
    func containerWasDeleted(_ host: GroupHost) {
        // Unless somebody has asked for it meanwhile, and it is being made anew.
        guard transitions[host.identifier] == nil else { return }
        Log.notice("group \(host.identifier): somebody deleted its directory, and so the group", about: host.subject)
        host.flush()
        let trash = "\(container.trashPath)/\(host.identifier)-\(fileTimeText)"
        do throws(SystemError) {
            try Files.makeDirectories(trash)
        } catch {
            Log.warning("group \(host.identifier): \(error)", about: host.subject)
        }
        forget(host)
        removeJournal(of: host, into: trash) {}
    }

    private func forget(_ host: GroupHost) {
        host.close()
        hosts[host.identifier] = nil
        forgetTrials(of: host.identifier)
        for directory in directories.remove(host.identifier) { unwatch(directory) }
        for member in audiences[host.identifier].map({ Array($0.members) }) ?? [] {
            update(member.connection) { $0.offerDeletion(of: host.identifier) }
        }
        documentsMayHaveMoved(host.identifier)
        statusChanged()
    }

    /// Why the root is not the directory that the groups are in; nil when it is. A root made by us has our lock file in
    /// it: an empty mount point has not, and what is missing there was not deleted.
    var rootProblem: String? {
        guard !hosts.isEmpty || !unopened.isEmpty, (try? Files.status(container.lockPath)) == nil,
            !knownGroups.contains(where: { (try? Files.status(container.path(of: $0))) != nil })
        else { return nil }
        return "the root directory \(container.root) is gone or not mounted; its groups are kept until it is back"
    }

    /// Whether the group's directory is gone while the root stands: deleted, and not merely out of reach.
    func containerIsGone(_ group: GroupIdentifier) -> Bool {
        guard rootProblem == nil else { return false }
        do throws(SystemError) {
            return try Files.statusIfPresent(container.path(of: group), followLinks: false) == nil
        } catch {
            return false
        }
    }
}

extension OpenedGroup.Failure: CustomStringConvertible {
    var description: String {
        switch self {
        case .journal(let error): error.description
        case .system(let error): error.description
        }
    }

    var errno: Errno? {
        switch self {
        case .journal(.system(let error)), .system(let error): error.errno
        case .journal: nil
        }
    }
}

extension GroupHost {
    /// The group is gone: those who wait are told, and what the workers still bring is for nobody.
    func close() {
        isClosed = true
        projectionTimer.cancel()
        settleTimer.cancel()
        lateTimer.cancel()
        let waiters = plist.waiters
        plist.waiters = []
        for waiter in waiters { waiter(.noSuchGroup(identifier.string)) }
        let tracking = sync
        sync = SyncTracking()
        for waiter in tracking.waiters + tracking.underWay { server.answer(waiter.target, with: waiter.success) }
        for callback in tracking.callbacks + tracking.callbacksUnderWay { callback(nil) }
    }
}
