import GroupModel
import GroupProtocol
import PropertyList

/// What one process knows of one group: the daemon's state as far as the watch has told it, and its own writes that the
/// daemon has not confirmed yet, laid over it.
///
/// Pure: it neither sends nor waits. Writes are visible at once; each is confirmed by its commit in the watch, or by its
/// reply where nothing changed; a refused one is taken back. What every step changed for a reader comes back from it.
struct ReplicaMachine: Sendable {
    /// What a reader sees change.
    struct Step: Sendable, Equatable {
        var changes: [Change] = []
        var origin: Origin?
        var revision: Int64?
        /// A commit of this process that readers have seen already.
        var isOwn = false
        var coalesced: Int64?
        /// The keys whose values come from another layer now, with the one before.
        var relayered: [Key: GroupModel.Layer] = [:]
        /// Its place among the replica's steps, which gives it.
        var number: UInt64 = 0
    }

    private(set) var position: Position?
    private(set) var visible: [Key: Value] = [:]
    private(set) var confirmed: [Key: Value] = [:]
    /// The keys whose confirmed values are not the group's own.
    var layers: [Key: GroupModel.Layer] = [:]
    /// What keys hold below the writes that were never sent, for every key that one of those edits; nil when not known. As
    /// long as that stays what it was, so does what readers see, however many writes wait.
    private var bases: [Key: Value?]? = [:]
    /// How many edits were laid over values so far, for tests of what it costs.
    private(set) var overlaidCount = 0
    /// In the order of their numbers.
    var writes: [Write] = []
    /// How many writes there may be before what is superseded among them is left out.
    var coalesceAt = 256
    /// The parts of a snapshot that is not whole yet.
    var parts: [Key: Value] = [:]
    private var nextNumber: UInt64 = 1
    private var nextTurn: UInt64 = 1
    /// What begins the tags of this replica's writes.
    let tagPrefix: String

    init(tagPrefix: String) {
        self.tagPrefix = tagPrefix
    }

    /// Whether the watch has told the group's state at least once.
    var isComplete: Bool { position != nil }
    var hasUnconfirmedWrites: Bool { !writes.isEmpty }

    func tag(of number: UInt64) -> String { "\(tagPrefix).\(number)" }
}

// MARK: - Writes of this process

extension ReplicaMachine {
    /// Takes in a write.
    ///
    /// Throws what can be known without the daemon: a wrong type, a missing operand, a key or value that no property list
    /// carries. Then nothing is changed.
    mutating func submit(_ submission: Submission) throws(GroupError) -> (number: UInt64, step: Step) {
        let results = try evaluate(submission)
        let number = nextNumber
        nextNumber += 1
        noteBases(submission)
        writes.append(Write(submission, number))
        coalesceIfMany()
        guard submission.isOptimistic else { return (number, Step(isOwn: true)) }
        let removed: [(key: Key, value: Value?)] =
            submission.isReset ? visible.keys.filter { layers[$0] == nil }.map { ($0, nil) } : []
        return (number, Step(changes: show(removed + results), isOwn: true))
    }

    mutating func submit(_ edits: [Edit]) throws(GroupError) -> (number: UInt64, step: Step) {
        try submit(Submission(edits))
    }

    /// What each key will hold; the last entry of a key counts.
    private func evaluate(_ submission: Submission) throws(GroupError) -> [(key: Key, value: Value?)] {
        let (edits, isOptimistic) = (submission.edits, submission.isOptimistic)
        var results: [(key: Key, value: Value?)] = []
        results.reserveCapacity(edits.count)
        var known: [Key: Value?] = [:]
        for edit in edits {
            if isForced(edit.key) { throw .forced(keys: [edit.key.string]) }
            try edit.key.validate()
            if let problem = edit.value?.firstUncarriable ?? edit.otherwise?.firstUncarriable {
                throw .invalidValue(key: edit.key.string, reason: "a property list cannot carry \(problem)")
            }
            guard isOptimistic else { continue }
            let new = try edit.evaluated(on: known[edit.key] ?? (submission.isReset ? nil : visible[edit.key]))
            // Most writes are one edit, for which no table is needed.
            if edits.count > 1 { known.updateValue(new, forKey: edit.key) }
            results.append((edit.key, new))
        }
        return results
    }

