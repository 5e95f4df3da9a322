import GroupCore
import GroupModel
import GroupProtocol
import LinuxIO
import Varlink

extension Server {
    /// Begins a watch: for each group its state, or what was missed since the position that the client names.
    func watch(
        _ watches: [WatchedGroup], _ target: Connection.ReplyTarget, _ connection: Connection, mode: Call.Mode
    ) throws(GroupError) {
        guard mode == .more else {
            if mode != .oneway { answer(target, with: ServiceError.expectedMore.replyBytes) }
            return
        }
        for watch in watches { _ = try host(of: watch.group) }
        let filters = try watches.map { (watch) throws(GroupError) in try KeyFilter(watch.keys).bounded() }
        var stream = WatchStream(
            zip(watches, filters).map { ($0.group, $1) }, limit: configuration.queueSize)
        for (watch, filter) in zip(watches, filters) {
            let host = try host(of: watch.group)
            // What is not in the journal yet goes to the observers there are, and into the snapshot of this one.
            host.flush()
            begin(watch, on: host, in: &stream)
            join(connection, watch.group, filter, stream)
        }
        connection.stream = stream
        connection.watches = watches
        connection.owesFirstReply = true
        // The call's place is the last one: nothing is served behind a stream.
        if let serial = target.serial { connection.beginStreaming(serial) }
        markStreamDirty(connection)
        statusChanged()
    }

    func join(
        _ connection: Connection, _ group: GroupIdentifier, _ filter: KeyFilter, _ stream: WatchStream
    ) {
        guard let place = stream.place(of: group) else { return }
        let audience = audiences[group] ?? Audience()
        audiences[group] = audience
        audience.add(AudienceCircle.Member(connection: connection, place: place), watching: filter)
    }

    func begin(_ watch: WatchedGroup, on host: GroupHost, in stream: inout WatchStream) {
        guard let since = watch.since else { return stream.offerSnapshot(of: watch.group, reason: .initial) }
        guard since.epoch == host.position.epoch, since.revision <= host.state.revision, since.revision >= 0 else {
            return stream.offerSnapshot(of: watch.group, reason: .otherEpoch)
        }
        guard since.revision >= host.index.oldest - 1 else {
            return stream.offerSnapshot(of: watch.group, reason: .tooOld)
        }
        stream.resume(watch.group, after: since.revision)
        for revision in since.revision..<host.state.revision {
            guard let recorded = host.recorded(revision + 1) else {
                return stream.offerSnapshot(of: watch.group, reason: .tooOld)
            }
            stream.offer(recorded)
        }
    }
}
