import AppGroup
import Foundation

enum Tab: String, CaseIterable {
    case home, search, profile
}

enum Theme: String, CaseIterable {
    case system, light, dark
}

/// What theme-widget can show.
enum WidgetTheme: String, CaseIterable {
    case light, dark, sepia
}

/// The settings of the app. Each property is the setting itself: reading gives what it is now, whichever program has set it.
struct Panel: Sendable {
    @AppStorage("displayName") var displayName = "Guest"
    @AppStorage("notificationsEnabled") var notificationsEnabled = true
    @AppStorage("maxResults") var maxResults = 20
    @AppStorage("selectedTab") var selectedTab = Tab.home
    @AppStorage("isDarkMode") var isDarkMode = false
    @AppStorage("theme") var theme = Theme.system
    @AppStorage("lastOpened") var lastOpened: Date?
    @AppStorage("launchCount") var launchCount = 0

    // The widget's, which another program shows and may change as well.
    @AppStorage("widgetTheme") var widgetTheme = WidgetTheme.light
    @AppStorage("widgetColor") var widgetColor = "blue"

    static let keys = [
        "displayName", "notificationsEnabled", "maxResults", "selectedTab", "isDarkMode", "theme", "lastOpened",
        "launchCount", "widgetTheme", "widgetColor",
    ]

    static let resultLimits = 10...100

    /// From 10 to 100 in steps of 5.
    func setMaxResults(_ number: Int) {
        let limits = Self.resultLimits
        maxResults = min(limits.upperBound, max(limits.lowerBound, number)) / 5 * 5
    }
}

// MARK: - What is drawn

extension Panel {
    var frame: [String] {
        [
            "Settings",
            "",
            "  Display name    \(displayName)",
            "  Notifications   \(Self.box(notificationsEnabled))",
            "  Max results     \(maxResults)  (10…100 by 5)",
            "  Tab             \(Self.buttons(selectedTab))",
            "  Dark mode       \(Self.box(isDarkMode))",
            "  Theme           \(Self.buttons(theme))",
            "  Widget          \(widgetTheme), \(widgetColor)",
            "  Last opened     \(lastOpened.map { "\($0)" } ?? "never")",
            "  Launches        \(launchCount)",
        ]
    }

    private static func box(_ isOn: Bool) -> String { isOn ? "[x]" : "[ ]" }

    private static func buttons<Choice: CaseIterable & RawRepresentable & Equatable>(_ selected: Choice) -> String {
        Choice.allCases.map { "\($0 == selected ? "(•)" : "( )") \($0.rawValue)" }.joined(separator: "  ")
    }
}
