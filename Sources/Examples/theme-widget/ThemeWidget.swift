import AppGroup
import ExampleSupport

enum WidgetTheme: String, CaseIterable {
    case light, dark, sepia
}

/// A widget that looks as `settings-panel` tells it, and may be told itself.
struct Widget: Sendable {
    @AppStorage("widgetTheme") var theme = WidgetTheme.light
    @AppStorage("widgetColor") var color = "blue"

    /// A box: the theme is the ground, the colour the border.
    var frame: [String] {
        let paper =
            switch theme {
            case .light: "\u{1B}[30;107m"
            case .dark: "\u{1B}[97;40m"
            case .sepia: "\u{1B}[30;103m"
            }
        let border = "\u{1B}[\(Self.colors[color] ?? 37)m"
        let label = " \(theme.rawValue), \(color) ".prefix(24)
        let padding = String(repeating: " ", count: 24 - label.count)
        let line = String(repeating: "─", count: 24)
        return [
            "\(border)╭\(line)╮\u{1B}[m",
            "\(border)│\(paper)\(label)\(padding)\u{1B}[m\(border)│\u{1B}[m",
            "\(border)╰\(line)╯\u{1B}[m",
        ]
    }

    private static let colors = ["red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36]
}

@main
struct ThemeWidget {
    static let help = """
        Usage: theme-widget [--group GROUP] [COMMAND]

        A widget that follows the settings widgetTheme and widgetColor, live; settings-panel changes them as well.
        Without a COMMAND it takes them from its input.

          theme light|dark|sepia
          color red|green|yellow|blue|magenta|cyan
          show                          print what it shows
          quit

          --group GROUP                 default group.com.example.app
        """

    @MainActor
    static func main() async {
        let example = Example(help: help)
        let widget = Widget()
        let tokens = [
            example.announce("widgetTheme", widget.$theme),
            example.announce("widgetColor", widget.$color),
        ]
        example.draw { widget.frame }
        await example.run { command in
            switch command.verb {
            case "theme": widget.theme = try command.choice()
            case "color": widget.color = command.text
            case "show": example.console.say("\(widget.theme), \(widget.color)")
            default: throw command.unknown
            }
        }
        // The announcements end with their tokens.
        withExtendedLifetime(tokens) {}
    }
}
