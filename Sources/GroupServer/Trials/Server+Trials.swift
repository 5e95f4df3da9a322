import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
import ServiceIO
import Varlink

/// Changes that are taken back by themselves. The promise is on stable storage before the change is made, so that it is kept
/// whatever ends the daemon; what is due while it does not run is taken back at its start.
extension Server {
    private static let suffix = ".trials"
    /// When something stands in the way of taking a change back, in microseconds: a read-only file, a full disk.
    private static let pause: Int64 = 5_000_000

    private func path(of group: GroupIdentifier) -> String { "\(paths.state)/\(group)\(Self.suffix)" }

    // MARK: Calls

    func tryOut(
        _ request: TryRequest, _ target: Connection.ReplyTarget, _ connection: Connection
    ) throws(GroupError) {
        let host = try writableHost(of: request.group)
        let changes = try host.state.changes(for: request.edits, limits: configuration.limits)
        try host.schema?.check(changes)
        // The next revision is ours.
        host.flush()
        let until = Timestamp(microseconds: now.microseconds + Int64(request.seconds * 1e6))
        var position = host.position
        position.revision += changes.isEmpty ? 0 : 1
        let reply = Reply.bytes {
            $0.member("position")
            $0.write(position)
            $0.member("changed", strings: changes.map(\.key.string))
            $0.member("until", string: until.rfc3339Microseconds)
        }
        guard !changes.isEmpty else { return answer(target, with: reply) }
        let values = Dictionary(changes.map { ($0.key, $0.old) }) { first, _ in first }
        let trial = Trial(position: position, made: now, until: until, values: values)
        try promise((trials[request.group] ?? []) + [trial], of: request.group)
        host.commit(
            changes, origin: connection.origin, tag: request.tag,
            reply: GroupHost.PendingReply(
                target: target, success: .message(reply), isDurable: configuration.durability == .power))
        // One that is not in the journal is not to be taken back: its revision will be another's.
        if host.flush() != nil { forget(trial, of: request.group) }
        trialsAreDue()
    }

    func endTrial(
        _ group: GroupIdentifier, _ revision: Int64, keeps: Bool, _ target: Connection.ReplyTarget
    ) throws(GroupError) {
        _ = try host(of: group)
        let trial = trials[group]?.first { $0.position.revision == revision }
        if let trial {
            if keeps { forget(trial, of: group) } else { try takeBack(trial, of: group) }
        }
        answer(target, with: Reply.bytes { $0.member("ended", boolean: trial != nil) })
    }

    // MARK: Time

    func trialsAreDue() {
        guard let next = trials.values.joined().map(\.due).min() else { return }
        sources.trials?.arm(atMonotonicMicroseconds: next)
    }

    func takeBackDueTrials() {
        var isStuck = false
        let time = ProcessFacts.monotonicMicroseconds()
        for (group, list) in trials {
            for trial in list where trial.due <= time {
                do throws(GroupError) {
                    try takeBack(trial, of: group)
                } catch {
                    isStuck = true
                    Log.warning("group \(group): the trial of revision \(trial.position.revision) goes on: \(error)")
                }
            }
        }
        if isStuck { sources.trials?.arm(afterMicroseconds: Self.pause) } else { trialsAreDue() }
        considerIdle()
    }

    /// What others have changed since, or an administrator has set, stays.
    private func takeBack(_ trial: Trial, of group: GroupIdentifier) throws(GroupError) {
        let host = try writableHost(of: group)
        if host.position.epoch == trial.position.epoch {
            host.flush()
            let origin = OriginText(Origin(kind: .daemon))
            let changes = Self.changes(back: trial, host.state, configuration.limits)
            if !changes.isEmpty {
                host.commit(changes, origin: origin, tag: "end of the trial of revision \(trial.position.revision)")
            }
            if let error = host.flush() {
                throw .storageFailed(reason: "the journal cannot be written: \(error)", errno: error.errno.rawValue)
            }
        }
        forget(trial, of: group)
    }

    private static func changes(back trial: Trial, _ state: GroupState, _ limits: Limits) -> [Change] {
        trial.values.sorted { $0.key < $1.key }.flatMap { key, value in
            let edit = value.map { Edit.set(key, $0) } ?? .remove(key)
            // One by one: each key may have a reason of its own to stay.
            return (try? state.changes(for: [edit], unchangedSince: trial.position.revision, limits: limits)) ?? []
        }
    }

    // MARK: The files

    /// Reads what was promised before. Before anything is served: a revision that the journal does not have was never made,
    /// and will be another's.
    func loadTrials() {
        let names = ((try? Files.list(paths.state)) ?? []).filter { $0.hasSuffix(Self.suffix) }
        for name in names {
            guard let group = try? GroupIdentifier(String(name.dropLast(Self.suffix.count))) else { continue }
            let bytes = (try? Files.read(path(of: group), limit: 64 << 20))?.bytes ?? []
            guard let list = Trial.decoded(bytes) else {
                Log.error("\(path(of: group)) is damaged: changes that were made for a trial stay")
                continue
            }
            let position = (try? openedHost(group))?.map(\.position)
            let made = list.filter {
                $0.position.epoch == position?.epoch && $0.position.revision <= position?.revision ?? 0
            }
            if made != list { try? promise(made, of: group) } else { trials[group] = made }
        }
        takeBackDueTrials()
    }

    func forgetTrials(of group: GroupIdentifier) {
        if trials[group] != nil { try? promise([], of: group) }
    }

    private func forget(_ trial: Trial, of group: GroupIdentifier) {
        do throws(GroupError) {
            try promise((trials[group] ?? []).filter { $0 != trial }, of: group)
        } catch {
            // It is over for this process; the next one finds that others have changed the keys since.
            trials[group]?.removeAll { $0 == trial }
            Log.warning("group \(group): \(error)")
        }
    }

    /// Puts the group's trials on stable storage, and takes them over.
    private func promise(_ list: [Trial], of group: GroupIdentifier) throws(GroupError) {
        let path = path(of: group)
        do throws(SystemError) {
            if list.isEmpty {
                _ = try Files.unlinkIfPresent(path)
            } else {
                let file = try Files.open(path + ".new", [.writeOnly, .create, .truncate, .noFollow])
                try file.changeMode(0o600)
                try file.writeAll(Trial.encoded(list))
                try file.fsync()
                try Files.rename(path + ".new", to: path)
            }
            try Files.fsyncDirectory(paths.state)
        } catch {
            throw .storageFailed(reason: "a trial cannot be noted: \(error)", errno: error.errno.rawValue)
        }
        trials[group] = list.isEmpty ? nil : list
    }
}
