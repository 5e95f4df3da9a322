import AppGroup
import ExampleSupport

/// A settings manager with defaults over one `Codable` value. Start it twice: what one changes the other shows.
@main
struct Haptics {
    static let help = """
        Usage: haptics [--group GROUP] [COMMAND]

        Shows and changes two settings that are one Codable value. Without a COMMAND it takes them from its input.

          animation on|off
          haptic on|off
          reset                  both as they were at first: on
          show                   print them
          quit

          --group GROUP          default group.com.example.app
        """

    @MainActor
    static func main() async {
        let example = Example(help: help)
        let manager = SettingsManager(store: example.settings)
        let tokens = [
            example.announce("isAnimation", manager.$settings.isAnimation),
            example.announce("isHaptic", manager.$settings.isHaptic),
        ]
        example.draw { frame(manager.settings) }
        await example.run { command in
            switch command.verb {
            case "animation": manager.setAnimation(try command.flag())
            case "haptic": manager.setHaptic(try command.flag())
            case "reset": manager.reset()
            case "show":
                for line in frame(manager.settings) { example.console.say(line) }
            default: throw command.unknown
            }
        }
        // The announcements end with their tokens.
        withExtendedLifetime(tokens) {}
    }

    nonisolated private static func frame(_ settings: FeedbackSettings) -> [String] {
        [
            "Feedback",
            "",
            "  \(settings.isAnimation ? "[x]" : "[ ]") Animation",
            "  \(settings.isHaptic ? "[x]" : "[ ]") Haptic",
        ]
    }
}
