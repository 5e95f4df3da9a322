import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import ServiceIO

/// Those who wait for stable storage.
struct SyncTracking {
    /// Wait for the sync that will be started next.
    var waiters: [GroupHost.Waiter] = []
    var callbacks: [(GroupError?) -> Void] = []
    /// Wait for the one under way.
    var underWay: [GroupHost.Waiter] = []
    var callbacksUnderWay: [(GroupError?) -> Void] = []
    var isUnderWay = false
    /// Those who wait do it for a journal that somebody took away, until it is at its place again.
    var isAwaitingPlace = false
}

extension GroupHost {
    /// A call that is answered when everything journaled before it is on stable storage.
    struct Waiter {
        var target: Connection.ReplyTarget
        var success: [UInt8]
    }

    func awaitSync(_ waiter: Waiter) {
        sync.waiters.append(waiter)
        server.markForSync(self)
    }

    /// Starts a sync on the worker, unless one is under way: then the next one covers all that came meanwhile. Nor while
    /// the journal is about to be replaced: that one is synced then.
    func startSync() {
        guard !sync.isUnderWay, compaction?.catchUpStart == nil else { return }
        sync.isUnderWay = true
        (sync.underWay, sync.waiters) = (sync.waiters, [])
        (sync.callbacksUnderWay, sync.callbacks) = (sync.callbacks, [])
        if !sync.underWay.isEmpty { journal.makeRoom() }
        let handle = journal.syncHandle
        server.runSync(on: self) { [path = journal.path] in
            let result = handle.sync()
            return .synced(handle, result, isInPlace: handle.isInPlace(path))
        }
    }

    func syncEnded(_ handle: Journal.SyncHandle, _ result: Result<Void, SystemError>, isInPlace: Bool) {
        journal.finish(handle, result)
        let (waiters, callbacks) = (sync.underWay, sync.callbacksUnderWay)
        sync.underWay = []
        sync.callbacksUnderWay = []
        sync.isUnderWay = false
        guard journal.isCurrent(handle) else {
            // Replaced meanwhile: what they wait for is in the new file, and its sync tells.
            sync.waiters = waiters + sync.waiters
            sync.callbacks = callbacks + sync.callbacks
            return resumeSyncs()
        }
        let failure = journal.syncFailure
        if let failure {
            Log.error("group \(identifier): the journal did not reach stable storage: \(failure)", about: subject)
            // A new file is a new start: the kernel has forgotten which pages it lost.
            startCompaction()
        }
        if !isInPlace {
            putBack()
            // What nobody would find at the next start is not kept, whatever disk it is on.
            if failure == nil, compaction != nil { return awaitPlace(waiters, callbacks) }
        }
        let refusal = failure.map(Self.syncRefusal)
        for waiter in waiters { server.answer(waiter.target, with: refusal?.replyBytes ?? waiter.success) }
        for callback in callbacks { callback(refusal) }
        resumeSyncs()
        // After a rush of writes, perhaps the last look for long.
        compactIfNeeded()
    }

    /// Whoever waits for the next sync gets it.
    func resumeSyncs() {
        if !sync.waiters.isEmpty || !sync.callbacks.isEmpty { server.markForSync(self) }
        if journal.hasUnsyncedBytes { server.syncIsDue() }
    }

    /// They are told when the rewrite that is under way has ended.
    private func awaitPlace(_ waiters: [Waiter], _ callbacks: [(GroupError?) -> Void]) {
        sync.waiters = waiters + sync.waiters
        sync.callbacks = callbacks + sync.callbacks
        sync.isAwaitingPlace = true
    }

    /// No journal could be put in the place of the one that was taken away.
    func refuseWaiters(because error: JournalUseFailure) {
        guard sync.isAwaitingPlace else { return }
        let (waiters, callbacks) = (sync.waiters, sync.callbacks)
        (sync.waiters, sync.callbacks) = ([], [])
        sync.isAwaitingPlace = false
        let refusal = GroupError.storageFailed(
            reason: "written, but its journal was removed or moved away, and cannot be made anew: \(error)",
            errno: error.errno)
        for waiter in waiters { server.answer(waiter.target, with: refusal.replyBytes) }
        for callback in callbacks { callback(refusal) }
    }

    /// What nobody would find at the next start: a journal that was removed or moved away is written anew.
    private func putBack() {
        guard !isClosed, compaction == nil else { return }
        Log.error("group \(identifier): \(journal.path) was removed or moved away while it was in use; it is made anew")
        do throws(SystemError) {
            try Files.makeDirectories(server.paths.state)
        } catch {
            Log.error("group \(identifier): \(error)")
        }
        startCompaction()
    }

    static func syncRefusal(_ error: SystemError) -> GroupError {
        .storageFailed(
            reason: "written, but perhaps not on stable storage: \(error)", errno: error.errno.rawValue)
    }
}
