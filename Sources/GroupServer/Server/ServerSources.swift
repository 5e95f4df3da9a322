import GroupCore
import GroupFiles
import GroupModel
import LinuxIO
import ServiceIO

/// The server's timers and the sources of its loop. Each timer is armed when there is something to do and not before:
/// an idle daemon wakes up for nothing.
struct ServerSources {
    var listener: ListeningSocket?
    var listening: IOSource?
    var signals: [SignalSource] = []
    var listenAgain: TimerSource?
    var sync: TimerSource?
    var poll: TimerSource?
    var status: TimerSource?
    var layers: TimerSource?
    var trials: TimerSource?
    var stopLimit: TimerSource?
    /// Armed while nobody is connected, where the daemon is to end then.
    var idle: TimerSource?

    /// How long the daemon does not listen after it ran out of descriptors, in microseconds.
    private static let listenPause: Int64 = 200_000
    /// How often systemd is told a new status at most, in microseconds.
    private static let statusInterval: Int64 = 500_000

    func pauseListening() {
        listening?.isEnabled = false
        listenAgain?.arm(afterMicroseconds: Self.listenPause)
    }

    func statusIsDue() {
        guard let status, !status.isArmed else { return }
        status.arm(afterMicroseconds: Self.statusInterval)
    }
}

extension Server {
    /// Registers what the loop waits for.
    func addSources(_ listener: ListeningSocket) throws(SystemError) {
        sources.listener = listener
        sources.listening = try IOSource(loop, listener.raw, .readable) { [unowned self] in
            turn { acceptClients(from: listener) }
        }
        sources.listenAgain = try TimerSource(loop) { [unowned self] in sources.listening?.isEnabled = true }
        sources.sync = try TimerSource(loop, accuracyMicroseconds: 50_000) { [unowned self] in turn { syncJournals() } }
        sources.poll = try TimerSource(loop, accuracyMicroseconds: 50_000) { [unowned self] in turn { poll() } }
        sources.trials = try TimerSource(loop, accuracyMicroseconds: 10_000) { [unowned self] in
            turn { takeBackDueTrials() }
        }
        sources.idle = try TimerSource(loop, accuracyMicroseconds: 50_000) { [unowned self] in turn { idleTimeIsOver() }
        }
        sources.status = try TimerSource(loop, accuracyMicroseconds: 250_000) { [unowned self] in
            ServiceManager.notifyStatus(statusText)
        }
    }

    /// Something was journaled that a power cut could take: within the sync interval it is safe.
    func syncIsDue() {
        guard let timer = sources.sync, !timer.isArmed else { return }
        timer.arm(afterMicroseconds: configuration.syncInterval)
    }

    private func syncJournals() {
        for host in hosts.values where host.journal.hasUnsyncedBytes { markForSync(host) }
    }

    func pollIsDue() {
        guard let timer = sources.poll, !timer.isArmed else { return }
        timer.arm(afterMicroseconds: configuration.pollInterval)
    }
}

// MARK: - Workers

extension Server {
    /// Runs what may block on the worker for files, and brings the outcome back into a turn of the loop.
    func runFileJob(on host: GroupHost, _ job: @escaping @Sendable () -> FileOutcome) {
        run(on: fileWorker, host, job)
    }

    /// The same on the worker for syncs, which no slow file holds up.
    func runSync(on host: GroupHost, _ job: @escaping @Sendable () -> FileOutcome) {
        run(on: syncWorker, host, job)
    }

    /// From this size on, in bytes of values, a group's jobs leave something worth giving back.
    private static let trimSize = 256 << 10

    private func run(on worker: WorkerThread, _ host: GroupHost, _ job: @escaping @Sendable () -> FileOutcome) {
        if runsJobsInline { return jobEnded(job(), host) }
        // A group that was deleted and made again is another one, though the name is the same.
        let (group, epoch, post) = (host.identifier, host.position.epoch, post)
        let isLarge = host.state.size > Self.trimSize
        worker.submit {
            let outcome = job()
            // The texts of a large group are many times its size, and are needed for a moment only.
            if isLarge { ProcessFacts.trimMemory() }
            post { server in
                guard let host = server.hosts[group], host.position.epoch == epoch else { return }
                server.turn { server.jobEnded(outcome, host) }
            }
        }
    }

    /// Lets go of something on the worker: of a deleted file, whose blocks are freed when it is closed.
    func release(_ object: some Sendable) {
        if !runsJobsInline { fileWorker.submit { withExtendedLifetime(object) {} } }
    }

    private func jobEnded(_ outcome: FileOutcome, _ host: GroupHost) {
        guard !host.isClosed else { return }
        switch outcome {
        case .synced(let handle, let result, let isInPlace): host.syncEnded(handle, result, isInPlace: isInPlace)
        case .compacted(let result): host.compactionEnded(result)
        default: host.plistJobEnded(outcome)
        }
    }
}