    /// The next writes to send as one commit: several plain ones in a row become one, so that a burst costs one message.
    ///
    /// None before the fate of those is known that were under way when a connection broke: what is older must not arrive
    /// after what is newer.
    ///
    /// - Parameter limit: how many edits one message has at most.
    /// - Returns: the number that tags them, the newest of theirs; nil when nothing waits.
    mutating func nextToSend(limit: Int = 256) -> (number: UInt64, write: Write)? {
        guard let first = writes.firstIndex(where: { $0.stage == .waiting }),
            !writes[..<first].contains(where: { $0.stage == .unknown }),
            !writes[first...].prefix(while: \.isBelow).contains(where: { $0.stage == .unknown })
        else { return nil }
        var merged = writes[first]
        var last = first
        if merged.isPlain {
            while last + 1 < writes.count, writes[last + 1].isPlain, writes[last + 1].stage == .waiting,
                merged.edits.count + writes[last + 1].edits.count <= limit
            {
                last += 1
                merged.edits += writes[last].edits
                merged.isDurable = merged.isDurable || writes[last].isDurable
            }
        }
        if last > first {
            merged.parts = writes[first...last].flatMap { $0.parts.isEmpty ? [$0] : $0.parts }
            var superseded: Set<Key> = []
            merged.edits = Self.effective(merged.edits, superseded: &superseded)
        }
        merged.number = writes[last].number
        (merged.stage, merged.sentAfter, merged.turn) = (.sent, position?.revision ?? 0, nextTurn)
        nextTurn += 1
        for write in writes[first...last] where !write.isBelow { raiseBases(write) }
        merged.isBelow = true
        writes.replaceSubrange(first...last, with: [merged])
        return (merged.number, merged)
    }

    /// The daemon has taken a write (`changed` is whether it made a commit).
    mutating func acknowledged(_ number: UInt64, at position: Position, changed: Bool) -> Step {
        guard let index = writes.firstIndex(where: { $0.number == number }) else { return Step() }
        let isTold = self.position.map { $0.epoch == position.epoch && $0.revision >= position.revision } ?? false
        guard isTold else {
            writes[index].stage = .acknowledged(revision: position.revision)
            guard !writes[index].isOptimistic else { return Step() }
            // Now that the daemon has it, it is to be seen without waiting for the watch.
            writes[index].isOptimistic = true
            return Step(changes: refresh(keys(of: writes[index])), revision: position.revision, isOwn: true)
        }
        let write = writes.remove(at: index)
        // What is seen now is the state of the newest revision, not of that write's.
        return Step(changes: refresh(keys(of: write)), revision: self.position?.revision, isOwn: true)
    }

    /// The daemon has refused several writes that were sent as one: they are sent again one by one.
    ///
    /// What a later write sets anew meanwhile is left out, since that one may have arrived already.
    ///
    /// - Returns: false for a write that stands for itself only.
    mutating func divide(_ number: UInt64) -> Bool {
        guard let index = writes.firstIndex(where: { $0.number == number }), !writes[index].parts.isEmpty else {
            return false
        }
        let later = writes[(index + 1)...]
        let superseded = Set(later.flatMap(\.edits).filter(\.isAbsolute).map(\.key))
        let isReset = later.contains(where: \.isReset)
        let parts = writes[index].parts.map { part in
            var part = part
            part.edits.removeAll { isReset || superseded.contains($0.key) }
            (part.isAlone, part.stage, part.isBelow) = (true, .waiting, true)
            return part
        }
        writes.replaceSubrange(index...index, with: parts.filter { !$0.edits.isEmpty })
        bases = nil
        return true
    }

    /// The daemon has refused a write: it is taken back, which is the daemon's doing.
    mutating func refused(_ number: UInt64) -> Step {
        guard let index = writes.firstIndex(where: { $0.number == number }) else { return Step() }
        let write = writes.remove(at: index)
        return Step(changes: refresh(keys(of: write)), origin: Origin(kind: .daemon))
    }

