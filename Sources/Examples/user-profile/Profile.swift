import Foundation

/// The model: who the user is. Stored as a dictionary of the settings, so that other programs and people can read it.
struct Profile: Codable, Equatable, Sendable {
    var name = ""
    var email = ""
    var bio = ""
    /// The bytes of a picture.
    var avatar = Data()
}
