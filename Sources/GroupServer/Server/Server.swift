import GroupCore
import GroupFiles
import GroupModel
import GroupProtocol
import GroupWatch
import LinuxIO
import PropertyList
import ServiceIO
import Varlink

/// All state of the daemon, and what ties its parts together. Not Sendable: it lives on the loop's thread, inside the
/// actor `Daemon`, and everything that comes from elsewhere (sockets, timers, workers, the watcher) enters through `turn`.
final class Server {
    let loop: EventLoop
    /// To come back to this thread from a worker.
    let post: @Sendable (@escaping @Sendable (Server) -> Void) -> Void
    let paths: Paths
    var configuration: Configuration
    /// The file named on the command line, for a reload.
    var configurationFile: String?
    let container: Container

    var hosts: [GroupIdentifier: GroupHost] = [:] {
        didSet { recentHost = nil }
    }
    var unopened = UnopenedGroups()
    /// Whether the loop will go on opening them.
    var isOpeningDue = false
    /// The one that was asked for last: whoever writes mostly writes to one group.
    var recentHost: GroupHost?
    /// Groups that are being made or removed on the worker, with those who wait for that.
    var transitions: [GroupIdentifier: [TransitionWaiter]] = [:]
    /// Groups whose journal cannot be read, with the reason: they are answered with it, and the others live on.
    var failedGroups: [GroupIdentifier: Problem] = [:]
    var connections: [UInt64: Connection] = [:]
    /// Who watches a group; it may be one that was deleted, since a watch outlives its group.
    var audiences: [GroupIdentifier: Audience] = [:]
    var nextConnection: UInt64 = 1
    var commitCount = 0
    /// What is taken back by itself, by group, as the files have it.
    var trials: [GroupIdentifier: [Trial]] = [:]

    let poller: Poller
    let fileWorker: WorkerThread
    let syncWorker: WorkerThread
    var directories = DirectoryTable()
    /// The groups whose documents somebody watches, and the directories watched for that.
    var documents: [GroupIdentifier: DocumentWatch] = [:]
    var documentDirectories = DirectoryTable()
    var nextDocumentWatch: UInt64 = 0
    var watcher: Watcher?
    /// What sandboxed applications may use.
    var policy = AccessPolicy()
    /// What administrators lay over and under groups.
    var layers: LayerTracking
    /// Whether new groups are noticed by events.
    var isRootWatched = false
    /// Whether other machines may make groups there, of which inotify tells nothing.
    var isRootOnNetwork = false
    var barriers: [UInt64: () -> Void] = [:]
    var nextBarrier: UInt64 = 1

    /// The sources of the loop; made by `Server+Sources`.
    var sources = ServerSources()
    var receiveBuffer = [UInt8](repeating: 0, count: 64 * 1024)
    /// Jobs run at once instead of on the worker: only before the daemon serves, and after.
    var runsJobsInline = true
    var isStopping = false
    /// The end was to come, and the disk did not let it in time.
    var hasGivenUp = false
    var idleExit = IdleExit(limit: nil)

    // What this turn has touched.
    private var dirtyHosts: [GroupHost] = []
    private var hostsToSync: [GroupHost] = []
    private var dirtyConnections: [Connection] = []
    /// The emptied array of the round before: its room serves the next one.
    private var spareConnections: [Connection] = []
    /// Observers may have to be told something, somebody waits for a sync, or messages are held for others.
    private var hasNews = false
    private var dirtyStreams: [Connection] = []
    /// Those who are to be told of this turn's commits.
    private var dirtyCircles: [AudienceCircle] = []
    private var turnTime: Timestamp?
    private var isInTurn = false
    /// The connection that was asked for last; never one that is closed.
    private var recentConnection: Connection?
    /// The messages of this turn's commits, which all observers of the whole group share. The commits are held too: an
    /// address alone could be another's by now.
    private var sharedMessages: [ObjectIdentifier: (of: RecordedCommit, bytes: [UInt8])] = [:]
    /// Whether the names of the root and of the state directory have been synced.
    var placesAreDurable = false
    let startTime = ProcessFacts.monotonicMicroseconds()

