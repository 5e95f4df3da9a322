package import GroupModel
package import PropertyList

/// What the plist on disk is known to hold, seen from the group's present state: only the differences are kept, so that
/// noting a commit costs O(change).
///
/// It is the *base* of the three-way merge: ours is the group, theirs is what the file holds now. While a projection is
/// on its way to the disk there are two bases, the old content and the new one, and the file may hold either.
package struct PlistBase: Sendable {
    /// By key: the value in the file, where it may differ from the group's. Nil: the file does not have the key.
    package private(set) var differences: [Key: Value?]
    /// The same, as it was when the projection under way began; the keys touched since are in `differences`.
    private var earlier: [Key: Value?]?
    /// All commits behind this revision have been noted since `differences` began.
    private var start = Int64.max

    /// - Parameter differences: the file's value of each key that differs from the group's.
    package init(differences: [Key: Value?] = [:]) {
        self.differences = differences
    }

    /// The same for whoever knows nothing of a projection: what the file had before it, where that is different.
    package var possibleDifferences: [Key: Value?] {
        (earlier ?? [:]).merging(differences) { before, _ in before }
    }

    /// What is to be done to the file for it to hold the group's state: the new value of each key that differs.
    package func unwritten(in state: GroupState) -> [Key: Value?] {
        var changes: [Key: Value?] = [:]
        for key in differences.keys { changes.updateValue(state[key], forKey: key) }
        return changes
    }

    /// Whether the group holds something that the file does not.
    package var hasUnwritten: Bool { !differences.isEmpty || earlier != nil }

    /// Takes note of a commit: its first old value of each key is what the file has.
    package mutating func note(_ changes: [Change]) {
        for change in changes { note(change.key, change.old) }
    }

    /// What the file has of a key.
    package struct Known: Sendable {
        let key: Key
        let value: Value

        package init(_ key: Key, _ value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// The same where no more is at hand than what the keys had.
    package mutating func note(_ known: [Known]) {
        for known in known { note(known.key, known.value) }
    }

    private mutating func note(_ key: Key, _ old: Value?) {
        // Put there if it is missing, with one look-up.
        func keep(_: inout Value?) {}
        keep(&differences[key, default: old])
    }

    /// A commit on a key that got its value behind this revision need not be noted: that one was.
    package var notedSince: Int64 { start }

    /// A projection of the present state begins. Where an earlier one ended unknown, the file may still be as it was
    /// before that.
    ///
    /// - Parameters:
    ///   - later: for the replay of one that began a little earlier: what it has of the keys touched meanwhile.
    ///   - revision: of the newest commit that was noted, where that is known.
    package mutating func beginProjection(but later: [Key: Value?] = [:], at revision: Int64 = .max) {
        start = revision
        earlier = (earlier ?? [:]).merging(differences) { before, _ in before }
        differences = later
    }

    /// The projection is on disk.
    package mutating func projectionSucceeded() {
        earlier = nil
    }

    /// The disk still has what it had when the projection began.
    package mutating func projectionFailed() {
        guard let earlier else { return }
        differences.merge(earlier) { $1 }
        self.earlier = nil
    }

    /// What the file's content means as edits by whoever saved it, sorted by key: every key whose value is none that we
    /// put there. An XML property list holds whole seconds only; what the projection cut off is no edit.
    package func edits(from theirs: [Key: Value], in format: PlistFormat, ours state: GroupState) -> [Edit] {
        var edits: [Edit] = []
        var shared = 0
        for (key, value) in theirs {
            let own = state[key]
            if own != nil { shared += 1 }
            if !isKnown(value, of: key, in: format, ours: own) { edits.append(.set(key, value)) }
        }
        // Nearly always the file has all keys of the group, which to count is cheaper than to look for each of them.
        for key in keysMissing(in: theirs, ours: state, hasAll: shared == state.count)
        where !isKnown(nil, of: key, in: format, ours: state[key]) {
            edits.append(.remove(key))
        }
        return edits.sorted { $0.key < $1.key }
    }

    /// The base that holds once `edits`, which this base made of the file's content, are in the group: what is in none of
    /// them and was no difference before is none now.
    package func after(
        _ theirs: [Key: Value], edits: [Edit], in format: PlistFormat, ours state: GroupState
    ) -> PlistBase {
        var candidates = Set(edits.map(\.key))
        candidates.formUnion(differences.keys)
        if let earlier { candidates.formUnion(earlier.keys) }
        var left: [Key: Value?] = [:]
        for key in candidates {
            let known = theirs[key]
            if known != state[key].map(format.projected) { left.updateValue(known, forKey: key) }
        }
        return PlistBase(differences: left)
    }

    private func keysMissing(in theirs: [Key: Value], ours state: GroupState, hasAll: Bool) -> Set<Key> {
        var missing: Set<Key> = []
        func look(for key: Key) {
            if theirs.index(forKey: key) == nil { missing.insert(key) }
        }
        if !hasAll { for key in state.keys { look(for: key) } }
        for key in differences.keys { look(for: key) }
        if let earlier { for key in earlier.keys { look(for: key) } }
        return missing
    }

    private func isKnown(_ value: Value?, of key: Key, in format: PlistFormat, ours own: Value?) -> Bool {
        let written = differences.isEmpty ? own : differences[key] ?? own
        if isWritten(written, as: value, in: format) { return true }
        guard let earlier, let before = earlier[key] else { return false }
        return isWritten(before, as: value, in: format)
    }

    private func isWritten(_ written: Value?, as found: Value?, in format: PlistFormat) -> Bool {
        guard let written, let found else { return written == nil && found == nil }
        return format.reads(written, as: found)
    }
}
