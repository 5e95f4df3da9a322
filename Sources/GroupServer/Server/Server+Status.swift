import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import Varlink

extension Server {
    func statusReply(observers: Bool) -> [UInt8] {
        openRest()
        let status = DaemonStatus(
            version: Version.string,
            uptime: Double(ProcessFacts.monotonicMicroseconds() - startTime) / 1e6,
            durability: configuration.durability, clients: connections.count, watches: watchCount,
            commits: commitCount, groups: hosts.values.sorted { $0.identifier < $1.identifier }.map(groupStatus),
            problems: failedGroups.sorted { $0.key < $1.key }.map(\.value) + layers.scan.problems, root: paths.root,
            state: paths.state, observers: observers ? self.observers : nil)
        var writer = JSONWriter(capacity: 1024)
        writer.write(status)
        return Reply.bytes(parameters: writer.bytes)
    }

    private func groupStatus(_ host: GroupHost) -> GroupStatus {
        host.flush()
        return GroupStatus(
            group: host.identifier, position: host.position, keys: host.state.count, bytes: host.state.size,
            watchers: audiences[host.identifier]?.memberCount ?? 0, plist: host.condition,
            watching: isPolled(host) ? .polling : .inotify, problem: host.plist.obstacle?.problem ?? host.failure)
    }

    private var observers: [ObserverStatus] {
        connections.values.sorted { $0.id < $1.id }.compactMap { connection in
            connection.stream.map { stream in
                let pid = connection.credentials.pid
                return ObserverStatus(
                    client: ProcessFacts.name(ofProcess: pid), processId: pid, groups: Array(stream.groups),
                    waiting: connection.outgoingSize + stream.waitingSize)
            }
        }
    }

    var watchCount: Int { connections.values.count { $0.stream != nil || $0.documents != nil } }

    /// What systemd shows: told at most once in a while, since clients come and go.
    func statusChanged() {
        guard !runsJobsInline else { return }
        sources.statusIsDue()
    }

    var statusText: String {
        [
            Self.count(hosts.count + unopened.count, "group", "groups"),
            Self.count(connections.count, "client", "clients"), Self.count(watchCount, "watch", "watches"),
        ].joined(separator: ", ")
    }

    private static func count(_ count: Int, _ one: String, _ many: String) -> String {
        "\(count) \(count == 1 ? one : many)"
    }
}

extension GroupHost {
    var condition: PlistCondition {
        switch plist.obstacle {
        case .damaged?: .damaged
        case .readOnly?: .readOnly
        case .unreachable?: .unreachable
        case nil: plist.base.hasUnwritten ? .pending : .clean
        }
    }

    var failure: Problem? {
        plist.lastFailure.map { Problem(reason: "the property list cannot be written: \($0)", path: plist.file.path) }
    }
}