    init(
        loop: EventLoop, paths: Paths, configuration: Configuration,
        post: @escaping @Sendable (@escaping @Sendable (Server) -> Void) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.paths = paths
        self.configuration = configuration
        self.post = post
        container = Container(root: paths.root)
        layers = LayerTracking(paths.configuration)
        poller = try Poller()
        fileWorker = try WorkerThread(name: "files")
        syncWorker = try WorkerThread(name: "sync")
    }

    /// The time of this turn: the commits of one turn have one time.
    var now: Timestamp {
        if let turnTime { return turnTime }
        let time = Timestamp(microseconds: ProcessFacts.realtimeMicroseconds())
        turnTime = time
        return time
    }

    /// The time in a form for file names.
    var fileTimeText: String { now.rfc3339.filter { $0 != ":" } }
}

// MARK: - The turn

extension Server {
    /// Runs what an event brings, then does once what all of it needs: journal, replies, observers.
    func turn(_ body: () -> Void) {
        let isOuter = !isInTurn
        isInTurn = true
        body()
        guard isOuter else { return }
        endTurn()
        isInTurn = false
        turnTime = nil
    }

    func markDirty(_ host: GroupHost) {
        guard !host.isDirty else { return }
        host.isDirty = true
        dirtyHosts.append(host)
    }

    func markForSync(_ host: GroupHost) {
        if !hostsToSync.contains(where: { $0 === host }) { hostsToSync.append(host) }
        hasNews = true
    }

    func markDirty(_ connection: Connection) {
        guard !connection.isDirty else { return }
        connection.isDirty = true
        dirtyConnections.append(connection)
    }

    private func endTurn() {
        // Answers let calls go on that had to wait, and those may commit again: until nothing moves.
        repeat {
            flushJournals()
            sendReplies()
        } while serveWaitingCalls() || !dirtyHosts.isEmpty
        guard hasNews else { return }
        hasNews = false
        startSyncs()
        broadcast()
        drainStreams()
        if !sharedMessages.isEmpty { sharedMessages = [:] }
    }

    func flushJournals() {
        while let host = dirtyHosts.popLast() {
            host.isDirty = false
            host.flush()
            host.compactIfNeeded()
        }
    }

    private func startSyncs() {
        for host in hostsToSync { host.startSync() }
        hostsToSync = []
    }

    /// The writers get their replies before the observers get the news: an observer that reads again is told what it missed
    /// when this turn's commits are in its queue too. What its missed ones are put together to is made from the present
    /// state, which has them already.
    private func sendReplies() {
        for connection in dirtyConnections where !connection.isClosed {
            if connection.stream != nil { markStreamDirty(connection) } else { send(connection) }
        }
    }

    private func serveWaitingCalls() -> Bool {
        var dirty = dirtyConnections
        dirtyConnections = spareConnections
        spareConnections = []
        for connection in dirty { connection.isDirty = false }
        var hasServed = false
        // The others have been settled when they were sent to.
        for connection in dirty where !connection.isBetweenMessages && !connection.isClosed {
            if serve(connection) { hasServed = true }
            settle(connection)
        }
        dirty.removeAll(keepingCapacity: dirty.capacity <= Self.keptConnections)
        spareConnections = dirty
        return hasServed
    }

    private static let keptConnections = 64

    private func drainStreams() {
        let dirty = dirtyStreams
        dirtyStreams = []
        for connection in dirty {
            connection.isStreamDirty = false
            if !connection.isClosed { send(connection) }
        }
    }

    /// Sends until the socket is full or nothing is left. The rest goes when the socket is writable again.
    func send(_ connection: Connection) {
        connection.flush()
        while !connection.isBlocked, connection.stream != nil || connection.documents != nil {
            connection.drainDocuments()
            connection.drainStream(
                sizes: Self.replySizes, encode: message(of:), state: { hosts[$0]?.state })
            guard connection.hasOutgoing else { break }
            connection.flush()
        }
        settle(connection)
    }

