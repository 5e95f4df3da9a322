import CShims
import GroupClient
import GroupModel
import GroupProtocol
import Synchronization
import Varlink

/// The process's watch of one group's documents: a connection and a thread of its own, which are there as long as somebody
/// observes a document of the group. It says "look"; who observes looks, and knows what is new to him.
///
/// Safe for any thread. Observers are called on the feed's thread, one after the other, and no lock is held meanwhile: they
/// may add and remove observers.
final class DocumentFeed: Sendable {
    /// Looks at the file. Told whether it is the second look, which counts; answers whether it wants one.
    typealias Look = @Sendable (_ isSecond: Bool) -> Bool

    private struct Observer {
        var path: DocumentPath
        var look: Look
    }

    private struct State {
        var observers: [UInt64: Observer] = [:]
        /// Have not looked yet.
        var fresh: Set<UInt64> = []
        var next: UInt64 = 1
        var hasThread = false
    }

    private struct Key: Hashable {
        var address: String
        var group: GroupIdentifier
    }

    /// One for each group that was ever observed.
    private static let feeds = Mutex<[Key: DocumentFeed]>([:])

    private let address: DaemonAddress
    private let group: GroupIdentifier
    private let wake: Int32
    private let state = Mutex(State())

    /// How long whoever saves has for his next step, in seconds.
    private static let settleTime = 0.05

    static func of(_ group: GroupIdentifier, _ address: DaemonAddress) -> DocumentFeed {
        feeds.withLock { feeds in
            let key = Key(address: address.path, group: group)
            if let feed = feeds[key] { return feed }
            let feed = DocumentFeed(group, address)
            feeds[key] = feed
            return feed
        }
    }

    private init(_ group: GroupIdentifier, _ address: DaemonAddress) {
        self.group = group
        self.address = address
        wake = cshim_wake_create()
    }

    /// Adds an observer, which is asked to look at once.
    func add(_ path: DocumentPath, _ look: @escaping Look) -> UInt64 {
        let (id, isFirst) = state.withLock { state in
            let id = state.next
            state.next += 1
            state.observers[id] = Observer(path: path, look: look)
            state.fresh.insert(id)
            defer { state.hasThread = true }
            return (id, !state.hasThread)
        }
        if isFirst { LinkThread.start(named: "appgroup-docs") { self.run() } }
        wakeThread()
        return id
    }

    func remove(_ id: UInt64) {
        state.withLock { state in
            state.observers[id] = nil
            state.fresh.remove(id)
        }
        wakeThread()
    }

    private func wakeThread() {
        if wake >= 0 { cshim_wake_signal(wake) }
    }

    // MARK: The thread

    /// What the thread alone uses.
    private struct Work: ~Copyable {
        var channel: Channel?
        /// The group exists, by the daemon's word on this connection.
        var hasGroup = false
        var attempts = 0
        var retryAt = Deadline(afterSeconds: 0)
        /// Those who want a second look, and when.
        var second: Set<UInt64> = []
        var secondAt = Deadline.never
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
    }

    private func run() {
        var work = Work()
        while !endIfUnused() {
            look(takeFresh(), isSecond: false, &work)
            if work.channel == nil, work.retryAt.isOver { connect(&work) }
            wait(&work)
            if work.secondAt.isOver {
                let due = work.second
                (work.second, work.secondAt) = ([], .never)
                look(due, isSecond: true, &work)
            }
            if work.channel != nil, !receive(&work) { disconnect(&work) }
        }
    }

    private func endIfUnused() -> Bool {
        state.withLock { state in
            if state.observers.isEmpty { state.hasThread = false }
            return state.observers.isEmpty
        }
    }

    private func takeFresh() -> Set<UInt64> {
        state.withLock { state in
            defer { state.fresh = [] }
            return state.fresh
        }
    }

    private func wait(_ work: inout Work) {
        let events = work.channel?.hasOutgoing == true ? CSHIM_POLLIN | CSHIM_POLLOUT : CSHIM_POLLIN
        let deadline = work.channel == nil ? work.retryAt.earlier(of: work.secondAt) : work.secondAt
        _ = cshim_poll(work.channel?.descriptor ?? -1, events, wake, deadline.milliseconds)
        cshim_wake_drain(wake)
    }

    private func look(_ ids: Set<UInt64>, isSecond: Bool, _ work: inout Work) {
        for id in ids.sorted() {
            guard let look = state.withLock({ $0.observers[id]?.look }) else { continue }
            guard look(isSecond) else { continue }
            if work.second.isEmpty { work.secondAt = Deadline(afterSeconds: Self.settleTime) }
            work.second.insert(id)
        }
    }
}

// MARK: - The connection

extension DocumentFeed {
    private func connect(_ work: inout Work) {
        do throws(UnixSocket.Failure) {
            let channel = try Channel(connectingTo: address.path)
            // A group that was deleted meanwhile is made again: whoever observes a document wants it to be there.
            channel.enqueue(Request.createGroup(group).callBytes)
            channel.enqueue(Request.watchDocuments(group, path: nil).callBytes)
            _ = channel.flush()
            (work.channel, work.hasGroup) = (channel, false)
        } catch {
            disconnect(&work)
        }
    }

    /// Waits a little longer each time, by a random part, so that many clients do not come back all at once.
    private func disconnect(_ work: inout Work) {
        work.channel = nil
        work.attempts += 1
        let longest = min(0.01 * Double(1 << min(work.attempts, 7)), 1)
        work.retryAt = Deadline(afterSeconds: Double.random(in: longest / 2...longest))
    }

    /// - Returns: false when the connection is over.
    private func receive(_ work: inout Work) -> Bool {
        guard let channel = work.channel, channel.flush() else { return false }
        let isOpen = channel.receive(into: &work.buffer)
        do throws(ProtocolViolation) {
            while let reply = try channel.nextReply() {
                guard take(reply, &work) else { return false }
            }
        } catch {
            return false
        }
        return isOpen
    }

    private func take(_ reply: Reply, _ work: inout Work) -> Bool {
        guard reply.error == nil else { return false }
        guard work.hasGroup else {
            work.hasGroup = true
            return true
        }
        guard let event = DocumentEvent(wire: reply.parameters) else { return true }
        work.attempts = 0
        switch event {
        // What happened before, while nobody told: everybody looks.
        case .established, .rescan: look(observers { _ in true }, isSecond: false, &work)
        case .change(let change):
            guard let path = DocumentPath(change.path) else { return true }
            look(observers { $0 == path }, isSecond: false, &work)
        }
        return true
    }

    private func observers(_ isMeant: (DocumentPath) -> Bool) -> Set<UInt64> {
        state.withLock { state in Set(state.observers.filter { isMeant($0.value.path) }.keys) }
    }
}
