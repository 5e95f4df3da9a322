import GroupFiles
import GroupModel
import GroupProtocol
import GroupWatch
import LinuxIO
import Varlink

extension Server {
    /// Answers when every earlier edit of the file is seen, and every acknowledged write is in the file and on stable
    /// storage. The connection's later calls wait for it.
    func synchronize(
        _ group: GroupIdentifier?, _ target: Connection.ReplyTarget, _ connection: Connection
    ) throws(GroupError) {
        if group == nil { openRest() }
        let targets = try group.map { group throws(GroupError) in [try host(of: group)] } ?? Array(hosts.values)
        if let serial = target.serial { connection.phase = .waiting(serial: serial) }
        let count = Countdown(targets.count + 1) { [unowned self] error in
            answer(target, with: error?.replyBytes ?? Reply.bytes())
        }
        afterBarrier { [unowned self] in
            for host in targets { synchronize(host, count) }
            // Who asks about all means also a directory that has just appeared, and is a group soon.
            if group == nil { afterTransitions { count.one(nil) } } else { count.one(nil) }
        }
    }

    private func synchronize(_ host: GroupHost, _ count: Countdown) {
        guard !host.isClosed else { return count.one(nil) }
        host.flush()
        host.whenPlistIsSettled { [unowned self] error in
            whenSynced(host) { count.one($0 ?? error) }
        }
    }

    /// Answers when a damaged file is sound again, or with what stands in the way. The connection's later calls wait for it.
    func repair(
        _ group: GroupIdentifier, _ target: Connection.ReplyTarget, _ connection: Connection
    ) throws(GroupError) {
        let host = try host(of: group)
        if let serial = target.serial { connection.phase = .waiting(serial: serial) }
        afterBarrier { [unowned self] in
            host.repair { result in
                switch result {
                case .success(let copy):
                    self.answer(target, with: Reply.bytes { if let copy { $0.member("copy", string: copy) } })
                case .failure(let error): self.answer(target, with: error.replyBytes)
                }
            }
        }
    }

    func whenSynced(_ host: GroupHost, _ callback: @escaping (GroupError?) -> Void) {
        guard !host.isClosed, host.journal.hasUnsyncedBytes else {
            return callback(host.journal.syncFailure.map(GroupHost.syncRefusal))
        }
        host.sync.callbacks.append(callback)
        markForSync(host)
    }

    /// Runs `body` when all that happened in the watched directories before this moment has been reported.
    private func afterBarrier(_ body: @escaping () -> Void) {
        guard let watcher, !runsJobsInline else { return body() }
        let id = nextBarrier
        nextBarrier += 1
        barriers[id] = body
        watcher.barrier(id)
    }
}

/// Calls back once, when so many things are done, with the first error among them.
final class Countdown {
    private var rest: Int
    private var error: GroupError?
    private let done: (GroupError?) -> Void

    init(_ count: Int, done: @escaping (GroupError?) -> Void) {
        rest = count
        self.done = done
    }

    func one(_ error: GroupError?) {
        self.error = self.error ?? error
        rest -= 1
        if rest == 0 { done(self.error) }
    }
}