    /// Nobody waits for it any more. False where it was sent already, or seen.
    mutating func withdraw(_ number: UInt64) -> Bool {
        let index = writes.firstIndex { $0.number == number && !$0.isOptimistic && !$0.isBelow && $0.stage == .waiting }
        if let index { writes.remove(at: index) }
        return index != nil
    }

    /// The daemon did not take it, for a reason that is over: it goes out again.
    mutating func sendAgain(_ number: UInt64) {
        guard let index = writes.firstIndex(where: { $0.number == number }) else { return }
        (writes[index].stage, writes[index].isSettled) = (.waiting, false)
        bases = nil
    }

    /// The number of the newest write so far; 0 before the first.
    var newestNumber: UInt64 { nextNumber - 1 }

    /// Whether the daemon has answered all writes up to this one.
    func isAnswered(upTo number: UInt64) -> Bool {
        !writes.contains { write in
            if case .acknowledged = write.stage { return false }
            return write.first <= number
        }
    }
}

// MARK: - What the watch tells

extension ReplicaMachine {
    mutating func take(_ part: WatchEvent.SnapshotPart) -> Step? {
        parts.merge(part.values) { $1 }
        guard !part.isPartial else { return nil }
        let isSameEpoch = position?.epoch == part.position.epoch || position == nil
        confirmed = parts
        parts = [:]
        position = part.position
        let relayered = setLayers(part)
        writes.removeAll { write in
            if case .acknowledged(let revision) = write.stage {
                return !isSameEpoch || revision <= part.position.revision
            }
            return false
        }
        return Step(changes: refreshAll(), revision: part.position.revision, relayered: relayered)
    }

    mutating func take(_ commit: Commit, coalesced: Int64?) -> Step {
        for change in commit.changes { confirmed[change.key] = change.new }
        let relayered = takeLayers(of: commit.changes)
        position?.revision = commit.revision
        var keys = commit.changes.map(\.key)
        let number = number(ofTag: commit.origin.tag)
        var isOwn = false
        let turn = number.flatMap { number in writes.first { $0.number == number }?.turn }
        let sent = writes.prefix(while: \.isBelow)
        let rest = sent.filter { !$0.isCovered(by: commit, number) }
        if rest.count < sent.count {
            for write in sent where write.isCovered(by: commit, number) {
                keys += self.keys(of: write)
                isOwn = isOwn || write.number == number
            }
            writes.replaceSubrange(sent.indices, with: rest)
        }
        if let turn { keys += settle(before: turn) }
        return Step(
            changes: refresh(keys), origin: commit.origin, revision: commit.revision, isOwn: isOwn,
            coalesced: coalesced, relayered: relayered)
    }

    /// The daemon takes writes in the order of their sending: with this one it has come to those before it, also to those
    /// that changed nothing, and of which the watch does not tell. Not to older ones that were sent again after it.
    private mutating func settle(before turn: UInt64) -> [Key] {
        var keys: [Key] = []
        for index in writes.indices.prefix(while: { writes[$0].isBelow })
        where writes[index].stage == .sent && writes[index].turn < turn && !writes[index].isSettled {
            writes[index].isSettled = true
            keys += self.keys(of: writes[index])
        }
        return keys
    }

    /// The group was deleted. Writes that wait are for the one that will be made under the name.
    mutating func deleted() -> Step {
        confirmed = [:]
        let relayered = layers
        layers = [:]
        parts = [:]
        position = nil
        return Step(changes: refreshAll(), relayered: relayered)
    }

    /// What a plist on disk holds, while the daemon has not been reached yet.
    mutating func takeFallback(_ values: [Key: Value]) -> Step {
        guard position == nil else { return Step() }
        confirmed = values
        return Step(changes: refreshAll())
    }
}

// MARK: - What readers see

extension ReplicaMachine {
    /// Makes it visible; of several entries for a key the last counts.
    private mutating func show(_ results: [(key: Key, value: Value?)]) -> [Change] {
        if results.count == 1 { return show(results[0].key, results[0].value).map { [$0] } ?? [] }
        var last: [Key: Value?] = [:]
        for (key, value) in results { last.updateValue(value, forKey: key) }
        return last.compactMap { show($0.key, $0.value) }.sorted { $0.key < $1.key }
    }

