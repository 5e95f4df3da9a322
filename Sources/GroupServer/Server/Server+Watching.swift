import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import GroupWatch
import LinuxIO
import ServiceIO

extension Server {
    /// Has the directories watched in which something may happen to the group's file. One that is new is looked at again
    /// once the watch stands: watch first, list then.
    func watchDirectories(of host: GroupHost) {
        let path = container.path(of: host.identifier)
        let needed = Set(host.plist.places.directories + [path, path + "/Library"])
        let (added, dropped) = directories.set(needed, for: host.identifier)
        for directory in dropped { unwatch(directory) }
        for directory in added { watcher?.watch(directory: directory) }
    }

    func startWatching() throws(SystemError) {
        let post = post
        watcher = try Watcher(cookieDirectory: paths.cookieDirectory) { events in
            post { server in
                server.turn { server.take(events) }
            }
        }
        watcher?.watch(directory: container.root)
    }

    private func take(_ events: [GroupWatch.WatchEvent]) {
        var changed: Set<GroupIdentifier> = []
        for event in events {
            noteDocumentEvent(event)
            noteLayerEvent(event)
            switch event {
            case .changed(let directory, let name, _): noteChange(of: name, in: directory, &changed)
            case .directoryGone(let directory):
                changed.formUnion(directories.groups(in: directory))
                directories.lost(directory)
                if directory == container.root { rootIsGone() }
            case .overflow: rescan()
            case .watching(let directory):
                if directory == container.root {
                    isRootWatched = true
                    isRootOnNetwork = (try? Files.isNetworkFileSystem(container.root)) ?? false
                    if isRootOnNetwork { pollIsDue() }
                    openAllGroups()
                }
                if directories.answered(directory, .watched) { changed.formUnion(directories.groups(in: directory)) }
            case .watchFailed(let directory, let reason): watchFailed(directory, reason, &changed)
            case .barrier(let id), .barrierFailed(let id, _):
                // What came before the barrier is dealt with before those who waited for it go on.
                look(at: changed)
                changed = []
                barriers.removeValue(forKey: id)?()
            }
        }
        look(at: changed)
        advanceDocuments()
    }

    private func look(at groups: Set<GroupIdentifier>) {
        for group in groups { hosts[group]?.plistMayHaveChanged() }
    }

    private func noteChange(of name: String, in directory: String, _ changed: inout Set<GroupIdentifier>) {
        guard !PlistFile.isOwnTemporary(name) else { return }
        for group in directories.groups(in: directory) where hosts[group]?.plist.isConcerned(by: name) ?? false {
            changed.insert(group)
        }
        guard directory == container.root else { return }
        // The root itself: it may have been closed, or opened again.
        if name.isEmpty { changed.formUnion(hosts.keys) }
        guard let group = try? GroupIdentifier(name) else { return }
        if hosts[group] != nil {
            changed.insert(group)
        } else if (try? Files.status(container.path(of: group)))?.kind == .directory {
            // A directory with a valid name is a group.
            adoptGroup(group)
        }
    }

    private func watchFailed(_ directory: String, _ reason: Errno, _ changed: inout Set<GroupIdentifier>) {
        if reason == .noSuchFile || reason == .notDirectory {
            // It went before it was watched. If another comes, its parent's events tell; no look at once, which would
            // ask for the same watch again.
            directories.lost(directory)
            pollIsDue()
            return
        }
        guard directories.answered(directory, .failed) || directory == container.root else { return }
        if reason == .noSpace {
            Log.warning(
                "no watches left for \(directory): it is polled; raise fs.inotify.max_user_watches to end that",
                .noWatchesLeft, about: Log.Subject(path: directory))
        } else {
            Log.warning("\(directory) cannot be watched, and is polled: \(reason)")
        }
        changed.formUnion(directories.groups(in: directory))
        pollIsDue()
    }

    /// Events were lost: everything is watched and looked at anew.
    private func rescan() {
        Log.warning("the kernel's queue of file events overflowed; every group is looked at")
        watcher?.watch(directory: container.root)
        for directory in directories.standing.keys { watcher?.watch(directory: directory) }
        openAllGroups()
        look(at: Set(hosts.keys))
    }

    private func rootIsGone() {
        Log.warning("the directory \(container.root) is gone; the groups are kept as they are")
        isRootWatched = false
        directories.allLost()
        look(at: Set(hosts.keys))
        pollIsDue()
    }

    /// From time to time: what events do not reach, and what did not work.
    func poll() {
        for host in hosts.values where needsPolling(host) {
            if host.plist.base.hasUnwritten { host.plist.needsWrite = true }
            if host.journal.syncFailure != nil { host.startCompaction() }
            if host.plist.isLeftoverStuck { host.plist.needsRecovery = true }
            host.plistMayHaveChanged()
        }
        retryWatches()
        pollDocuments()
        pollLayers()
        if !isRootWatched { watcher?.watch(directory: container.root) }
        let isRootPolled = !isRootWatched || isRootOnNetwork
        if isRootPolled { lookForGroups() }
        if isRootPolled || hosts.values.contains(where: needsPolling) || layers.isPolled { pollIsDue() }
    }

    func needsPolling(_ host: GroupHost) -> Bool {
        let plist = host.plist
        return plist.obstacle != nil || plist.lastFailure != nil || plist.isLeftoverStuck || isPolled(host)
            || host.journal.syncFailure != nil
    }

    func isPolled(_ host: GroupHost) -> Bool {
        !directories.isWatched(host.identifier) || host.isOnNetwork
    }

    private func retryWatches() {
        for (directory, standing) in directories.standing where standing == .failed {
            watcher?.watch(directory: directory)
        }
    }
}
