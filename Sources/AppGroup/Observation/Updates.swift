import Synchronization

extension GroupDefaults {
    /// What happens, as it happens: an `AsyncSequence` of changes, commits, values, errors or connection states.
    ///
    ///     for await change in settings.changes(for: "theme") {
    ///         print(change.old?.string ?? "nothing", "→", change.new?.string ?? "nothing")
    ///     }
    ///
    /// It listens from the call on that gave it, so that nothing is missed between the call and the loop. It ends when the
    /// task of the loop is cancelled, and by nothing else: a daemon that is away, or a group that is deleted, do not end it.
    /// Leaving the loop, or dropping the sequence, stops the listening.
    ///
    /// The consumer is never waited for. What it has not taken yet is kept within bounds, as the method says that gave the
    /// sequence. Elements come in the order of the group's revisions.
    ///
    /// A second loop over the same sequence listens from its own beginning.
    public struct Updates<Element: Sendable>: AsyncSequence, Sendable {
        /// It never throws.
        public typealias Failure = Never

        private let source: Source<Element>

        init(_ start: @escaping @Sendable () -> any Delivering<Element>) {
            source = Source(start)
        }

        /// Begins a loop: the first one with what has come since the sequence was made, another one from now on.
        public func makeAsyncIterator() -> Iterator {
            Iterator(delivery: source.take())
        }

        /// The position in one loop. To be used by one task at a time.
        public struct Iterator: AsyncIteratorProtocol {
            let delivery: any Delivering<Element>

            /// The next element; nil once the task is cancelled.
            public func next() async -> Element? {
                await delivery.next()
            }

            /// The next element; nil once the task is cancelled.
            public func next(isolation actor: isolated (any Actor)?) async -> Element? {
                await delivery.next()
            }
        }
    }
}

extension GroupDefaults.Updates {
    func compactMap<Result: Sendable>(
        _ transform: @escaping @Sendable (Element) -> Result?
    ) -> GroupDefaults.Updates<Result> {
        GroupDefaults.Updates<Result> { [source] in MappedDelivery(source.take(), transform) }
    }
}

/// Where iterators come from. The first one gets what has been gathered since the sequence was made.
private final class Source<Element: Sendable>: Sendable {
    private let start: @Sendable () -> any Delivering<Element>
    private let first: Mutex<(any Delivering<Element>)?>

    init(_ start: @escaping @Sendable () -> any Delivering<Element>) {
        self.start = start
        first = Mutex(start())
    }

    func take() -> any Delivering<Element> {
        first.withLock { $0.take() } ?? start()
    }
}
