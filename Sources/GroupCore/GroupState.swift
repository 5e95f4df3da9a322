package import GroupModel
package import PropertyList

/// What one group holds: its values, the revision that each key got last, and the position.
///
/// A value type without I/O and without a clock; the daemon's one thread owns it. A write is two steps: `changes(for:)`
/// decides and changes nothing, `apply(_:)` makes the commit so and returns what undoes it, should the journal refuse it.
package struct GroupState: Sendable {
    package let identifier: GroupIdentifier
    package private(set) var position: Position
    /// The encoded size of all values, in bytes.
    package private(set) var size = 0
    private var entries = EntryTable()
    /// When keys that are gone were removed, for those removed after `removalHorizon`.
    private var removals: [Key: Int64] = [:]
    /// Of removals up to this revision nothing is known any more.
    private var removalHorizon: Int64
    /// What administrators laid over and under the values; the values themselves are the group's own.
    package var layers = GroupLayers()

    /// A group as its snapshot had it. Each key counts as changed at the snapshot's revision, since its own is not kept.
    package init(identifier: GroupIdentifier, position: Position, values: [Key: Value] = [:]) {
        self.identifier = identifier
        self.position = position
        removalHorizon = position.revision
        for (key, value) in values { restore(key, value) }
    }

    /// Adds an entry of the snapshot that the group began with.
    ///
    /// - Returns: false where it was there already, which no snapshot has.
    @discardableResult
    package mutating func restore(_ key: Key, _ value: Value) -> Bool {
        precondition(removalHorizon == revision, "a snapshot's entry after a commit")
        size += value.encodedSize
        return entries.update(key, value, revision: revision) == nil
    }

    /// How much room the entries take, in bytes of memory.
    package var storedSize: Int { entries.storedSize }

    /// Makes room for a snapshot; a hint, of which nonsense does no harm.
    package mutating func reserve(count: Int, storedSize: Int) {
        entries.reserve(count: min(max(0, count), 1 << 20), storedSize: min(max(0, storedSize), 64 << 20))
    }

    package var revision: Int64 { position.revision }

    /// Another epoch, in which the revisions go on: positions of the one before are void.
    package mutating func begin(_ epoch: Epoch) { position.epoch = epoch }
    package var count: Int { entries.count }

    package subscript(key: Key) -> Value? { entries[key] }

    package func contains(_ key: Key) -> Bool { entries.contains(key) }

    /// When the key got its value, or at what revision the snapshot was that had it.
    package func revision(of key: Key) -> Int64? { entries.revision(of: key) }

    /// All of them, made for this moment: whoever needs one after the other takes `pairs`.
    package var values: [Key: Value] {
        var values: [Key: Value] = [:]
        values.reserveCapacity(count)
        for (key, value) in pairs { values[key] = value }
        return values
    }

    /// All of them, one made after the other, in no order.
    package var pairs: some Sequence<(key: Key, value: Value)> {
        let entries = entries
        return (0..<entries.count).lazy.map { (entries.key(at: $0), entries.value(at: $0)) }
    }

    package var keys: some Sequence<Key> { (0..<count).lazy.map(entries.key(at:)) }

    package func values(matching filter: KeyFilter) -> [Key: Value] {
        if let literals = filter.literals {
            return literals.reduce(into: [:]) { $0[$1] = self[$1] }
        }
        var values: [Key: Value] = [:]
        for index in 0..<count {
            let key = entries.key(at: index)
            if filter.includes(key) { values[key] = entries.value(at: index) }
        }
        return values
    }
}

extension GroupState {
    /// What these edits, applied in order, would change: one change a key, in the order of first mention, equal values
    /// left out. Nothing is changed by asking.
    ///
    /// With `isReset` they are applied to a group without any key: those that it has now come first, in their order.
    ///
    /// Where the group does not have a key, edits start from the administrator's default.
    ///
    /// Throws `forced` where an administrator has set one of the keys, unless those are written too (`.file`: what a person
    /// saved in the group's file is kept, and not seen as long as it is hidden); the first edit's error, `tooLarge`, or
    /// `conflict` where one of the keys changed after `unchangedSince`. An error means that none of the edits takes place.
    package func changes(
        for edits: [Edit], from source: Origin.Kind = .client, isReset: Bool = false, unchangedSince: Int64? = nil,
        limits: Limits
    ) throws(GroupError) -> [Change] {
        if source != .file, !layers.managed.isEmpty { try requireUnforced(edits) }
        let removed = isReset ? keys.sorted() : []
        if let unchangedSince { try requireUnchanged(removed + edits.map(\.key), since: unchangedSince) }
        if edits.count == 1, !isReset {
            guard let change = try change(for: edits[0], limits: limits) else { return [] }
            return [change]
        }
        var order = removed
        var results: [Key: Value?] = [:]
        for key in removed { results.updateValue(nil, forKey: key) }
        for edit in edits {
            if results.index(forKey: edit.key) == nil {
                try edit.key.validate()
                order.append(edit.key)
            }
            try edit.apply(to: &results[edit.key, default: unforced(edit.key)])
            // Each operand here, each result once below: many appends to one array stay linear.
            try validateCarriable(edit.value, of: edit.key)
            try validateCarriable(edit.otherwise, of: edit.key)
        }
        var changes: [Change] = []
        for key in order {
            let change = Change(key: key, old: self[key], new: results[key] ?? nil)
            guard !Value.areSame(change.old, change.new) else { continue }
            try validate(change.new, of: key, limits: limits)
            changes.append(change)
        }
        try requireRoom(for: changes, limits: limits)
        return changes
    }

