package import GroupFiles

/// Where everything is. Decided by the daemon alone, from its options and the XDG base directories; relative values of
/// XDG variables are ignored, as their specification demands.
package struct Paths: Equatable, Sendable {
    /// The directory of the groups' containers.
    package var root: String
    /// The directory of the journals.
    package var state: String
    /// The socket; nil when no runtime directory is known and none was given.
    package var socket: String?
    /// Where clients that know only the interface's name look for its socket (systemd 260's registry); nil where the socket
    /// was put elsewhere.
    package var registryLink: String?
    /// Where configuration is looked for.
    package var configuration: ConfigurationDirectories

    package struct Overrides: Equatable, Sendable {
        package var root: String?
        package var state: String?
        package var socket: String?
        package var configuration: [String]?

        package init(
            root: String? = nil, state: String? = nil, socket: String? = nil, configuration: [String]? = nil
        ) {
            self.root = root
            self.state = state
            self.socket = socket
            self.configuration = configuration
        }
    }

    package enum Problem: Error, Equatable, Sendable {
        case noHome
        case notAbsolute(option: String, path: String)
    }

    package init(_ overrides: Overrides, environment: (String) -> String?, home: String?) throws(Problem) {
        func absolute(_ name: String) -> String? {
            environment(name).flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        let home = absolute("HOME") ?? home
        func directory(_ variable: String, _ fallback: String) throws(Problem) -> String {
            if let path = absolute(variable) { return path }
            guard let home else { throw .noHome }
            return "\(home)/\(fallback)"
        }
        if let path = overrides.root {
            root = path
        } else {
            root = try directory("XDG_DATA_HOME", ".local/share") + "/appgroups"
        }
        if let path = overrides.state {
            state = path
        } else {
            state = try directory("XDG_STATE_HOME", ".local/state") + "/appgroupd"
        }
        socket = overrides.socket ?? absolute("XDG_RUNTIME_DIR").map { "\($0)/appgroupd/io.appgroupd.Settings" }
        registryLink =
            overrides.socket == nil
            ? absolute("XDG_RUNTIME_DIR").map { "\($0)/varlink/registry/io.appgroupd.Settings" } : nil
        if let paths = overrides.configuration {
            configuration = ConfigurationDirectories(paths)
        } else {
            configuration = ConfigurationDirectories(user: try? directory("XDG_CONFIG_HOME", ".config"))
        }
        let given =
            [("--root", root), ("--state", state), ("--socket", socket ?? "/")]
            + configuration.paths.map { ("--config-dirs", $0) }
        for (option, path) in given where !path.hasPrefix("/") {
            throw .notAbsolute(option: option, path: path)
        }
    }

    package func journal(of group: String) -> String { "\(state)/\(group).journal" }
    var cookieDirectory: String { "\(state)/cookies" }
}

extension Paths.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noHome: "neither HOME nor the user database names a home directory; give --root and --state"
        case .notAbsolute(let option, let path): "\(option) takes an absolute path, not \"\(path)\""
        }
    }
}
