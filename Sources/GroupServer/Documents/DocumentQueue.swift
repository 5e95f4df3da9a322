import GroupProtocol
import PropertyList

/// One `WatchDocuments`: what it has not been told yet. One change a file at most, and a bound on all of them, so that an
/// observer that does not read costs little. A plain value, owned by its connection.
struct DocumentQueue {
    /// Only this file is of interest; nil: all are.
    let path: DocumentPath?
    /// Nothing is told, not even that the watch stands, before everything is watched.
    var isReady = false
    /// The bound, in bytes of paths and what a change costs beside its path.
    private let limit: Int
    private static let costOfChange = 64

    private var pending: [DocumentPath: DocumentChange] = [:]
    /// In the order of the first change that waits; what has vanished from `pending` is passed over.
    private var order: [DocumentPath] = []
    private var head = 0
    private(set) var waitingSize = 0
    private var needsRescan = false

    init(path: DocumentPath?, limit: Int) {
        self.path = path
        self.limit = limit
    }

    /// - Returns: whether there is something to send.
    mutating func offer(_ change: DocumentChange, of path: DocumentPath) -> Bool {
        guard self.path == nil || self.path == path else { return false }
        // What is to be looked at anew covers it.
        guard !needsRescan else { return true }
        if let earlier = pending[path] {
            pending[path] = earlier.followed(by: change)
            if pending[path] == nil { waitingSize -= Self.cost(of: path) }
        } else {
            pending[path] = change
            order.append(path)
            waitingSize += Self.cost(of: path)
        }
        if waitingSize > limit || order.count - head > 2 * pending.count + 1024 { bound() }
        return true
    }

    mutating func offerRescan() {
        (pending, order, head, waitingSize) = ([:], [], 0, 0)
        needsRescan = true
    }

    mutating func next() -> DocumentEvent? {
        guard isReady else { return nil }
        if needsRescan {
            needsRescan = false
            return .rescan
        }
        while head < order.count {
            let path = order[head]
            head += 1
            guard let change = pending.removeValue(forKey: path) else { continue }
            waitingSize -= Self.cost(of: path)
            return .change(change)
        }
        (order, head) = ([], 0)
        return nil
    }

    private mutating func bound() {
        if waitingSize > limit { return offerRescan() }
        var seen: Set<DocumentPath> = []
        order = order[head...].filter { pending[$0] != nil && seen.insert($0).inserted }
        head = 0
    }

    private static func cost(of path: DocumentPath) -> Int { path.string.utf8.count + costOfChange }
}

extension DocumentChange {
    /// Both as one, for who has seen neither; nil when nothing is left of them.
    fileprivate func followed(by later: DocumentChange) -> DocumentChange? {
        var both = later
        switch (kind, later.kind) {
        case (.created, .deleted): return nil
        case (.created, _): both.kind = .created
        case (.deleted, .created), (.changed, .created): both.kind = .changed
        default: break
        }
        return both
    }
}