    private mutating func show(_ key: Key, _ new: Value?) -> Change? {
        let old = visible[key]
        guard old != new else { return nil }
        visible[key] = new
        return Change(key: key, old: old, new: new)
    }

    mutating func refresh(_ keys: [Key]) -> [Change] {
        var results: [Key: Value?] = [:]
        for key in keys { results.updateValue(confirmed[key], forKey: key) }
        overlay(&results)
        return show(results.map { ($0.key, $0.value) })
    }

    /// The keys that readers may see change with a write.
    func keys(of write: Write) -> [Key] {
        write.isReset ? Array(Set(allKeys).union(write.edits.map(\.key))) : write.edits.map(\.key)
    }

    private var allKeys: [Key] {
        let touched = writes.flatMap { $0.edits.map(\.key) }
        return Array(Set(confirmed.keys).union(visible.keys).union(touched))
    }

    private mutating func refreshAll() -> [Change] {
        bases = nil
        return refresh(allKeys)
    }
}

// MARK: - Laying writes over what is confirmed

extension ReplicaMachine {
    /// Lays the writes over confirmed values; keys whose values readers see already are left out.
    private mutating func overlay(_ values: inout [Key: Value?]) {
        guard !values.isEmpty else { return }
        let sent = writes.prefix(while: \.isBelow)
        let waiting = writes[sent.endIndex...]
        let areKnown = bases != nil
        if !areKnown { findBases(sent, waiting) }
        lay(sent, over: &values)
        guard areKnown else { return lay(waiting, over: &values) }
        var changed: [Key: Value?] = [:]
        for (key, value) in values {
            // Nothing that waits edits it.
            guard let base = bases?.index(forKey: key).map({ bases?[$0].value ?? nil }) else { continue }
            values.removeValue(forKey: key)
            guard base != value else { continue }
            bases?.updateValue(value, forKey: key)
            changed.updateValue(value, forKey: key)
        }
        if !changed.isEmpty { lay(waiting, over: &changed) }
        values.merge(changed) { $1 }
    }

    /// One that does not fit any more is the daemon's to refuse.
    private mutating func lay(_ writes: ArraySlice<Write>, over values: inout [Key: Value?]) {
        for write in writes where write.isVisible {
            // What is not the group's own is not removed with it.
            if write.isReset {
                for key in values.keys where layers[key] == nil { values.updateValue(nil, forKey: key) }
            }
            overlaidCount += write.edits.count
            for edit in write.edits {
                guard var value = values[edit.key] else { continue }
                // An error leaves it as it was.
                try? edit.apply(to: &value)
                values.updateValue(value, forKey: edit.key)
            }
        }
    }

    private mutating func findBases(_ sent: ArraySlice<Write>, _ waiting: ArraySlice<Write>) {
        // A reset edits every key, also those that come later.
        if waiting.contains(where: \.isReset) { return }
        var found: [Key: Value?] = [:]
        for write in waiting where write.isVisible {
            for edit in write.edits { found.updateValue(confirmed[edit.key], forKey: edit.key) }
        }
        lay(sent, over: &found)
        bases = found
    }

    /// A write comes that was never sent: below it is what readers see, where it is the first one of a key.
    private mutating func noteBases(_ submission: Submission) {
        guard submission.isOptimistic else { return }
        if submission.isReset { bases = nil }
        for edit in submission.edits where bases != nil && bases?.index(forKey: edit.key) == nil {
            bases?.updateValue(visible[edit.key], forKey: edit.key)
        }
    }

    /// A write is sent: it goes below those that were not.
    private mutating func raiseBases(_ write: Write) {
        if write.isReset { bases = nil }
        guard write.isVisible, bases != nil else { return }
        for edit in write.edits {
            guard var value = bases?.index(forKey: edit.key).map({ bases?[$0].value ?? nil }) else { continue }
            overlaidCount += 1
            try? edit.apply(to: &value)
            bases?.updateValue(value, forKey: edit.key)
        }
        // Nothing waits: nothing is to be known, and this is the time to forget.
        if write.number == newestNumber { bases = [:] }
    }
}
