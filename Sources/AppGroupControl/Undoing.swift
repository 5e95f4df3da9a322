package import GroupModel
package import PropertyList

/// What it takes to take commits back, key by key. A plain value, made from the history alone.
///
/// A key gets the value that it had before the newest unbroken run of chosen commits. Where the newest change of a key is
/// none of the chosen ones, taking back would destroy what came after: a conflict.
package struct Undoing {
    private enum KeyState {
        /// The newest change is a chosen one, and so are all down to here.
        case open(new: Value?, old: Value?)
        /// As before, and further down is one that was not chosen.
        case closed(new: Value?, old: Value?)
        /// The newest change is not a chosen one; which it was.
        case blocked(by: Int64)
    }

    /// Keys that a chosen commit changed and a later one that was not chosen changed again, with the newest such commit.
    package private(set) var conflicts: [(key: Key, revision: Int64)] = []
    package private(set) var plan: Plan
    package private(set) var commitCount = 0

    /// `commits` are all there are down to the oldest chosen one, newest first.
    package init(_ commits: [Commit], choosing isChosen: (Commit) -> Bool) {
        var states: [Key: KeyState] = [:]
        var conflicts: [Key: Int64] = [:]
        for commit in commits {
            let chosen = isChosen(commit)
            if chosen { commitCount += 1 }
            for change in commit.changes {
                if chosen, case .blocked(let revision)? = states[change.key] { conflicts[change.key] = revision }
                states[change.key] = Self.state(states[change.key], change, commit.revision, chosen)
            }
        }
        self.conflicts = conflicts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        plan = Self.plan(states)
    }

    private static func state(_ state: KeyState?, _ change: Change, _ revision: Int64, _ chosen: Bool) -> KeyState {
        switch state {
        case nil: chosen ? .open(new: change.new, old: change.old) : .blocked(by: revision)
        case .open(let new, let old)?: chosen ? .open(new: new, old: change.old) : .closed(new: new, old: old)
        case let other?: other
        }
    }

    private static func plan(_ states: [Key: KeyState]) -> Plan {
        var present: [Key: Value] = [:]
        var wanted: [Key: Value] = [:]
        for (key, state) in states {
            switch state {
            case .open(let new, let old), .closed(let new, let old):
                present[key] = new
                wanted[key] = old
            case .blocked: break
            }
        }
        return Plan(from: present, to: wanted, removesOthers: true)
    }
}
