import AppGroup
import Synchronization

/// An observer of all keys that checks each change against the one before it: `old` is what `new` was, equal values do not
/// come, revisions grow. Any thread.
final class ChainCheck: Sendable {
    private struct State {
        var values: [String: StoredValue] = [:]
        var revision = 0
        var changes = 0
    }

    private let state = Mutex(State())
    private let token = Mutex<ObservationToken?>(nil)

    init(_ settings: GroupDefaults) {
        let token = settings.observe(matching: "*", initial: true) { [weak self] change in self?.take(change) }
        self.token.withLock { $0 = token }
    }

    private func take(_ change: GroupDefaults.Change) {
        let problem = state.withLock { state -> String? in
            let before = state.values[change.key]
            state.values[change.key] = change.new
            if change.isInitial { return nil }
            state.changes += 1
            defer { state.revision = max(state.revision, change.revision ?? 0) }
            if change.old == change.new { return "\(change.key) changed to what it was" }
            if let revision = change.revision, revision < state.revision {
                return "revision \(revision) of \(change.key) after \(state.revision)"
            }
            if before == change.old { return nil }
            return "\(change.key) was \(Self.text(before)), and changes from \(Self.text(change.old))"
        }
        if let problem { Report.complain(problem) }
    }

    func isTold(_ key: String, _ text: String) -> Bool {
        state.withLock { $0.values[key]?.string == text }
    }

    /// What it has been told is what there is. To be called when nothing changes any more.
    func finish(_ settings: GroupDefaults) {
        let (told, count) = state.withLock { ($0.values, $0.changes) }
        let values = settings.ownDictionary()
        for key in Set(told.keys).union(values.keys).sorted() {
            let (seen, own) = (Digest.canonical(told[key]?.object), Digest.canonical(values[key]))
            if seen != own { Report.complain("\(key) is \(own.prefix(80)), and was told as \(seen.prefix(80))") }
        }
        Report.say("changes \(count)")
    }

    private static func text(_ value: StoredValue?) -> String {
        String(Digest.canonical(value?.object).prefix(80))
    }
}
