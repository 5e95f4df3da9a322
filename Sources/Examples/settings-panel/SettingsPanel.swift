import AppGroup
import ExampleSupport
import Foundation

/// The settings of an app. Start it twice, or beside `theme-widget`: what one changes the others show.
@main
struct SettingsPanel {
    static let help = """
        Usage: settings-panel [--group GROUP] [COMMAND]

        Shows the settings of an app, live. Without a COMMAND it takes them from its input.

          name TEXT                     the display name
          notifications on|off
          results NUMBER|more|fewer     10 to 100 in steps of 5
          tab home|search|profile
          dark on|off
          theme system|light|dark
          widget-theme light|dark|sepia what theme-widget shows
          widget-color TEXT
          reset                         everything as it was at first
          show                          print the settings
          quit

          --group GROUP                 default group.com.example.app
        """

    @MainActor
    static func main() async {
        let example = Example(help: help)
        let panel = Panel()
        let tokens = announcements(of: panel, by: example)
        if example.command == nil { open(panel, example.settings) }
        example.draw { panel.frame }
        await example.run { command in
            try await perform(command, panel, example)
        }
        // The announcements end with their tokens.
        withExtendedLifetime(tokens) {}
    }

    /// Two panels that open at the same time count as two: the daemon adds.
    @MainActor
    private static func open(_ panel: Panel, _ settings: GroupDefaults) {
        settings.increment("launchCount")
        panel.lastOpened = .now
    }

    @MainActor
    private static func perform(_ command: Command, _ panel: Panel, _ example: Example) async throws {
        switch command.verb {
        case "name": panel.displayName = command.text
        case "notifications": panel.notificationsEnabled = try command.flag()
        case "results": panel.setMaxResults(try results(command, panel.maxResults))
        case "tab": panel.selectedTab = try command.choice()
        case "dark": panel.isDarkMode = try command.flag()
        case "theme": panel.theme = try command.choice()
        case "widget-theme": panel.widgetTheme = try command.choice()
        case "widget-color": panel.widgetColor = command.text
        case "reset":
            // One commit: nobody sees a half of it.
            try await example.settings.write { edits in
                for key in Panel.keys { edits.removeObject(forKey: key) }
            }
        case "show":
            for line in panel.frame { example.console.say(line) }
        default: throw command.unknown
        }
    }

    private static func results(_ command: Command, _ present: Int) throws -> Int {
        switch command.text {
        case "more": present + 5
        case "fewer": present - 5
        default: try command.number()
        }
    }

    @MainActor
    private static func announcements(of panel: Panel, by example: Example) -> [ObservationToken] {
        [
            example.announce("displayName", panel.$displayName),
            example.announce("notificationsEnabled", panel.$notificationsEnabled),
            example.announce("maxResults", panel.$maxResults),
            example.announce("selectedTab", panel.$selectedTab),
            example.announce("isDarkMode", panel.$isDarkMode),
            example.announce("theme", panel.$theme),
            example.announce("lastOpened", panel.$lastOpened),
            example.announce("launchCount", panel.$launchCount),
            example.announce("widgetTheme", panel.$widgetTheme),
            example.announce("widgetColor", panel.$widgetColor),
        ]
    }
}
