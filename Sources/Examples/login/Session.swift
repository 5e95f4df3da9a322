import AppGroup

extension GroupDefaults.Key<String?> {
    static var user: Self { Self("loggedInUser") }
}

/// The model: who is logged in, for all programs of the group.
struct Session: Sendable {
    let settings: GroupDefaults

    var user: String? { settings[.user] }

    /// Everybody who comes and goes, beginning with who is there now.
    var changes: GroupDefaults.Updates<GroupDefaults.Change> {
        settings.changes(for: GroupDefaults.Key.user.name, initial: true)
    }

    /// Of two who log in at the same time one gets in.
    ///
    /// - Returns: whether it was this one.
    func logIn(_ name: String) async throws -> Bool {
        try await settings.compareAndSet(GroupDefaults.Key.user.name, expected: nil, to: name)
    }

    func logOut() {
        settings.reset(.user)
    }
}
