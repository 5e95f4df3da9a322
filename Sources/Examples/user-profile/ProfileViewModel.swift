import AppGroup
import Foundation
import Observation

/// The view model: what the view shows, and what its buttons do. While nothing is being edited it follows what is saved,
/// whichever program has saved it.
@MainActor @Observable
final class ProfileViewModel {
    @ObservationIgnored @AppStorage("userProfile") private var saved = Profile()
    /// What is being edited; nil for nothing.
    private var edited: Profile?

    var profile: Profile { edited ?? saved }
    var isEdited: Bool { edited.map { $0 != saved } ?? false }
    /// What is saved, to observe it.
    var savedProfile: Binding<Profile> { $saved }

    func edit(_ change: (inout Profile) -> Void) {
        var profile = profile
        change(&profile)
        edited = profile
    }

    func save() {
        if let edited { saved = edited }
        edited = nil
    }

    /// Takes what is saved, and forgets the edits.
    func load() {
        edited = nil
    }

    /// There is no profile any more.
    func reset() {
        $saved.reset()
        edited = nil
    }
}
