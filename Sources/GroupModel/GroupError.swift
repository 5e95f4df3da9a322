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
