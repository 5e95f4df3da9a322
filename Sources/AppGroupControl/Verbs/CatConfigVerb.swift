import GroupFiles
import LinuxIO

extension Verb {
    static let catConfig = Verb(
        "cat-config", summary: "print the files of the daemon's configuration, as they count",
        details: """
            The main file, appgroupd.conf, is that of the first of ~/.config/appgroupd,
            /etc/appgroupd, /run/appgroupd, /usr/local/lib/appgroupd and /usr/lib/appgroupd
            that has one. The drop-ins, appgroupd.conf.d/*.conf in each of them, follow by
            their names; of two of one name the first directory's counts. Later lines win.
            An empty file, or a link to /dev/null, hides those of its name further down.
            appgroupd --check-config says what is wrong in them; man 5 appgroupd.conf
            describes the keys. No daemon is needed for this.
            """,
        body: CatConfigVerb.run)
}

enum CatConfigVerb {
    @Sendable static func run(_ session: Session) throws(Failure) {
        let files = try session.file { () throws(SystemError) in
            try ConfigurationDirectories(user: session.configurationHome).configurationFiles()
        }
        if files.isEmpty { return session.console.note("there is no configuration file: every key has its default") }
        for (index, file) in files.enumerated() {
            if index > 0 { try session.console.print("") }
            let style = Style(isOn: session.console.usesColor)
            try session.console.print(style.bold("# \(file.path)"))
            for line in file.text.split(separator: "\n", omittingEmptySubsequences: false).trimmedEnd {
                try session.console.print(String(line))
            }
        }
    }
}

extension Session {
    /// Relative values are ignored, as the specification of the XDG directories demands.
    fileprivate var configurationHome: String? {
        if let path = environment["XDG_CONFIG_HOME"], path.hasPrefix("/") { return path }
        guard let home = environment["HOME"], home.hasPrefix("/") else { return ProcessFacts.homeDirectory() }
        return "\(home)/.config"
    }
}

extension [Substring] {
    /// Without the empty piece behind the last line end.
    fileprivate var trimmedEnd: ArraySlice<Substring> { last?.isEmpty == true ? dropLast() : self[...] }
}
