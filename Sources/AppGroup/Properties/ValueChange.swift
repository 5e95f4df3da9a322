/// A change of a typed value, whoever made it.
///
/// Two stored values that read alike are no change. Where nothing is stored, old or new is the default.
public struct ValueChange<Value: Sendable>: Sendable {
    /// What it was; the present value for an initial change.
    public let old: Value
    /// What it is.
    public let new: Value
    /// Who made it, as in ``GroupDefaults/Change/origin``.
    public let origin: GroupDefaults.Origin?
    /// The group's revision that brought it, as in ``GroupDefaults/Change/revision``.
    public let revision: Int?
    /// It is no change but the value with which the observation begins.
    public let isInitial: Bool
    /// How many changes of the key it stands for, as in ``GroupDefaults/Change/coalesced``.
    public let coalesced: Int

    /// The change of a part; nil where it has not changed, as far as its type can tell.
    func part<Part>(_ path: KeyPath<Value, Part>) -> ValueChange<Part>? {
        let part = ValueChange<Part>(
            old: old[keyPath: path], new: new[keyPath: path], origin: origin, revision: revision, isInitial: isInitial,
            coalesced: coalesced)
        return part.isNone ? nil : part
    }

    /// Whether nothing is to be told. Of types that are not `Equatable` nobody knows: then it is a change.
    var isNone: Bool {
        guard !isInitial, let old = old as? any Equatable else { return false }
        return old.isEqual(to: new)
    }
}

extension ValueChange: Equatable where Value: Equatable {}

extension Equatable {
    fileprivate func isEqual(to other: Any) -> Bool {
        (other as? Self).map { $0 == self } ?? false
    }
}

extension GroupDefaults.Key {
    /// A change of the stored value as a change of what this key reads; nil where that is none.
    func change(_ change: GroupDefaults.Change, reportingTo list: SearchList) -> ValueChange<Value>? {
        let new = read(change.new?.value, reportingTo: list)
        let change = ValueChange(
            old: change.isInitial ? new : read(change.old?.value, reportingTo: list), new: new, origin: change.origin,
            revision: change.revision, isInitial: change.isInitial, coalesced: change.coalesced)
        return change.isNone ? nil : change
    }
}
