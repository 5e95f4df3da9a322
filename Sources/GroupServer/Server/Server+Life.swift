import GroupCore
import GroupFiles
import GroupModel
import GroupWatch
import LinuxIO
import ServiceIO

extension Server {
    /// The watches stand first, then the groups are read; READY is told when both is done and the socket is served.
    func start(_ listener: ListeningSocket, _ inheritance: Inheritance?) throws(SystemError) {
        Log.threshold = configuration.logLevel
        try Files.makeDirectories(paths.cookieDirectory)
        try startWatching()
        try addSources(listener)
        try addSignals()
        try loop.enableWatchdog()
        try startLayers()
        turn {
            openAllGroups()
            loadTrials()
        }
        if let inheritance { turn { takeOver(inheritance) } }
        ProcessFacts.trimMemory()
        runsJobsInline = false
        applyIdleLimit()
        ServiceManager.notifyReady(status: statusText)
        Log.info("serving \(knownGroups.count) groups of \(paths.root)")
    }

    private func addSignals() throws(SystemError) {
        for number in [Signals.terminate, Signals.interrupt] {
            sources.signals.append(try SignalSource(loop, number) { [unowned self] in turn { stop() } })
        }
        sources.signals.append(try SignalSource(loop, Signals.hangUp) { [unowned self] in turn { reload() } })
    }

    /// Takes no further clients, brings every plist up to date, and ends the loop.
    func stop() {
        guard !isStopping else { return }
        isStopping = true
        ServiceManager.notifyStopping(status: "writing out")
        sources.listening?.cancel()
        // What was called and not served yet is for the daemon that comes after us.
        for connection in connections.values {
            connection.isPaused = true
            settle(connection)
        }
        flushJournals()
        let all = Array(hosts.values)
        let count = Countdown(all.count + 1) { [unowned self] _ in loop.exit(0) }
        for host in all {
            host.whenPlistIsSettled { [unowned self] error in whenSynced(host) { count.one($0 ?? error) } }
        }
        // A disk that hangs must not keep the session from ending: the journals have everything already.
        sources.stopLimit = try? TimerSource(loop) { [unowned self] in
            Log.warning("a property list could not be written in time; the journals have all settings")
            hasGivenUp = true
            loop.exit(0)
        }
        sources.stopLimit?.arm(afterMicroseconds: Self.stopLimit)
        count.one(nil)
    }

    /// How long writing out may take when the daemon ends, in microseconds.
    private static let stopLimit: Int64 = 10_000_000

    /// All or nothing: a file that cannot be read leaves everything as it was.
    func reload() {
        ServiceManager.notifyReloading()
        do throws(SystemError) {
            let reader = try ConfigurationReader.load(configurationFile, paths: paths)
            reader.logWarnings()
            configuration = reader.configuration
            layersAreDue()
            applyIdleLimit()
            Log.threshold = configuration.logLevel
            Log.info("the configuration was read again")
        } catch {
            Log.error("the configuration was not read again, and stays as it was: \(error)")
        }
        ServiceManager.notifyReady(status: statusText)
    }

    func finish() {
        // A disk that hangs has the workers: who waited for them would hang too.
        if !hasGivenUp { finishFiles() }
        leaveConnections()
        for connection in connections.values { close(connection) }
        sources = ServerSources()
    }

    private func finishFiles() {
        watcher?.stop()
        fileWorker.stop()
        syncWorker.stop()
        // The workers have ended.
        runsJobsInline = true
        // As a turn: what is still in memory is told to observers, too.
        turn {
            for host in hosts.values {
                host.flush()
                host.compactForStart()
            }
        }
        for host in hosts.values { host.end() }
    }
}
