package import GroupModel
package import PropertyList

/// What administrators lay over a group and under it, put together from their files. A plain value.
package struct GroupLayers: Equatable, Sendable {
    /// Over everything that programs and people set.
    package var managed: [Key: Value]
    /// For keys that the group does not have.
    package var defaults: [Key: Value]

    package init(managed: [Key: Value] = [:], defaults: [Key: Value] = [:]) {
        self.managed = managed
        self.defaults = defaults
    }

    package var isEmpty: Bool { managed.isEmpty && defaults.isEmpty }
    package var keys: Set<Key> { Set(managed.keys).union(defaults.keys) }

    /// What a reader sees of a key of which the group itself has this, and where it comes from.
    package func effective(_ key: Key, own: Value?) -> (value: Value?, layer: Layer) {
        if let value = managed[key] { return (value, .managed) }
        if let own { return (own, .group) }
        guard let value = defaults[key] else { return (nil, .group) }
        return (value, .defaults)
    }
}

// MARK: - What readers see of a group

extension GroupState {
    package func effective(_ key: Key) -> (value: Value?, layer: Layer) {
        layers.effective(key, own: self[key])
    }

    /// The effective values of all keys that the filter includes.
    package func effectiveValues(matching filter: KeyFilter) -> [Key: Value] {
        var values = values(matching: filter)
        guard !layers.isEmpty else { return values }
        for key in layers.keys where filter.includes(key) { values[key] = effective(key).value }
        return values
    }

    /// The keys that the filter includes and whose effective values come from this layer.
    package func keys(from layer: Layer, matching filter: KeyFilter) -> [Key] {
        let keys = layer == .managed ? Set(layers.managed.keys) : Set(layers.defaults.keys)
        return keys.filter { filter.includes($0) && effective($0).layer == layer }.sorted()
    }
}

// MARK: - Changes of the group itself, and changes that readers see

extension GroupState {
    /// What changes of the group's own values, not applied yet, change for readers. Those that readers do not see are hidden.
    package func effectiveChanges(of own: [Change]) -> [Change] {
        guard !layers.isEmpty else { return own }
        return own.map { change in
            let (old, new) = (effective(change.key).value, layers.effective(change.key, own: change.new))
            guard old != new.value else {
                return Change(key: change.key, old: change.old, new: change.new, isHidden: true)
            }
            return Change(key: change.key, old: old, new: new.value, layer: new.layer)
        }
    }

    /// The other way round, for a commit that was read back: what it did to the group's own values.
    package func ownChanges(of effective: [Change], isAdministrator: Bool) -> [Change] {
        if isAdministrator { return [] }
        guard !layers.isEmpty || effective.contains(where: { $0.layer != .group || $0.isHidden }) else {
            return effective
        }
        return effective.compactMap { change in
            let new = change.layer == .group ? change.new : nil
            let old = self[change.key]
            return old == new ? nil : Change(key: change.key, old: old, new: new)
        }
    }

    /// What readers see change when these layers take the place of the present ones, in the order of the keys.
    package func changes(to new: GroupLayers) -> [Change] {
        layers.keys.union(new.keys).sorted().compactMap { key in
            let (before, after) = (effective(key), new.effective(key, own: self[key]))
            // A value that is forced from now on, equal to the one that was set, is news for who shows a lock.
            guard before != after else { return nil }
            return Change(key: key, old: before.value, new: after.value, layer: after.layer)
        }
    }
}
