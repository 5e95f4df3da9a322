import GroupModel
import PropertyList

// What became of the writes whose replies were lost.

extension ReplicaMachine {
    /// The connection broke: what was under way may have been applied or not.
    mutating func connectionLost() {
        for index in writes.indices where writes[index].stage == .sent { writes[index].stage = .unknown }
        parts = [:]
    }

    /// The numbers whose fate only the history tells.
    var unknownNumbers: [UInt64] { writes.filter { $0.stage == .unknown }.map(\.number) }

    /// Whether the history has to be looked at further: some of them were not found yet, and may be older than this.
    func isUnknown(before revision: Int64, besides found: [UInt64: Int64]) -> Bool {
        writes.contains { $0.stage == .unknown && found[$0.number] == nil && $0.sentAfter < revision - 1 }
    }

    /// The history was looked at: those tags were found in it, with the revisions they got.
    ///
    /// The others were not applied, if it reaches back to when they were sent: they are sent again. So is what can be done
    /// twice; the rest is `undecided`. `oldest` is the oldest revision that the history knows; commits before it may have
    /// been.
    mutating func resolveUnknown(found revisions: [UInt64: Int64], keptFrom oldest: Int64) -> Step {
        var keys: [Key] = []
        for number in unknownNumbers {
            guard let index = writes.firstIndex(where: { $0.number == number }) else { continue }
            if let revision = revisions[number] {
                if let position, position.revision >= revision {
                    let write = writes.remove(at: index)
                    keys += self.keys(of: write)
                } else {
                    writes[index].stage = .acknowledged(revision: revision)
                }
            } else if writes[index].isSettled {
                // The daemon had come to it, and it changed nothing.
                writes.remove(at: index)
            } else {
                resend(index, isDecided: writes[index].sentAfter >= oldest - 1)
            }
        }
        return Step(changes: refresh(keys), isOwn: true)
    }

    private mutating func resend(_ index: Int, isDecided: Bool) {
        writes[index].stage = .waiting
        let parts = writes[index].parts
        if isDecided || (parts.isEmpty ? [writes[index]] : parts).allSatisfy(\.isRepeatable) { return }
        let number = writes[index].number
        let first = divide(number) ? parts.map(\.number) : [number]
        for index in writes.indices where first.contains(writes[index].number) {
            writes[index].isUndecided = !writes[index].isRepeatable
        }
    }

    /// The writes of which nobody can tell whether they were applied, with their keys; they are to be given up.
    var undecided: [(number: UInt64, keys: [String])] {
        writes.filter(\.isUndecided).map { ($0.number, Set($0.edits.map(\.key)).sorted().map(\.string)) }
    }

    func number(ofTag tag: String?) -> UInt64? {
        guard let tag, tag.hasPrefix(tagPrefix + ".") else { return nil }
        return UInt64(tag.dropFirst(tagPrefix.utf8.count + 1))
    }
}
