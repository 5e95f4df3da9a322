import GroupModel

/// Which directories are watched, and for which groups. A plain value owned by the server.
struct DirectoryTable {
    enum Standing: Equatable {
        /// Asked for, and not answered yet.
        case requested
        case watched
        /// The kernel refused; it is looked at from time to time instead.
        case failed
        /// There is none. It is asked for when one is seen, and not before: the answer would be the same at once, and
        /// each answer brings the next look.
        case absent
    }

    private var groups: [String: Set<GroupIdentifier>] = [:]
    private var directories: [GroupIdentifier: Set<String>] = [:]
    private(set) var standing: [String: Standing] = [:]

    /// Sets what a group needs watched.
    ///
    /// - Returns: the directories that nobody watched before, and those that nobody needs any more.
    mutating func set(_ needed: Set<String>, for group: GroupIdentifier) -> (added: [String], dropped: [String]) {
        let before = directories[group] ?? []
        directories[group] = needed.isEmpty ? nil : needed
        let dropped = before.subtracting(needed).filter { detach(group, from: $0) }
        for directory in needed { groups[directory, default: []].insert(group) }
        let added = needed.filter { standing[$0] == nil }
        for directory in added { standing[directory] = .requested }
        return (added.sorted(), dropped.sorted())
    }

    mutating func remove(_ group: GroupIdentifier) -> [String] {
        set([], for: group).dropped
    }

    /// Whether the directory is still needed by somebody; false for one that was given up meanwhile.
    mutating func answered(_ directory: String, _ answer: Standing) -> Bool {
        guard standing[directory] != nil else { return false }
        standing[directory] = answer
        return true
    }

    /// The directory is not watched any more; it will be asked for again when it is needed. So will those below it: they
    /// went with it, which nobody tells of them, and others may have their names now.
    mutating func lost(_ directory: String) {
        standing[directory] = nil
        for path in groups(in: directory).flatMap({ directories[$0] ?? [] }) where path.hasPrefix(directory + "/") {
            standing[path] = nil
        }
    }

    /// All of them are to be asked for again: they were in a directory that is gone.
    mutating func allLost() { standing = [:] }

    /// Somebody saw that it is there: it will be asked for again.
    mutating func isThere(_ directory: String) {
        if standing[directory] == .absent { standing[directory] = nil }
    }

    func groups(in directory: String) -> Set<GroupIdentifier> { groups[directory] ?? [] }

    /// Whether all that was set for the group has been asked for and not been lost since.
    func isAsked(for group: GroupIdentifier) -> Bool {
        directories[group]?.allSatisfy { standing[$0] != nil } ?? false
    }

    /// Whether events of every directory of the group come; otherwise it must be polled.
    func isWatched(_ group: GroupIdentifier) -> Bool {
        (directories[group] ?? []).allSatisfy { standing[$0] != .failed }
    }

    private mutating func detach(_ group: GroupIdentifier, from directory: String) -> Bool {
        groups[directory]?.remove(group)
        guard groups[directory]?.isEmpty ?? true else { return false }
        groups[directory] = nil
        standing[directory] = nil
        return true
    }
}
