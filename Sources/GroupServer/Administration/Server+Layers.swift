import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import GroupWatch
import LinuxIO
import ServiceIO

/// Administrators' layers: read at the start, watched, and in force at once when a file is replaced.
extension Server {
    /// How long after something happened the files are looked at, and how long what is gone may be the middle of
    /// somebody's saving, in microseconds.
    private static let layerSettleTime: Int64 = 20_000
    private static let layerDoubtTime: Int64 = 200_000

    /// Before any group is opened.
    func startLayers() throws(SystemError) {
        sources.layers = try TimerSource(loop) { [unowned self] in turn { lookAtLayers() } }
        watchLayerDirectories()
        readPolicy()
        layers.scan = LayerScan(layers.directories)
        for problem in layers.scan.problems { log(problem) }
    }

    private func log(_ problem: Problem) {
        Log.warning(problem.text, .configurationIgnored, about: Log.Subject(path: problem.path))
    }

    /// What is in force for a group that is being opened. Where a file cannot be used, what the journal knows of it stays.
    func applyLayers(to host: GroupHost) {
        let reading = layers.scan.readings[host.identifier] ?? LayerReading()
        host.take(reading.schema)
        if reading.problems.isEmpty { host.take(reading.layers) }
    }

    func noteLayerEvent(_ event: GroupWatch.WatchEvent) {
        switch event {
        case .changed(let directory, let name, _):
            if layers.concerns(name, in: directory) { layersAreDue() }
        case .directoryGone(let directory):
            guard layers.watched.contains(directory) else { return }
            layers.lost(directory)
            layersAreDue()
        case .watching(let directory):
            // Watch first, list then.
            if layers.watched.contains(directory) { layersAreDue() }
        case .watchFailed(let directory, let reason):
            guard layers.watched.contains(directory) else { return }
            layers.lost(directory)
            if reason == .noSuchFile || reason == .notDirectory { return layersAreDue() }
            layers.isPolled = true
            pollIsDue()
        case .overflow: layersAreDue()
        case .barrier, .barrierFailed: break
        }
    }

    func layersAreDue() {
        guard let timer = sources.layers, !timer.isArmed else { return }
        timer.arm(afterMicroseconds: Self.layerSettleTime)
    }

    private func watchLayerDirectories() {
        let (added, dropped) = layers.updateWatched()
        for directory in dropped { unwatch(directory) }
        for directory in added { watcher?.watch(directory: directory) }
    }

    private func lookAtLayers() {
        guard !layers.isBusy else {
            layers.isDueAgain = true
            return
        }
        layers.isBusy = true
        watchLayerDirectories()
        let (directories, post) = (layers.directories, post)
        fileWorker.submit {
            let scan = LayerScan(directories)
            post { server in server.turn { server.layersWereRead(scan) } }
        }
    }

    private func layersWereRead(_ scan: LayerScan) {
        layers.isBusy = false
        if layers.isDueAgain {
            layers.isDueAgain = false
            return layersAreDue()
        }
        let isMissing = layers.scan.readings.contains { group, reading in
            let present = scan.readings[group]
            return reading.files.contains { file in
                present?.problems[file.path] == nil && present?.files.contains { $0.path == file.path } != true
            }
        }
        if isMissing, !layers.hasDoubts {
            layers.hasDoubts = true
            sources.layers?.arm(afterMicroseconds: Self.layerDoubtTime)
            return
        }
        layers.hasDoubts = false
        put(scan)
    }

    private func put(_ new: LayerScan) {
        readPolicy()
        var scan = new
        let old = layers.scan
        scan.keepLastGood(of: old, layers.directories)
        layers.scan = scan
        let known = Set(old.problems.map(\.text))
        for problem in scan.problems where !known.contains(problem.text) { log(problem) }
        for group in Set(old.readings.keys).union(scan.readings.keys).sorted() {
            guard let host = hosts[group] else { continue }
            let reading = scan.readings[group] ?? LayerReading()
            host.take(reading.schema)
            // Of a file that could never be read nobody knows what it held; the journal does, of what was in force.
            guard reading.problems.keys.allSatisfy({ path in reading.files.contains { $0.path == path } }) else {
                continue
            }
            host.take(reading.layers)
        }
    }

    /// With the other things that are done from time to time.
    func pollLayers() {
        if layers.isPolled { layersAreDue() }
    }
}

extension GroupHost {
    /// Puts a schema in force: for what is written from now on, and for an edit of the file that was refused.
    func take(_ file: SchemaFile?) {
        guard file?.schema != schema?.schema else { return }
        schema = file.map { GroupSchema($0.schema) }
        guard plist.damagedDigest != nil else { return }
        plist.damagedDigest = nil
        plistMayHaveChanged()
    }

    /// Puts these layers in force: one commit of the administrator's, if readers see anything change.
    func take(_ layers: GroupLayers) {
        guard layers != state.layers else { return }
        flush()
        let (changes, before) = (state.changes(to: layers), state.layers)
        // The journal knows them first: after a restart what has changed since is told, and nothing twice.
        let revision = state.revision + (changes.isEmpty ? 0 : 1)
        guard note(.layers(layers, revision: revision)) else { return server.layersAreDue() }
        ledger.state.layers = layers
        guard !changes.isEmpty else { return }
        Log.notice(
            "group \(identifier): an administrator's settings changed, \(changes.count) keys", .administratorChanged,
            about: Log.Subject(group: identifier.string, origin: "administrator", revision: revision))
        commit(changes, own: [], origin: .administrator)
        guard flush() != nil else { return }
        ledger.state.layers = before
        server.layersAreDue()
    }
}