    /// The ordinary write, without the bookkeeping that several edits need.
    private func change(for edit: Edit, limits: Limits) throws(GroupError) -> Change? {
        try edit.key.validate()
        let old = self[edit.key]
        let new = try edit.evaluated(on: old ?? layers.defaults[edit.key])
        guard !Value.areSame(old, new) else { return nil }
        let change = Change(key: edit.key, old: old, new: new)
        try validate(new, of: edit.key, limits: limits)
        try requireRoom(forSize: size + change.growth, count: count + change.countGrowth, limits: limits)
        return change
    }

    /// The removal of every key, in the order of the keys.
    package func changesForReset() -> [Change] {
        keys.sorted().map { Change(key: $0, old: self[$0], new: nil) }
    }

    /// The keys among these that changed after a revision. Where nothing is known any more, a key counts as changed.
    package func changed(_ keys: [Key], since revision: Int64) -> [Key] {
        keys.filter { key in
            if let last = entries.revision(of: key) { return last > revision }
            return (removals[key] ?? min(removalHorizon, self.revision)) > revision
        }
    }

    /// What an edit starts from.
    private func unforced(_ key: Key) -> Value? { self[key] ?? layers.defaults[key] }

    private func requireUnforced(_ edits: [Edit]) throws(GroupError) {
        let forced = Set(edits.map(\.key)).filter { layers.managed.index(forKey: $0) != nil }
        guard forced.isEmpty else { throw .forced(keys: forced.sorted().map(\.string)) }
    }

    private func requireUnchanged(_ keys: [Key], since revision: Int64) throws(GroupError) {
        let changed = changed(keys, since: revision)
        guard changed.isEmpty else {
            var named: Set<Key> = []
            let once = changed.filter { named.insert($0).inserted }
            throw .conflict(keys: once.map(\.string), revision: self.revision)
        }
    }

    private func validateCarriable(_ value: Value?, of key: Key) throws(GroupError) {
        guard let problem = value?.firstUncarriable else { return }
        throw .invalidValue(key: key.string, reason: "a property list cannot carry \(problem)")
    }

    private func validate(_ value: Value?, of key: Key, limits: Limits) throws(GroupError) {
        guard let value else { return }
        try validateCarriable(value, of: key)
        let size = value.encodedSize
        guard size <= limits.valueSize else {
            throw .tooLarge(subject: "value of \(key)", limit: Int64(limits.valueSize), size: Int64(size))
        }
        guard value.fitsMessage else {
            throw .tooLarge(
                subject: "value of \(key) in a message", limit: Int64(Limits.valueMessageSize),
                size: Int64(value.messageSize))
        }
    }

    private func requireRoom(for changes: [Change], limits: Limits) throws(GroupError) {
        try requireRoom(
            forSize: changes.reduce(size) { $0 + $1.growth }, count: changes.reduce(count) { $0 + $1.countGrowth },
            limits: limits)
    }

    private func requireRoom(forSize size: Int, count: Int, limits: Limits) throws(GroupError) {
        // A group that is over a cap already (the cap was lowered, a file was edited) may still shrink.
        if size > limits.groupSize, size > self.size {
            throw .tooLarge(subject: "group \(identifier)", limit: Int64(limits.groupSize), size: Int64(size))
        }
        if count > limits.keysPerGroup, count > self.count {
            throw .tooLarge(
                subject: "keys of group \(identifier)", limit: Int64(limits.keysPerGroup), size: Int64(count))
        }
    }
}

extension Value {
    /// `==` of two optionals, without the detour of the standard library's generic one.
    fileprivate static func areSame(_ left: Value?, _ right: Value?) -> Bool {
        switch (left, right) {
        case (nil, nil): true
        case (let left?, let right?): left == right
        default: false
        }
    }
}

extension Change {
    /// By how many bytes the group's values grow.
    fileprivate var growth: Int { (new?.encodedSize ?? 0) - (old?.encodedSize ?? 0) }
    fileprivate var countGrowth: Int { (new == nil ? 0 : 1) - (old == nil ? 0 : 1) }
}

