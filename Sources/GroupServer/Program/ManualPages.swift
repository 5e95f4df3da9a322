import GroupProtocol

/// The pages appgroupd(8) and appgroupd.conf(5), in the language of man(7): the options are those of `--help`, the keys those
/// of the table.
enum ManualPages {
    static func page(named name: String) -> String? {
        switch name {
        case "appgroupd": daemon
        case "appgroupd.conf": configuration
        default: nil
        }
    }

    private static func head(_ title: String, _ section: Int, _ name: String) -> String {
        """
        .TH \(title) \(section) "" "appgroupd \(escaped(Version.string))" "appgroupd"
        .SH NAME
        \(name)

        """
    }

    // MARK: appgroupd(8)

    private static var daemon: String {
        head(
            "APPGROUPD", 8,
            "appgroupd \\- keep the settings that programs share, and tell every program of every change")
                + """
                .SH SYNOPSIS
                .B appgroupd
                [\\fIOPTION\\fR...]
                .PP
                .B systemctl \\-\\-user enable \\-\\-now appgroupd.socket
                .SH DESCRIPTION
                A daemon of each user. It keeps the settings of
                .I groups,
                watches their property lists, and propagates every change, whoever made it, to every program that observes
                them. The first connection to its socket starts it.
                .PP
                .nf
                \(escaped(CommandLineOptions.help))
                .fi
                .SH ADMINISTRATORS' SETTINGS
                In each of the directories
                .I ~/.config/appgroupd, /etc/appgroupd, /run/appgroupd, /usr/local/lib/appgroupd
                and
                .I /usr/lib/appgroupd
                there may be, for a group:
                .TP
                .I managed/GROUP.plist
                Its keys are forced: in effect at once for every program, and nobody can write them. Of a key that several
                files have, /etc goes first; the user's own directory goes last, and cannot undo what an administrator forces.
                .TP
                .I defaults/GROUP.plist
                Its keys are what a group without them has. The user's own directory goes first, then /etc and the others in
                this order.
                .PP
                The files are property lists, XML or binary. They are watched: replace one, by renaming a new file into its
                place, and it is in force. An empty file, or a link to /dev/null, hides those of its name that would come
                after it. One that cannot be read leaves in force what it held before, and
                .B appgroupctl status
                says what is wrong with it.
                .B appgroupctl explain
                .I GROUP KEY
                shows every layer's value, who set it, and which one wins.
                .TP
                .I schemas/GROUP.json, schemas/GROUP.plist
                What the group's values have to be; the highest one counts.
                .B appgroupctl describe
                explains it.
                .SH SANDBOXED APPLICATIONS
                Flatpak applications and snaps may use no group, unless
                .I policy.conf
                in one of these directories, or a drop\\-in of it, grants it:
                .PP
                .nf
                [Flatpak org.example.App]
                Groups=group.org.example.* group.shared
                .fi
                .PP
                For a snap the section is [Snap NAME]. Groups= takes globs; several lines add up, an empty one takes back.
                .SH SIGNALS
                .TP
                .B SIGTERM, SIGINT
                Write everything out and end.
                .TP
                .B SIGHUP
                Read the configuration again, all or nothing.
                .SH FILES
                .TP
                .I $XDG_RUNTIME_DIR/appgroupd/io.appgroupd.Settings
                The socket; the protocol is Varlink.
                .TP
                .I ~/.local/share/appgroups/GROUP/Library/Preferences/GROUP.plist
                A group's settings.
                .TP
                .I ~/.local/state/appgroupd/GROUP.journal
                Its journal, a line of JSON for each change.
                .SH SEE ALSO
                .BR appgroupctl (1),
                .BR appgroupd.conf (5),
                .BR systemd.unit (5)

                """
    }

    // MARK: appgroupd.conf(5)

    private static var configuration: String {
        head("APPGROUPD.CONF", 5, "appgroupd.conf, appgroupd.conf.d \\- configuration of appgroupd")
            + """
            .SH SYNOPSIS
            .nf
            ~/.config/appgroupd/appgroupd.conf
            /etc/appgroupd/appgroupd.conf
            /run/appgroupd/appgroupd.conf
            /usr/local/lib/appgroupd/appgroupd.conf
            /usr/lib/appgroupd/appgroupd.conf
            .fi
            .PP
            and in each of these directories
            .I appgroupd.conf.d/*.conf
            .SH DESCRIPTION
            The first of the main files that exists is read. Then all drop\\-ins are, sorted by their names whatever
            directory they are in; of two of one name that of the directory named first here counts. Later lines win. An
            empty file, or a link to /dev/null, hides those of its name further down. No file at all is fine.
            .PP
            The syntax is that of
            .BR systemd.syntax (7).
            What is not understood is reported with file and line, and passed over.
            .B systemctl \\-\\-user reload appgroupd.service
            reads everything again; where a file cannot be read, everything stays as it was.
            .B appgroupctl cat\\-config
            prints the files, and
            .B appgroupd \\-\\-check\\-config
            what is wrong in them.
            .PP
            Times take us, ms, s, min, h, d, w, month and y, alone or in a row (1min 30s); a bare number is seconds. Sizes
            take K, M, G and T, powers of 1024. An empty value resets a key to its default.
            .SH OPTIONS
            All in the section [Daemon]:

            """
            + ConfigurationKey.all.map { key in
                let standard = key.standard.isEmpty ? "" : " The default is \(key.standard)."
                return ".TP\n.B \(escaped(key.name))=\n\(escaped(key.summary + standard))\n"
            }.joined()
                + """
                .SH SEE ALSO
                .BR appgroupd (8),
                .BR appgroupctl (1)

                """
    }

    /// Nothing in it acts: no backslash, no request at the beginning of a line, hyphens that can be copied.
    private static func escaped(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let guardMark = line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" : ""
            return guardMark + line.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        }.joined(separator: "\n")
    }
}