    private static let replySizes = ReplySizes(
        snapshotPart: SettingsInterface.snapshotPartSize, commit: SettingsInterface.commitSize)

    private func message(of reply: WatchReply) -> [UInt8] {
        guard case .recorded(let recorded) = reply else { return reply.message }
        if let shared = sharedMessages[ObjectIdentifier(recorded)] { return shared.bytes }
        let bytes = reply.message
        sharedMessages[ObjectIdentifier(recorded)] = (recorded, bytes)
        hasNews = true
        return bytes
    }

    func isWatched(_ group: GroupIdentifier) -> Bool { !audiences.isEmpty && audiences[group] != nil }

    /// Has the observers told of a commit that the journal has, when the turn ends.
    func deliver(_ recorded: RecordedCommit) {
        guard let audience = audiences[recorded.commit.group] else { return }
        dirtyCircles += audience.take(recorded)
        hasNews = true
    }

    /// Sends this turn's commits: one text for all who have been told everything before; the others queue.
    private func broadcast() {
        for circle in dirtyCircles {
            let (text, first) = (circle.text, circle.commits.first?.commit.revision ?? 0)
            let isShort = text.count <= Connection.streamChunk
            for member in circle.members where !isShort || !send(text, from: first, to: member) {
                queue(circle, for: member)
            }
            circle.clear()
        }
        dirtyCircles.removeAll(keepingCapacity: true)
    }

    /// - Returns: false where the observer must queue.
    private func send(_ text: [UInt8], from revision: Int64, to member: AudienceCircle.Member) -> Bool {
        let connection = member.connection
        guard connection.confinement == nil, connection.isUpToDate(member.place, before: revision) else { return false }
        switch connection.sendAtOnce(text) {
        case .whole: return true
        case .part:
            settle(connection)
            return true
        case .nothing: return false
        }
    }

    private func queue(_ circle: AudienceCircle, for member: AudienceCircle.Member) {
        for recorded in circle.commits where mayUse(recorded.commit.group, member.connection) {
            member.connection.stream?.offer(recorded)
        }
        markStreamDirty(member.connection)
        if member.connection.stream?.isBehind == true {
            noteSlow(member.connection, circle.commits.first?.commit.group)
        }
    }

    /// Commits go before anything else that is said of a group.
    private func queueCommits() {
        for circle in dirtyCircles {
            for member in circle.members { queue(circle, for: member) }
            circle.clear()
        }
        dirtyCircles = []
    }

    /// Something else for a watch than a commit.
    func update(_ connection: Connection, _ body: (inout WatchStream) -> Void) {
        queueCommits()
        guard var stream = connection.stream else { return }
        connection.stream = nil
        body(&stream)
        connection.stream = stream
        markStreamDirty(connection)
    }

    func markStreamDirty(_ connection: Connection) {
        guard !connection.isStreamDirty else { return }
        connection.isStreamDirty = true
        dirtyStreams.append(connection)
        hasNews = true
    }

    func answer(_ target: Connection.ReplyTarget, with reply: [UInt8]) {
        guard let serial = target.serial, let connection = connection(target.connection) else { return }
        connection.fill(serial, with: reply)
        markDirty(connection)
    }

    /// The same for this call and so many behind it, with messages that `write` puts out one behind the other.
    ///
    /// - Returns: false where it is not their turn yet: each is to be answered by itself then.
    func answer(
        _ target: Connection.ReplyTarget, and others: Int, writing write: (inout [UInt8]) -> Void
    ) -> Bool {
        guard let serial = target.serial, let connection = connection(target.connection),
            connection.fill(serial, and: others, writing: write)
        else { return false }
        markDirty(connection)
        return true
    }

    /// The connection, unless it is closed. Mostly it is the one of the call before.
    func connection(_ id: UInt64) -> Connection? {
        if let recentConnection, recentConnection.id == id { return recentConnection }
        recentConnection = connections[id]
        return recentConnection
    }

    func forget(_ connection: Connection) {
        if recentConnection === connection { recentConnection = nil }
    }
}
