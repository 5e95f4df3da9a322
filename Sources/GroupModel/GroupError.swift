package import PropertyList

/// The errors of the interface `io.appgroupd.Settings`, one to one (a test holds them against the `.varlink` file).
package enum GroupError: Error, Equatable, Sendable {
    case noSuchGroup(String)
    case invalidGroup(String, reason: String)
    case invalidKey(String, reason: String)
    case invalidValue(key: String, reason: String)
    case wrongType(key: String, expected: String, found: String)
    /// The keys that changed after the revision that the caller named, and the group's present revision.
    case conflict(keys: [String], revision: Int64)
    case forced(keys: [String])
    case readOnly(group: String, reason: String)
    /// Sizes in bytes, or in things where the subject says so.
    case tooLarge(subject: String, limit: Int64, size: Int64)
    case storageFailed(reason: String, errno: Int32)
    case notPermitted(reason: String)
}

extension GroupError {
    /// The key that is at fault, where it is one.
    package var key: Key? {
        switch self {
        case .invalidKey(let key, _), .invalidValue(let key, _), .wrongType(let key, _, _): Key(key)
        case .noSuchGroup, .invalidGroup, .conflict, .forced, .readOnly, .tooLarge, .storageFailed, .notPermitted: nil
        }
    }
}

extension GroupError: CustomStringConvertible {
    /// One line for people.
    package var description: String {
        switch self {
        case .noSuchGroup(let group): "there is no group \(group)"
        case .invalidGroup(let group, let reason): "\"\(group)\" is no group identifier: \(reason)"
        case .invalidKey(let key, let reason): "\"\(key)\" cannot be a key: \(reason)"
        case .invalidValue(let key, let reason): "the value of \(key) is refused: \(reason)"
        case .wrongType(let key, let expected, let found): "\(key) holds a value of type \(found), not \(expected)"
        case .conflict(let keys, let revision):
            "changed meanwhile: \(keys.joined(separator: ", ")); the group is at revision \(revision)"
        case .forced(let keys): "set by an administrator: \(keys.joined(separator: ", "))"
        case .readOnly(let group, let reason): "\(group) is read-only: \(reason)"
        case .tooLarge(let subject, let limit, let size):
            "too large: \(subject) would be \(size), the limit is \(limit)"
        case .storageFailed(let reason, _): reason
        case .notPermitted(let reason): "not permitted: \(reason)"
        }
    }

    /// The same for a log, which holds no value of a setting: the rule that a value breaks may quote it.
    package var textForLog: String {
        if case .invalidValue(let key, _) = self { return "the value of \(key) is refused" }
        return description
    }
}
