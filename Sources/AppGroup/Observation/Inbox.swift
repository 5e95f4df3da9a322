import Synchronization

/// The door between what is observed and one observer: what comes before it opens is kept, and goes first, in order.
///
/// An observer is added before it can be told with what it begins; so that nothing is missed in between, and nothing comes
/// before the beginning, its news wait here. Safe for any thread; the observer is called outside the lock.
final class Inbox<News: Sendable>: Sendable {
    private struct State {
        var early: [News] = []
        var observer: (@Sendable (News) -> Void)?
    }

    private let state = Mutex(State())

    func receive(_ news: News) {
        let observer = state.withLock { state in
            if state.observer == nil { state.early.append(news) }
            return state.observer
        }
        observer?(news)
    }

    func open(_ observer: @escaping @Sendable (News) -> Void) {
        while true {
            // Until the early news are handed on, more of them only queue up.
            let early = state.withLock { state -> [News] in
                if state.early.isEmpty { state.observer = observer }
                defer { state.early = [] }
                return state.early
            }
            if early.isEmpty { return }
            for news in early { observer(news) }
        }
    }
}
