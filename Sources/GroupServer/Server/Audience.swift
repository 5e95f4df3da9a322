import GroupCore
import GroupModel
import PropertyList

/// Those who watch one group. A commit finds the circles that want its keys without asking the others. Owned by the server,
/// on the loop's thread.
final class Audience {
    private var circles: [KeyFilter: AudienceCircle] = [:]
    /// Those that name their keys, by key; the others are asked for each commit.
    private var named: [Key: [AudienceCircle]] = [:]
    private var others: [AudienceCircle] = []

    var isEmpty: Bool { circles.isEmpty }
    var members: some Sequence<AudienceCircle.Member> { circles.values.lazy.flatMap(\.members) }
    var memberCount: Int { circles.values.reduce(0) { $0 + $1.members.count } }

    func add(_ member: AudienceCircle.Member, watching filter: KeyFilter) {
        let circle = circles[filter] ?? makeCircle(filter)
        circle.add(member)
    }

    private func makeCircle(_ filter: KeyFilter) -> AudienceCircle {
        let circle = AudienceCircle(filter)
        circles[filter] = circle
        if let keys = filter.literals {
            for key in Set(keys) { named[key, default: []].append(circle) }
        } else {
            others.append(circle)
        }
        return circle
    }

    func remove(_ connection: Connection) {
        for (filter, circle) in circles where circle.remove(connection) {
            guard circle.members.isEmpty else { continue }
            circles[filter] = nil
            others.removeAll { $0 === circle }
            for key in filter.literals ?? [] {
                named[key]?.removeAll { $0 === circle }
                if named[key]?.isEmpty == true { named[key] = nil }
            }
        }
    }

    /// Gives the commit to those who want it.
    ///
    /// - Returns: the circles that had nothing to tell before.
    func take(_ recorded: RecordedCommit) -> [AudienceCircle] {
        var begun: [AudienceCircle] = []
        for circle in others where circle.take(recorded) { begun.append(circle) }
        guard !named.isEmpty else { return begun }
        for change in recorded.commit.changes {
            for circle in named[change.key] ?? [] where circle.take(recorded) { begun.append(circle) }
        }
        return begun
    }
}

/// Those who watch the same keys of a group: what one of them is told all are told, in one text.
final class AudienceCircle {
    struct Member {
        /// Held until it is closed, which takes it out of its audiences.
        let connection: Connection
        /// Of the group in the connection's stream.
        let place: Int
    }

    let filter: KeyFilter
    /// In no order; an array, since the way along it is what a commit costs an observer.
    private(set) var members: [Member] = []
    /// This turn's commits that they want, and the messages that tell them.
    private(set) var commits: [RecordedCommit] = []
    private(set) var text: [UInt8] = []

    /// What stays of the room for the text, at most.
    private static let keptCapacity = 64 * 1024

    init(_ filter: KeyFilter) {
        self.filter = filter
    }

    /// A connection has one watch, with one place for each group.
    fileprivate func add(_ member: Member) {
        members.append(member)
    }

    /// - Returns: whether it was one of them.
    fileprivate func remove(_ connection: Connection) -> Bool {
        guard let index = members.firstIndex(where: { $0.connection === connection }) else { return false }
        members.swapAt(index, members.count - 1)
        members.removeLast()
        return true
    }

    /// - Returns: whether it is the first of this turn.
    fileprivate func take(_ recorded: RecordedCommit) -> Bool {
        // A commit of several keys may come here by each of them.
        guard commits.last !== recorded else { return false }
        let wanted = recorded.commit.changes.count { filter.includes($0.key) }
        guard wanted > 0 else { return false }
        commits.append(recorded)
        if wanted == recorded.commit.changes.count {
            WatchReply.recorded(recorded).appendMessage(to: &text)
        } else {
            var commit = recorded.commit
            commit.changes.removeAll { !filter.includes($0.key) }
            WatchReply.commit(commit, coalesced: nil).appendMessage(to: &text)
        }
        return commits.count == 1
    }

    func clear() {
        commits.removeAll(keepingCapacity: true)
        text.removeAll(keepingCapacity: text.capacity <= Self.keptCapacity)
    }
}
