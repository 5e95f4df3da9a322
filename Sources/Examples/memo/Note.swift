import Foundation

/// A note, as it stands in `Documents/notes.json`.
struct Note: Codable, Equatable, Identifiable, Sendable {
    let id: Int
    var title: String
    var content = ""
    /// When it was written or last edited.
    var date = Date.now

    func contains(_ text: String) -> Bool {
        title.localizedCaseInsensitiveContains(text) || content.localizedCaseInsensitiveContains(text)
    }
}
