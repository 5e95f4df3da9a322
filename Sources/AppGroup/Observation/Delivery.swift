import Synchronization

/// Where the iterator of a sequence gets its elements.
protocol Delivering<Element>: AnyObject, Sendable {
    associatedtype Element: Sendable

    /// The next element; nil once the observation has ended, or when the task is cancelled, which ends it.
    func next() async -> Element?
}

/// The storage of one observation: the machine under its lock, and the way back to what is observed.
///
/// Safe for any thread. Owned by a sequence or its iterator: when that goes, or the consumer's task is cancelled, the
/// observer is removed. The consumer is resumed outside the lock.
final class Delivery<Pending: PendingNews>: Delivering {
    private typealias Machine = DeliveryMachine<Pending, CheckedContinuation<Pending.Element?, Never>>

    private let machine: Mutex<Machine>
    /// Removes the observer, and keeps what is observed until then; taken by whoever ends the observation.
    private let removal: Mutex<(@Sendable () -> Void)?>

    /// - Parameter start: adds an observer that hands its news to the inbox; it gives what was there at that moment, and the
    ///   observer's removal.
    init(_ start: (Inbox<Pending.News>) -> (Pending, @Sendable () -> Void)) {
        let inbox = Inbox<Pending.News>()
        let (pending, remove) = start(inbox)
        machine = Mutex(Machine(pending))
        removal = Mutex(remove)
        inbox.open { [weak self] news in self?.add(news) }
    }

    deinit {
        let remove = removal.withLock { $0.take() }
        remove?()
    }

    private func add(_ news: Pending.News) {
        let resumption = machine.withLock { $0.add(news) }
        resumption?.perform()
    }

    func next() async -> Pending.Element? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let resumptions = machine.withLock { $0.wait(continuation) }
                for resumption in resumptions { resumption.perform() }
            }
        } onCancel: {
            end()
        }
    }

    private func end() {
        let resumption = machine.withLock { $0.end() }
        resumption?.perform()
        let remove = removal.withLock { $0.take() }
        remove?()
    }
}

extension DeliveryMachine.Resumption where Waiter == CheckedContinuation<Pending.Element?, Never> {
    fileprivate func perform() {
        waiter.resume(returning: element)
    }
}

/// A delivery of nothing, for as long as its task goes on.
final class NoDelivery<Element: Sendable>: Delivering {
    func next() async -> Element? {
        let forever = Delivery<PendingQueue<Element>> { _ in (PendingQueue(), {}) }
        return await forever.next()
    }
}

/// A delivery whose elements are made into others; those of which nothing is made are left out.
final class MappedDelivery<Base: Sendable, Element: Sendable>: Delivering {
    private let base: any Delivering<Base>
    private let transform: @Sendable (Base) -> Element?

    init(_ base: any Delivering<Base>, _ transform: @escaping @Sendable (Base) -> Element?) {
        (self.base, self.transform) = (base, transform)
    }

    func next() async -> Element? {
        while let element = await base.next() {
            if let result = transform(element) { return result }
        }
        return nil
    }
}
