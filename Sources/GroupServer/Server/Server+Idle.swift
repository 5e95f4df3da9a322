import GroupCore
import LinuxIO
import ServiceIO

/// The end of a daemon that nobody needs (`ExitIdleSec=`). One timer, which stands only while nobody is connected.
extension Server {
    /// At the start and after a reload.
    func applyIdleLimit() {
        idleExit = IdleExit(limit: configuration.exitIdleTime)
        sources.idle?.disarm()
        if idleExit.limit != nil, !isStartedOnDemand {
            idleExit.limit = nil
            Log.warning("ExitIdleSec= is ignored: without systemd's socket nothing would start the daemon again")
        }
        considerIdle()
    }

    /// Whether whoever connects after our end starts us again: the socket is the service manager's.
    private var isStartedOnDemand: Bool {
        sources.listener?.isPassed == true && ServiceManager.isPresent
    }

    /// Asked for whenever something that kept the daemon has gone.
    func considerIdle() {
        guard idleExit.limit != nil, !isStopping, sources.idle?.isArmed == false else { return }
        follow(idleDecision())
    }

    func idleTimeIsOver() {
        // Whoever waits at the socket has come. What comes after this look stays there for the next daemon.
        if let listener = sources.listener { acceptClients(from: listener) }
        follow(idleDecision())
    }

    private func idleDecision() -> IdleExit.Decision {
        let needs = IdleExit.Needs(
            clients: connections.count, trials: trials.values.joined().count,
            isOpening: isOpeningDue || !unopened.isEmpty)
        return idleExit.decide(
            at: ProcessFacts.monotonicMicroseconds(), needs,
            hasOpenFiles: hosts.values.contains(where: \.hasOpenFile))
    }

    private func follow(_ decision: IdleExit.Decision) {
        switch decision {
        case .stay: return
        case .look(let time): sources.idle?.arm(atMonotonicMicroseconds: time)
        case .exit:
            Log.info("nobody is connected: the daemon ends until the next client comes (ExitIdleSec=)")
            stop()
        }
    }
}

extension GroupHost {
    fileprivate var hasOpenFile: Bool { plist.base.hasUnwritten || plist.late != nil || !plist.isSettled }
}
