import AppGroup
import Synchronization

/// A document that all processes of the load change and watch: everybody counts in an entry of his own.
///
/// Any thread. What is told of the document must be whole, and no count in it may ever go back.
final class LoadDocument: Sendable {
    static let name = "load.json"

    private struct Told {
        var counts: [String: Int] = [:]
        var changes = 0
    }

    private let document: SharedDocument<[String: Int]>
    private let told = Mutex(Told())
    private let token = Mutex<ObservationToken?>(nil)

    /// Nil when the group has no directory, which is complained of.
    init?(group: String) {
        do throws(AppGroupError) {
            document = try SharedDocument(Self.name, in: try GroupContainer(suiteName: group, within: 60))
        } catch {
            Report.complain("document: \(error)")
            return nil
        }
        let token = document.observe { [weak self] change in self?.take(change) }
        self.token.withLock { $0 = token }
    }

    /// One more for a name, on top of whatever the others have saved.
    func count(_ name: String) {
        do {
            try document.update(default: [:]) { $0[name, default: 0] += 1 }
        } catch {
            Report.complain("document: \(error)")
        }
    }

    /// Reads, and begins and ends an observation.
    func look() {
        let token = document.observe { _ in }
        do throws(AppGroupError) { _ = try document.load() } catch { Report.complain("document: \(error)") }
        token.cancel()
    }

    private func take(_ change: SharedDocument<[String: Int]>.Change) {
        guard let content = change.content else {
            return Report.complain("document: \(change.error.map { "\($0)" } ?? "deleted")")
        }
        let problem = told.withLock { told -> String? in
            let gone = told.counts.first { content[$0.key, default: 0] < $0.value }
            told.counts = content
            told.changes += 1
            return gone.map { "\($0.key) was \($0.value) in the document, and is \(content[$0.key, default: 0])" }
        }
        if let problem { Report.complain(problem) }
    }

    /// Says what it holds; to be called when nobody changes it any more.
    func finish() {
        do throws(AppGroupError) {
            for (name, count) in try document.load() ?? [:] { Report.say("entry \(name) \(count)") }
        } catch {
            Report.complain("document: \(error)")
        }
        Report.say("told \(told.withLock { $0.changes })")
    }
}
