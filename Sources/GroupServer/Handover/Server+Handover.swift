import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import PropertyList
package import ServiceIO
import Synchronization
import Varlink

/// A restart that nobody notices: what this daemon leaves to the next, and what it takes over from the one before.
extension Server {
    /// The names in the manager's store.
    static let storedClient = "appgroupd-client"
    static let storedState = "appgroupd-state"
    /// How long the manager may take to hear of the descriptors, in microseconds.
    private static let hearingTime: UInt64 = 5_000_000

    /// Gives the connections to the manager, which keeps them over a restart and closes them where the service ends. Those
    /// with a call under way are not among them: their clients find them closed, and connect again.
    func leaveConnections() {
        let standing = connections.values.filter { !$0.isClosed }.compactMap { connection in
            client(connection).map { (connection, $0) }
        }
        guard !standing.isEmpty, ServiceManager.hasStore else { return }
        let text = Handover(clients: standing.map(\.1)).encoded
        do throws(SystemError) {
            let state = try FileDescriptor.sealed(Self.storedState, text)
            guard ServiceManager.store([state.raw], name: Self.storedState),
                ServiceManager.store(standing.map { $0.0.socket.raw }, name: Self.storedClient)
            else { return }
        } catch {
            return Log.warning("the clients' connections cannot be kept over a restart: \(error)")
        }
        // Before we are gone: what the manager hears of later it could not keep.
        ServiceManager.waitUntilHeard(microseconds: Self.hearingTime)
        for (connection, _) in standing { letGo(of: connection) }
    }

    private func client(_ connection: Connection) -> Handover.Client? {
        guard let rest = connection.rest, let status = try? connection.socket.descriptor.status() else { return nil }
        var client = Handover.Client(
            inode: Int64(bitPattern: status.inode), input: rest.input, output: rest.output,
            owesFirstReply: connection.owesFirstReply)
        if let stream = connection.stream {
            guard let standings = stream.standings(now: { hosts[$0]?.state.revision }) else { return nil }
            client.watches = connection.watches.compactMap { watch in
                standings[watch.group].map {
                    Handover.Watch(
                        group: watch.group, keys: watch.keys, standing: $0, epoch: hosts[watch.group]?.position.epoch)
                }
            }
        }
        if let documents = connection.documents, let group = connection.watchedDocuments {
            client.documents = Handover.Documents(group: group, path: documents.path?.string)
        }
        return client
    }
}

// MARK: - The daemon that starts

extension Server {
    /// Goes on with the connections of the daemon before. All groups are known, and nothing was served yet.
    func takeOver(_ inheritance: Inheritance) {
        let clients = Dictionary(inheritance.handover.clients.map { ($0.inode, $0) }) { first, _ in first }
        var count = 0
        for number in inheritance.takeConnections() {
            let socket = UnixSocket(owning: number)
            guard let status = try? socket.descriptor.status(), status.kind == .socket,
                let client = clients[Int64(bitPattern: status.inode)],
                let connection = admit(socket)
            else { continue }
            resume(connection, as: client)
            count += 1
        }
        // The manager's copies would keep connections open that we close.
        ServiceManager.forgetStored(Self.storedClient)
        ServiceManager.forgetStored(Self.storedState)
        if count > 0 { Log.info("\(count) connections go on from before the restart") }
    }

    private func resume(_ connection: Connection, as client: Handover.Client) {
        connection.restore(input: client.input, output: client.output)
        if let watches = client.watches {
            resume(watches, on: connection)
            connection.owesFirstReply = client.owesFirstReply
        } else if let documents = client.documents {
            resume(documents, on: connection)
            connection.owesFirstReply = client.owesFirstReply
        }
        markDirty(connection)
    }

    private func resume(_ watches: [Handover.Watch], on connection: Connection) {
        var stream = WatchStream(watches.map { ($0.group, KeyFilter($0.keys)) }, limit: configuration.queueSize)
        for watch in watches {
            // Whatever became of the group: a watch outlives it.
            if let host = try? openedHost(watch.group) {
                host.flush()
                resume(watch, on: host, in: &stream)
            } else {
                if watch.standing != .gone {
                    stream.offerDeletion(of: watch.group)
                } else {
                    stream.markGone(watch.group)
                }
            }
            join(connection, watch.group, KeyFilter(watch.keys), stream)
        }
        connection.stream = stream
        connection.watches = watches.map { WatchedGroup(group: $0.group, keys: $0.keys) }
        connection.resumeStreaming()
        markStreamDirty(connection)
    }

    private func resume(_ watch: Handover.Watch, on host: GroupHost, in stream: inout WatchStream) {
        switch watch.standing {
        case .at(let revision):
            let since = watch.epoch.map { Position(epoch: $0, revision: revision) }
            begin(WatchedGroup(group: watch.group, keys: watch.keys, since: since), on: host, in: &stream)
        case .snapshot(let reason): stream.offerSnapshot(of: watch.group, reason: reason)
        case .gone: stream.offerSnapshot(of: watch.group, reason: .otherEpoch)
        }
    }

    private func resume(_ documents: Handover.Documents, on connection: Connection) {
        let path = documents.path.flatMap(DocumentPath.init)
        let watch = documentWatch(of: documents.group)
        watch.observers.insert(connection.id)
        connection.documents = DocumentQueue(path: path, limit: configuration.queueSize)
        connection.watchedDocuments = documents.group
        connection.resumeStreaming()
        // Nobody saw what happened meanwhile.
        connection.documents?.offerRescan()
        if watch.isReady { beginTelling(connection) }
        markStreamDirty(connection)
    }
}

/// What the manager's store held for this start.
package final class Inheritance: Sendable {
    static let names = [Server.storedClient, Server.storedState]

    let handover: Handover
    private let connections: Mutex<[Int32]>

    /// Takes what is ours of the passed descriptors. Nil where nothing usable is; the descriptors are closed then.
    package init?(_ passed: [ServiceManager.PassedDescriptor]) {
        let numbers = passed.filter { $0.name == Server.storedClient }.map(\.rawValue)
        connections = Mutex(numbers)
        let state = passed.filter { $0.name == Server.storedState }.map { FileDescriptorBox($0.rawValue) }
        guard let text = state.first?.sealedText, let handover = Handover(text) else {
            self.handover = Handover(clients: [])
            if !numbers.isEmpty || !state.isEmpty {
                ServiceManager.forgetStored(Server.storedClient)
                ServiceManager.forgetStored(Server.storedState)
            }
            closeConnections()
            return nil
        }
        self.handover = handover
    }

    deinit { closeConnections() }

    func takeConnections() -> [Int32] {
        connections.withLock { numbers in
            defer { numbers = [] }
            return numbers
        }
    }

    private func closeConnections() {
        for number in takeConnections() { FileDescriptor(owning: number).close() }
    }
}

/// An owner that can be in an array.
private final class FileDescriptorBox {
    private let descriptor: FileDescriptor

    init(_ number: Int32) {
        descriptor = FileDescriptor(owning: number)
    }

    /// The largest state that is believed, in bytes.
    private static let sizeLimit = 256 << 20

    /// Nil unless nobody can change it while it is read.
    var sealedText: [UInt8]? {
        guard descriptor.isSealed, let size = try? descriptor.status().size, size <= Self.sizeLimit else { return nil }
        return try? descriptor.pread(count: Int(size), at: 0)
    }
}
