import GroupFiles
import GroupModel
import LinuxIO
import ServiceIO

/// Groups that are known by their directory or journal and were not opened yet.
struct UnopenedGroups {
    private var order: [GroupIdentifier] = []
    private var members: Set<GroupIdentifier> = []

    var all: Set<GroupIdentifier> { members }
    var count: Int { members.count }
    var isEmpty: Bool { members.isEmpty }

    func contains(_ group: GroupIdentifier) -> Bool { members.contains(group) }

    mutating func insert(_ group: GroupIdentifier) {
        if members.insert(group).inserted { order.append(group) }
    }

    mutating func remove(_ group: GroupIdentifier) {
        members.remove(group)
    }

    mutating func next() -> GroupIdentifier? {
        while let group = order.popLast() {
            if members.remove(group) != nil { return group }
        }
        return nil
    }
}

/// Opening the groups: those that are asked for when they are asked for, the others when there is time. However many there
/// are, the daemon serves soon after its start.
extension Server {
    /// How long groups are opened before the daemon serves, and between two looks at its clients, in microseconds: most
    /// people's groups are open when it says READY.
    private static let timeAtStart: Int64 = 30_000
    private static let timeInBetween: Int64 = 2_000

    /// Takes note of every group that has a directory or a journal, and opens as many as there is time for.
    func openAllGroups() {
        let present: [GroupIdentifier]
        do throws(SystemError) {
            present = try container.list()
        } catch {
            Log.error("the groups cannot be listed: \(error)")
            present = []
        }
        // A look at the plist of one without a directory finds out whether that was deleted or is out of reach.
        let orphaned = journaledGroups().filter { failedGroups[$0] == nil }
        for group in orphaned + present where !isServed(group) { unopened.insert(group) }
        openGroups(within: Self.timeAtStart)
    }

    /// Takes note of those that have come, where no event tells.
    func lookForGroups() {
        for group in (try? container.list()) ?? [] where !isServed(group) { unopened.insert(group) }
        openGroups(within: Self.timeInBetween)
    }

    /// All of them now, for who asks about all.
    func openRest() {
        while let group = unopened.next() { try? openGroup(group) }
    }

    /// The group, opened if need be.
    func openedHost(_ group: GroupIdentifier) throws(GroupError) -> GroupHost? {
        if unopened.contains(group) { try openGroup(group) }
        return hosts[group]
    }

    /// Or will be, or is just being removed: those are not to be opened from here.
    private func isServed(_ group: GroupIdentifier) -> Bool { hosts[group] != nil || transitions[group] != nil }

    var knownGroups: Set<GroupIdentifier> { unopened.all.union(hosts.keys) }

    private func openGroups(within time: Int64) {
        let limit = ProcessFacts.monotonicMicroseconds() + time
        while ProcessFacts.monotonicMicroseconds() < limit, let group = unopened.next() { try? openGroup(group) }
        if unopened.isEmpty { considerIdle() }
        guard !unopened.isEmpty, !isOpeningDue, !isStopping else { return }
        isOpeningDue = true
        post { server in
            server.isOpeningDue = false
            server.turn { server.openGroups(within: Self.timeInBetween) }
        }
    }

    private func journaledGroups() -> [GroupIdentifier] {
        let names = (try? Files.list(paths.state)) ?? []
        return names.filter { $0.hasSuffix(".journal") }.compactMap { try? GroupIdentifier(String($0.dropLast(8))) }
    }
}
