/// One observation by an asynchronous sequence: what comes, who waits for it, and its end.
///
/// Pure: it says what is to be done with the waiting consumer, and `Delivery` does it once its lock is released. There is
/// one consumer; a second one that waits at the same time ends the first one's wait.
struct DeliveryMachine<Pending: PendingNews, Waiter: Sendable>: Sendable {
    private enum State: Sendable {
        /// Nobody waits.
        case gathering
        /// The consumer waits, and nothing is pending.
        case waiting(Waiter)
        /// Cancelled: nothing comes any more.
        case ended
    }

    /// What is to be done with a consumer: resume it with an element, or with the end.
    struct Resumption: Sendable {
        var waiter: Waiter
        var element: Pending.Element?
    }

    private var state = State.gathering
    private var pending: Pending

    init(_ pending: Pending) {
        self.pending = pending
    }

    mutating func add(_ news: Pending.News) -> Resumption? {
        if case .ended = state { return nil }
        pending.add(news)
        guard case .waiting(let waiter) = state, let element = pending.take() else { return nil }
        state = .gathering
        return Resumption(waiter: waiter, element: element)
    }

    /// The consumer asks for the next element; it waits unless it is resumed.
    mutating func wait(_ waiter: Waiter) -> [Resumption] {
        switch state {
        case .ended: return [Resumption(waiter: waiter, element: nil)]
        case .waiting(let earlier):
            state = .waiting(waiter)
            return [Resumption(waiter: earlier, element: nil)]
        case .gathering:
            if let element = pending.take() { return [Resumption(waiter: waiter, element: element)] }
            state = .waiting(waiter)
            return []
        }
    }

    mutating func end() -> Resumption? {
        defer { state = .ended }
        guard case .waiting(let waiter) = state else { return nil }
        return Resumption(waiter: waiter, element: nil)
    }
}
