import GroupFiles
import GroupModel
import GroupProtocol
import GroupWatch
import LinuxIO
import ServiceIO
import Varlink

// `WatchDocuments`: the files in a group's `Documents`, followed while somebody wants to know.

extension Server {
    func watchDocuments(
        _ group: GroupIdentifier, _ path: DocumentPath?, _ target: Connection.ReplyTarget, _ connection: Connection,
        mode: Call.Mode
    ) throws(GroupError) {
        guard mode == .more else {
            if mode != .oneway { answer(target, with: ServiceError.expectedMore.replyBytes) }
            return
        }
        _ = try host(of: group)
        let watch = documentWatch(of: group)
        watch.observers.insert(connection.id)
        connection.documents = DocumentQueue(path: path, limit: configuration.queueSize)
        connection.watchedDocuments = group
        connection.owesFirstReply = true
        if let serial = target.serial { connection.beginStreaming(serial) }
        if watch.isReady { beginTelling(connection) }
        statusChanged()
    }

    func documentWatch(of group: GroupIdentifier) -> DocumentWatch {
        if let watch = documents[group] { return watch }
        nextDocumentWatch += 1
        let watch = DocumentWatch(group, id: nextDocumentWatch, container: container.path(of: group))
        documents[group] = watch
        // Each is listed when its watch stands.
        watchDirectories(of: watch, anew: [])
        return watch
    }

    func endDocuments(of connection: Connection) {
        connection.documents = nil
        guard let group = connection.watchedDocuments, let watch = documents[group] else { return }
        watch.observers.remove(connection.id)
        guard watch.observers.isEmpty else { return }
        documents[group] = nil
        watch.settling?.timer.cancel()
        for directory in documentDirectories.remove(group) { unwatch(directory) }
    }

    /// Ends the watch of a directory that nobody needs any more.
    func unwatch(_ directory: String) {
        guard directories.standing[directory] == nil, documentDirectories.standing[directory] == nil,
            directory != container.root, !layers.watched.contains(directory)
        else { return }
        watcher?.unwatch(directory: directory)
    }

    private func watchDirectories(of watch: DocumentWatch, anew replaced: [DocumentPath?]) {
        // Another directory of the same name: the watch is on the old one.
        for directory in replaced { documentDirectories.lost(watch.place(of: directory)) }
        let (added, dropped) = documentDirectories.set(watch.directories, for: watch.group)
        for directory in dropped { unwatch(directory) }
        for directory in added { watcher?.watch(directory: directory) }
    }
}

// MARK: - Events

extension Server {
    func noteDocumentEvent(_ event: GroupWatch.WatchEvent) {
        switch event {
        case .changed(let directory, let name, let kind):
            for watch in documentWatches(in: directory) { watch.note(name, in: directory, kind) }
        case .directoryGone(let directory):
            let watches = documentWatches(in: directory)
            documentDirectories.lost(directory)
            for watch in watches { watch.look(atDirectory: directory) }
        case .watching(let directory):
            guard documentDirectories.answered(directory, .watched) else { return }
            for watch in documentWatches(in: directory) { watch.look(atDirectory: directory) }
        case .watchFailed(let directory, let reason): documentWatchFailed(directory, reason)
        case .overflow: rescanDocuments()
        case .barrier, .barrierFailed: break
        }
    }

    private func documentWatches(in directory: String) -> [DocumentWatch] {
        documentDirectories.groups(in: directory).compactMap { documents[$0] }
    }

    private func documentWatchFailed(_ directory: String, _ reason: Errno) {
        let watches = documentWatches(in: directory)
        if reason == .noSuchFile || reason == .notDirectory {
            // If another comes, its parent's events tell, and the look that follows sees it.
            guard documentDirectories.answered(directory, .absent) else { return }
        } else if documentDirectories.answered(directory, .failed) {
            Log.warning("\(directory) cannot be watched, and is polled: \(reason)")
        }
        for watch in watches { watch.look(atDirectory: directory) }
    }

    private func rescanDocuments() {
        for directory in documentDirectories.standing.keys { watcher?.watch(directory: directory) }
        for watch in documents.values {
            for id in watch.observers {
                guard let connection = connections[id] else { continue }
                connection.documents?.offerRescan()
                markStreamDirty(connection)
            }
        }
    }