extension GroupState {
    /// What takes back one applied commit, as if it had never been.
    package struct Undo: Sendable {
        fileprivate struct Step: Sendable {
            var key: Key
            var value: Value?
            /// Of the value.
            var revision: Int64?
            var removal: Int64?
        }

        /// Nearly all commits change one key, and need no array for the rest.
        fileprivate var first: Step?
        fileprivate var rest: [Step] = []
        fileprivate var revision: Int64
        fileprivate var size: Int
    }

    /// Makes a commit so. Its revision must be the next one, and its changes come from `changes(for:)`.
    @discardableResult
    package mutating func apply(_ commit: Commit) -> Undo {
        apply(commit.changes, revision: commit.revision)
    }

    /// The same with what of a commit counts here.
    @discardableResult
    package mutating func apply(_ changes: [Change], revision next: Int64) -> Undo {
        precondition(next == revision + 1, "commit \(next) after revision \(revision)")
        var undo = Undo(revision: revision, size: size)
        for change in changes {
            let step = put(change, at: next)
            if undo.first == nil { undo.first = step } else { undo.rest.append(step) }
        }
        position.revision = next
        return undo
    }

    /// Takes back the newest commit. Several are taken back newest first.
    package mutating func revert(_ undo: Undo) {
        precondition(undo.revision == revision - 1, "undo to \(undo.revision) from revision \(revision)")
        for step in undo.rest.reversed() { revert(step) }
        if let first = undo.first { revert(first) }
        position.revision = undo.revision
        size = undo.size
    }

    private mutating func revert(_ step: Undo.Step) {
        if let value = step.value, let revision = step.revision {
            entries.update(step.key, value, revision: revision)
        } else {
            entries.remove(step.key)
        }
        removals[step.key] = step.removal
    }

    /// What takes back one replaced string.
    package struct Replacement: Sendable {
        /// When the key had changed before.
        package let lastRevision: Int64
        fileprivate let revision: Int64
        fileprivate let size: Int
    }

    /// Makes a commit so that does nothing but give a key, which has a string, another one: what comes most, without making
    /// strings of the texts that come and go.
    ///
    /// - Parameters:
    ///   - key: its UTF-8.
    ///   - text: UTF-8.
    ///   - limits: the caps that hold.
    ///   - willReplace: is given the text before, and when the key got it.
    /// - Returns: nil where it is not as simple as that (no such key, no string, an equal one, a cap in reach, perhaps a
    ///   character that no property list carries). Nothing has happened then; `changes(for:)` says how it is.
    package mutating func replaceString(
        of key: Span<UInt8>, with text: Span<UInt8>, limits: Limits,
        willReplace: (_ old: Span<UInt8>, _ revision: Int64) -> Void
    ) -> Replacement? {
        guard let place = entries.index(ofKey: key), XMLPropertyList.surelyCarries(text),
            text.count < min(limits.valueSize, Limits.valueMessageSize), count <= limits.keysPerGroup
        else { return nil }
        let lastRevision = entries.revision(at: place)
        // Of its own, so that the table is not copied for the closure.
        let size = size
        let growth = entries.withString(at: place) { old -> Int? in
            let growth = text.count - old.count
            guard size + growth <= limits.groupSize, !old.isIdentical(to: text) else { return nil }
            willReplace(old, lastRevision)
            return growth
        }
        guard let growth = growth ?? nil else { return nil }
        let replacement = Replacement(lastRevision: lastRevision, revision: revision, size: size)
        position.revision += 1
        self.size += growth
        entries.replaceString(at: place, with: text, revision: revision)
        return replacement
    }

    /// Takes back the newest commit, which was such a one, of this change.
    package mutating func revert(_ replacement: Replacement, of change: Change) {
        var undo = Undo(revision: replacement.revision, size: replacement.size)
        undo.first = Undo.Step(
            key: change.key, value: change.old, revision: replacement.lastRevision, removal: nil)
        revert(undo)
    }

    /// Forgets when keys were removed, up to a revision. What is asked about them later counts as changed.
    package mutating func forgetRemovals(upTo horizon: Int64) {
        removals = removals.filter { $0.value > horizon }
        removalHorizon = max(removalHorizon, horizon)
    }

    /// - Returns: what takes it back. Each table is asked as seldom as it goes: this is done for every key written.
    private mutating func put(_ change: Change, at revision: Int64) -> Undo.Step {
        let key = change.key
        let removal = removals.isEmpty ? nil : removals[key]
        let last: Int64?
        if let value = change.new {
            last = entries.update(key, value, revision: revision)
            if removal != nil { removals[key] = nil }
        } else {
            last = entries.remove(key)
            if last != nil { removals[key] = revision }
        }
        size += change.growth
        return Undo.Step(key: key, value: change.old, revision: last, removal: removal)
    }
}
