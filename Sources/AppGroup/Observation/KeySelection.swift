import GroupModel
import PropertyList

/// Which keys an observer asked for. A plain value.
enum KeySelection: Sendable, Equatable {
    case none
    case all
    case key(Key)
    case pattern(Glob)

    func includes(_ key: Key) -> Bool {
        switch self {
        case .none: false
        case .all: true
        case .key(let wanted): wanted == key
        case .pattern(let glob): glob.matches(key)
        }
    }

    /// With what an observation begins: one key's value even where there is none, of others those that are there.
    func initialChanges(_ values: [Key: Value]) -> [GroupDefaults.Change] {
        if case .key(let key) = self { return [GroupDefaults.Change(initial: key, values[key])] }
        return values.sorted { $0.key < $1.key }.map { GroupDefaults.Change(initial: $0.key, $0.value) }
    }
}