    /// The group's directory has been made, or made anew, or is gone.
    func documentsMayHaveMoved(_ group: GroupIdentifier) {
        guard let watch = documents[group] else { return }
        for directory in [watch.container, watch.documents] { documentDirectories.lost(directory) }
        watchDirectories(of: watch, anew: [])
        watch.pending.directories.insert(nil)
        advance(watch)
    }

    func pollDocuments() {
        for watch in documents.values where isPolled(watch) { watch.lookAtAll() }
        for (directory, standing) in documentDirectories.standing where standing == .failed {
            watcher?.watch(directory: directory)
        }
        advanceDocuments()
    }

    private func isPolled(_ watch: DocumentWatch) -> Bool {
        !documentDirectories.isWatched(watch.group) || watch.isOnNetwork
    }
}

// MARK: - Looks

extension Server {
    /// Starts the looks that are due.
    func advanceDocuments() {
        for watch in documents.values { advance(watch) }
    }

    private func advance(_ watch: DocumentWatch) {
        if isPolled(watch) { pollIsDue() }
        guard !watch.isBusy, !watch.pending.isEmpty else { return becomeReady(watch) }
        watch.isBusy = true
        var look = watch.pending
        look.isFirst = !watch.isReady
        watch.pending = DocumentLook()
        let (group, id, container, documents, post) = (watch.group, watch.id, watch.container, watch.documents, post)
        fileWorker.submit { [look] in
            let sight = look.run(container: container, documents: documents)
            post { server in
                guard let watch = server.documents[group], watch.id == id else { return }
                server.turn { server.lookEnded(sight, of: look, watch) }
            }
        }
    }

    private func lookEnded(_ sight: DocumentSight, of look: DocumentLook, _ watch: DocumentWatch) {
        watch.isBusy = false
        watch.isOnNetwork = watch.isOnNetwork || sight.isOnNetwork
        let trustsAbsence = sight.containerStands || containerIsGone(watch.group)
        let news = watch.tree.take(sight, of: look, trustsAbsence: trustsAbsence)
        for directory in sight.directories { documentDirectories.isThere(watch.place(of: directory)) }
        for directory in sight.linkedDirectories { documentDirectories.isThere(directory) }
        if sight.containerStands { documentDirectories.isThere(watch.container) }
        watchDirectories(of: watch, anew: news.replacedDirectories)
        if watch.tree.isCut, !watch.hasWarned {
            watch.hasWarned = true
            Log.warning("\(watch.documents) has too many directories; some are not followed")
        }
        if watch.isReady { tell(news, watch) }
        settle(watch)
        advance(watch)
    }

    private func tell(_ news: DocumentTree.News, _ watch: DocumentWatch) {
        for (path, kind) in news.changes {
            let change = DocumentChange(path: path.string, kind: kind, time: now)
            for id in watch.observers {
                guard let connection = connections[id], connection.documents?.offer(change, of: path) == true else {
                    continue
                }
                markStreamDirty(connection)
            }
        }
    }

    /// What nobody can be sure of is looked at once more after the settle time.
    private func settle(_ watch: DocumentWatch) {
        guard watch.settling == nil, !watch.tree.unsure.isEmpty else { return }
        let timer = try? TimerSource(loop) { [unowned self, unowned watch] in
            turn { settleTimeIsOver(watch) }
        }
        guard let timer else {
            watch.pending.settled.formUnion(watch.tree.takeUnsure())
            return
        }
        timer.arm(afterMicroseconds: configuration.settleTime)
        watch.settling = (timer, watch.tree.takeUnsure())
    }

    private func settleTimeIsOver(_ watch: DocumentWatch) {
        guard let settling = watch.settling else { return }
        watch.settling = nil
        watch.pending.settled.formUnion(settling.paths)
        advance(watch)
    }

    /// The first replies, once every directory is watched and was listed.
    private func becomeReady(_ watch: DocumentWatch) {
        guard !watch.isReady, !watch.isBusy, watch.pending.isEmpty,
            !watch.directories.contains(where: { documentDirectories.standing[$0] == .requested })
        else { return }
        watch.isReady = true
        for id in watch.observers {
            if let connection = connections[id] { beginTelling(connection) }
        }
    }

    func beginTelling(_ connection: Connection) {
        connection.documents?.isReady = true
        markStreamDirty(connection)
    }
}
