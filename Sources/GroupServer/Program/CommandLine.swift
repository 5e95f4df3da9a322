/// What `appgroupd` was started with.
package struct CommandLineOptions: Equatable, Sendable {
    package enum Action: Equatable, Sendable {
        case run, help, version, checkConfiguration
        /// What the installation calls; the help does not show it.
        case manual(page: String)
    }

    package var action: Action = .run
    package var configuration: String?
    package var paths = Paths.Overrides()

    package struct UsageError: Error, Equatable, Sendable {
        package var text: String
    }

    /// Reads the arguments, without the program's name. An option it does not know, or one without its path, is an error.
    package init(_ arguments: [String]) throws(UsageError) {
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts.first ?? "")
            switch name {
            case "--help", "-h": action = .help
            case "--version": action = .version
            case "--check-config": action = .checkConfiguration
            case "--config", "--config-dirs", "--root", "--state", "--socket", "--manual":
                let inline = parts.count == 2 ? String(parts[1]) : nil
                guard let value = inline ?? rest.popFirst(), !value.isEmpty else {
                    throw UsageError(text: "\(name) needs a path")
                }
                set(name, to: value)
            default: throw UsageError(text: "unknown option \"\(argument)\"; appgroupd --help lists them")
            }
        }
    }

    private mutating func set(_ name: String, to path: String) {
        switch name {
        case "--manual": action = .manual(page: path)
        case "--config": configuration = path
        case "--config-dirs": paths.configuration = path.split(separator: ":").map(String.init)
        case "--root": paths.root = path
        case "--state": paths.state = path
        default: paths.socket = path
        }
    }

    package static let help = """
        Usage: appgroupd [OPTION...]

        Keeps the settings that programs share in groups, and tells every program that
        watches them about every change.

          --config FILE    read this configuration instead of appgroupd.conf and
                           appgroupd.conf.d/*.conf from $XDG_CONFIG_HOME/appgroupd,
                           /etc/appgroupd, /run/appgroupd, /usr/local/lib/appgroupd
                           and /usr/lib/appgroupd (man 5 appgroupd.conf)
          --config-dirs DIR:DIR...
                           look for configuration and administrators' settings in
                           these directories, the user's own first
          --root DIR       the groups' directories (default $XDG_DATA_HOME/appgroups)
          --state DIR      the journals (default $XDG_STATE_HOME/appgroupd)
          --socket PATH    the socket to listen at (default
                           $XDG_RUNTIME_DIR/appgroupd/io.appgroupd.Settings)
          --check-config   read the configuration, report what is wrong, and exit
          -h, --help       show this text
          --version        show the version

        Runs in the foreground; SIGTERM and SIGINT write everything out and end it,
        SIGHUP reads the configuration again. No systemd is needed: try it with

          appgroupd --root /tmp/demo/root --state /tmp/demo/state --socket /tmp/demo/socket

        Exit status: 0 ended as asked, 1 failed, 64 wrong usage, 75 another daemon has
        the store, 78 wrong configuration.

        """
}
