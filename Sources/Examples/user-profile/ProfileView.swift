/// The view: text made of what the view model says, and nothing else.
@MainActor
struct ProfileView {
    let model: ProfileViewModel

    var body: [String] {
        let profile = model.profile
        return [
            "Profile\(model.isEdited ? " (not saved)" : "")",
            "",
            "  Name    \(profile.name)",
            "  E-mail  \(profile.email)",
            "  Bio     \(profile.bio)",
            "  Avatar  \(profile.avatar.isEmpty ? "none" : "\(profile.avatar.count) bytes")",
        ]
    }
}
