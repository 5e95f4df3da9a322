import GroupModel
import PropertyList

// How a value is stored that consists of members. Two programs that each set another member of one value change the same
// key; if both stored the whole, the later one would take the earlier one's change back without knowing of it. So only what
// has changed is sent, and put into what the daemon holds by then.

extension GroupDefaults {
    /// The edit that stores a value; nil where nothing is to be stored. `old` is what was changed, nil where the value was
    /// made of nothing and is to replace what is there; `present` is what the group holds, as far as this process knows.
    ///
    /// A member that vanishes, such as an optional one that becomes nil, cannot be taken away by itself: then the whole is
    /// stored, as this process knows it. Members that the type does not know, of a newer version of the program perhaps,
    /// stay.
    func edit<Value>(
        to new: Value, from old: Value?, for key: Key<Value>, over present: @autoclosure () -> PropertyList.Value?
    ) throws(AppGroupError) -> Edit? {
        let name = PropertyList.Key(key.name)
        guard let stored = try encoded(new, for: key) else { return .remove(name) }
        guard case .dictionary(let members) = stored, Codec<Value>.hasMembers(new),
            let (base, held) = base(old, key, present())
        else { return .set(name, stored) }
        let changed = members.filter { base[$0.key] != $0.value }
        let vanished = base.keys.filter { members[$0] == nil }
        guard !vanished.isEmpty else {
            // Equal to what is there, which makes no commit.
            if changed.isEmpty, held != nil { return nil }
            return Edit(key: name, operation: .merge, value: .dictionary(changed), otherwise: stored)
        }
        var whole = held ?? [:]
        for member in vanished { whole[member] = nil }
        whole.merge(changed) { $1 }
        return .set(name, .dictionary(whole))
    }

    private typealias Members = [PropertyList.Key: PropertyList.Value]

    /// The members that the new ones are compared with, and those that the group holds; nil where the whole is to be set.
    private func base<Value>(
        _ old: Value?, _ key: Key<Value>, _ present: PropertyList.Value?
    ) -> (base: Members, held: Members?)? {
        var held: Members?
        var current: Value?
        if let present {
            // What cannot be read as this type does not become readable by some of its members.
            guard case .dictionary(let members) = present, let value = key.codec.read(present) else { return nil }
            (held, current) = (members, value)
        }
        guard let base = old ?? current, case .dictionary(let members)? = try? key.codec.write(base) else { return nil }
        return (members, held)
    }
}
