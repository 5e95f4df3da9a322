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
    func createGroup(_ group: GroupIdentifier, _ target: Connection.ReplyTarget) throws(GroupError) {
        let known = hosts.count + unopened.count
        guard hosts[group] != nil || unopened.contains(group) || known < configuration.groups else {
            throw .tooLarge(
                subject: "groups (MaxGroups=)", limit: Int64(configuration.groups), size: Int64(known + 1))
        }
        // A root that is out of reach is not made anew: all its groups would look deleted.
        if let problem = rootProblem { throw .storageFailed(reason: problem, errno: Errno.noSuchFile.rawValue) }
        do throws(Container.Failure) {
            try container.create(group)
        } catch .notOurs(let path, let owner) {
            throw .notPermitted(reason: "\(Container.Failure.notOurs(path: path, owner: owner))")
        } catch .system(let error) {
            throw .storageFailed(reason: "the group's directory cannot be made: \(error)", errno: error.errno.rawValue)
        } catch {
            throw .storageFailed(reason: "the group's directory cannot be made: \(error)", errno: 0)
        }
        try openGroup(group)
        answer(target, with: Reply.bytes { $0.member("container", string: container.path(of: group)) })
    }

    /// Opens the group's journal, unless that is done, and begins to look at its plist.
    func openGroup(_ group: GroupIdentifier) throws(GroupError) {
        if let host = hosts[group] { return host.plistMayHaveChanged() }
        unopened.remove(group)
        if !placesAreDurable, (try? Files.status(paths.journal(of: group.string))) == nil { makePlacesDurable() }
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

    /// Before there is a journal: one that a power cut leaves without a root tells that the root is not mounted. They may have
    /// been made by a daemon that was killed before it synced them.
    private func makePlacesDurable() {
        try? Files.fsyncDirectory(paths.root)
        for path in [paths.root, paths.state] { Files.fsyncWay(to: path) }
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

    func deleteGroup(_ group: GroupIdentifier, _ target: Connection.ReplyTarget) throws(GroupError) {
        let host = try host(of: group)
        host.flush()
        do throws(Container.Failure) {
            let trash = try container.trash(group, time: fileTimeText)
            moveJournal(of: host, into: trash)
        } catch {
            throw .storageFailed(reason: "the group's directory cannot be moved away: \(error)", errno: 0)
        }
        forget(host)
        answer(target, with: Reply.bytes())
    }

    /// Somebody deleted the directory itself: then the group is gone, and its journal goes to the trash for them.
    func containerWasDeleted(_ host: GroupHost) {
        Log.notice("group \(host.identifier): somebody deleted its directory, and so the group", about: host.subject)
        host.flush()
        let trash = "\(container.trashPath)/\(host.identifier)-\(fileTimeText)"
        do throws(SystemError) {
            try Files.makeDirectories(trash)
            moveJournal(of: host, into: trash)
        } catch {
            Log.warning("group \(host.identifier): \(error)", about: host.subject)
        }
        forget(host)
    }

    private func moveJournal(of host: GroupHost, into directory: String) {
        do throws(SystemError) {
            let newPath = try Journal.retire(
                host.journal.path, into: directory, as: "\(host.identifier).journal", time: fileTimeText)
            Log.info("group \(host.identifier): deleted; its journal is kept as \(newPath)", about: host.subject)
        } catch {
            Log.warning(
                "group \(host.identifier): its journal could not be moved to \(directory): \(error)",
                about: host.subject)
        }
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
    private var rootProblem: String? {
        let places = [container.lockPath] + knownGroups.map(container.path)
        guard !hosts.isEmpty || !unopened.isEmpty, !places.contains(where: { (try? Files.status($0)) != nil }) else {
            return nil
        }
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
