import Synchronization

// Observation: what others do to the file. The feed says when to look; what is seen is compared with what the observer saw
// last, so that nothing is told twice, and nothing of this object's own.

extension SharedDocument {
    /// What somebody else has made of the file.
    public struct Change: Sendable {
        /// The new content; nil when the file is gone, or cannot be read.
        public let content: Content?
        /// Why the file cannot be read: it is damaged, for instance. What was there before is still the last good content.
        public let error: AppGroupError?

        /// Whether the file is gone.
        public var isDeletion: Bool { content == nil && error == nil }
    }

    /// What was found in the file.
    enum Seen: Equatable, Sendable {
        case content(DocumentFile.Content)
        case unreadable(AppGroupError)

        var source: DocumentFile.Content? {
            if case .content(let content) = self { content } else { nil }
        }
    }

    struct Observer {
        /// Nil: nothing yet.
        var last: Seen?
        var tell: @Sendable (News) -> Void
    }

    /// A change on its way to its observer.
    struct News: Sendable {
        var change: Change
        var source: DocumentFile.Content?
        /// How often this object had saved when it was found.
        var saves: UInt64
    }

    /// What others make of the file: other programs, editors, other objects of this process. Saves of this object are none.
    ///
    ///     for await change in notes.changes {
    ///         if let content = change.content { show(content) }
    ///     }
    ///
    /// It listens from here on; what has changed since this object last read or saved comes first. The newest content wins
    /// for a slow consumer. A content that came this way counts as read: it can be changed and saved. It ends when the task of
    /// the loop is cancelled; a daemon that is away, or a group that is deleted, do not end it.
    public var changes: GroupDefaults.Updates<Change> {
        updates { $0.state.withLock { $0.base }.map(Seen.content) ?? $0.present() }
    }

    /// The content, now and whenever others change it; nil while there is no file. What cannot be read is left out.
    ///
    ///     for await notes in notes.contents { show(notes ?? []) }
    public var contents: GroupDefaults.Updates<Content?> {
        updates { _ in nil }.compactMap { change in change.error == nil ? .some(change.content) : nil }
    }

    /// Calls back for every change that others make, as ``changes`` has it.
    ///
    /// The callback runs on the library's own thread, one call at a time. It may load, save, and cancel.
    ///
    /// - Parameter callback: called with the change.
    /// - Returns: the observation, which ends with this object: keep it.
    public func observe(_ callback: @escaping @Sendable (Change) -> Void) -> ObservationToken {
        let isCancelled = ObservationToken.Flag()
        let last = state.withLock { $0.base }.map(Seen.content) ?? present()
        let id = addObserver(after: last) { [weak self] news in
            guard !isCancelled.value else { return }
            self?.noteTaken(news)
            callback(news.change)
        }
        return ObservationToken(isCancelled) { self.removeObserver(id) }
    }

    private func updates(
        after last: @escaping @Sendable (SharedDocument) -> Seen?
    ) -> GroupDefaults.Updates<Change> {
        GroupDefaults.Updates { [self] in
            let delivery = Delivery<PendingNewest<News>> { inbox in
                let id = addObserver(after: last(self)) { inbox.receive($0) }
                return (PendingNewest(), { self.removeObserver(id) })
            }
            return MappedDelivery(delivery) { news in
                self.noteTaken(news)
                return news.change
            }
        }
    }
}

/// The newest only.
struct PendingNewest<Element: Sendable>: PendingNews {
    private var pending: Element?

    mutating func add(_ news: Element) {
        pending = news
    }

    mutating func take() -> Element? {
        pending.take()
    }
}

// MARK: - Observers

extension SharedDocument {
    private func addObserver(after last: Seen?, _ tell: @escaping @Sendable (News) -> Void) -> UInt64 {
        let id = state.withLock { state in
            let id = state.nextObserver
            state.nextObserver += 1
            state.observers[id] = Observer(last: last, tell: tell)
            return id
        }
        // Asks to look at once, so the one for a newer observer takes the place of the older ones'.
        let number = feed.add(file.path) { [weak self] isSecond in self?.look(isSecond: isSecond) ?? false }
        replaceFeedNumber(by: number)
        return id
    }

    private func removeObserver(_ id: UInt64) {
        let number = state.withLock { state -> UInt64? in
            state.observers[id] = nil
            return state.observers.isEmpty ? state.feedNumber.take() : nil
        }
        if let number { feed.remove(number) }
    }

    private func replaceFeedNumber(by number: UInt64) {
        let unneeded = state.withLock { state -> UInt64? in
            guard !state.observers.isEmpty else { return number }
            defer { state.feedNumber = number }
            return state.feedNumber
        }
        if let unneeded { feed.remove(unneeded) }
    }

    /// The consumer has it now, and may base the next save on it.
    private func noteTaken(_ news: News) {
        guard let source = news.source else { return }
        state.withLock { state in
            if state.saves == news.saves { state.base = source }
        }
    }

    private func present() -> Seen {
        do throws(AppGroupError) {
            return .content(try file.read())
        } catch {
            return .unreadable(error)
        }
    }

    // MARK: Looking, on the feed's thread

    /// - Returns: whether a second look is wanted: who saves may be between two steps.
    private func look(isSecond: Bool) -> Bool {
        while true {
            let (seen, saves, isNews) = state.withLock { state in
                let seen = present()
                return (seen, state.saves, state.observers.values.contains { $0.last != seen })
            }
            guard isNews else { return false }
            let change = change(of: seen)
            if change.content == nil, !isSecond { return true }
            let news = News(change: change, source: change.error == nil ? seen.source : nil, saves: saves)
            if tell(news, seen) { return false }
        }
    }

    /// - Returns: false when this object has saved since, so that it has to be looked at again.
    private func tell(_ news: News, _ seen: Seen) -> Bool {
        let callbacks = state.withLock { state -> [@Sendable (News) -> Void]? in
            guard state.saves == news.saves else { return nil }
            var callbacks: [(UInt64, @Sendable (News) -> Void)] = []
            for (id, observer) in state.observers where observer.last != seen {
                state.observers[id]?.last = seen
                callbacks.append((id, observer.tell))
            }
            return callbacks.sorted { $0.0 < $1.0 }.map(\.1)
        }
        guard let callbacks else { return false }
        for callback in callbacks { callback(news) }
        return true
    }

    private func change(of seen: Seen) -> Change {
        switch seen {
        case .unreadable(let error): return Change(content: nil, error: error)
        case .content(let source):
            do throws(AppGroupError) {
                return Change(content: try content(of: source), error: nil)
            } catch {
                return Change(content: nil, error: error)
            }
        }
    }
}
