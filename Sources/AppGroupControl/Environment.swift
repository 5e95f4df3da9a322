import LinuxIO

/// The variables that the tool looks at: those of the process, or a test's.
package struct Environment: Sendable {
    private let variable: @Sendable (String) -> String?

    package init(_ variables: [String: String]) {
        variable = { variables[$0] }
    }

    private init(variable: @escaping @Sendable (String) -> String?) {
        self.variable = variable
    }

    package static let process = Environment(variable: ProcessFacts.environment)

    package subscript(name: String) -> String? { variable(name) }

    /// Where programs keep their configuration: `$XDG_CONFIG_HOME`, which counts only if it is absolute, or
    /// `~/.config`.
    var configurationDirectory: String? {
        if let path = self["XDG_CONFIG_HOME"], path.hasPrefix("/") { return path }
        let home = self["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? ProcessFacts.homeDirectory()
        return home.map { $0 + "/.config" }
    }
}
