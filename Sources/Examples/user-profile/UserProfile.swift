import AppGroup
import ExampleSupport
import Foundation

/// A profile as a `Codable` value, in the form Model–View–View model. Start it twice: what one saves the other shows.
@main
struct UserProfile {
    static let help = """
        Usage: user-profile [--group GROUP] [COMMAND]

        Shows and edits a profile that is one Codable value. Without a COMMAND it takes them from its input.

          name TEXT
          email TEXT
          bio TEXT
          avatar FILE            the bytes of a picture
          save                   what was edited is there for everybody
          load                   back to what is saved
          reset                  no profile
          show                   print it
          quit

        As an argument a COMMAND that edits also saves.

          --group GROUP          default group.com.example.app
        """

    @MainActor
    static func main() async {
        let example = Example(help: help)
        let model = ProfileViewModel()
        let view = ProfileView(model: model)
        let saved = model.savedProfile
        // Parts of the value can be observed on their own.
        let tokens = [
            example.announce("name", saved.name),
            example.announce("email", saved.email),
            example.announce("bio", saved.bio),
            example.announce("avatar", saved.avatar),
        ]
        example.draw { view.body }
        await example.run { command in
            switch command.verb {
            case "show":
                for line in view.body { example.console.say(line) }
            default: try perform(command, model)
            }
            if example.command != nil { model.save() }
        }
        // The announcements end with their tokens.
        withExtendedLifetime(tokens) {}
    }

    @MainActor
    private static func perform(_ command: Command, _ model: ProfileViewModel) throws {
        switch command.verb {
        case "name": model.edit { $0.name = command.text }
        case "email":
            guard command.text.contains("@") else { throw Complaint("an e-mail address has an @") }
            model.edit { $0.email = command.text }
        case "bio": model.edit { $0.bio = command.text }
        case "avatar":
            let bytes = try Data(contentsOf: URL(filePath: command.text))
            model.edit { $0.avatar = bytes }
        case "save": model.save()
        case "load": model.load()
        case "reset": model.reset()
        default: throw command.unknown
        }
    }
}
