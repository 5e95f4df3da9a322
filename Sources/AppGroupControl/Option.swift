/// An option of the command line, as the table has it: parsing and help come from this.
package struct Option: Sendable {
    /// The first one identifies the option; the others are short forms.
    package let names: [String]
    /// What its value is called in the help; nil for a switch.
    package let valueName: String?
    package let summary: String

    package init(_ name: String, short: String? = nil, value: String? = nil, _ summary: String) {
        names = [name] + (short.map { [$0] } ?? [])
        valueName = value
        self.summary = summary
    }

    package var name: String { names.first ?? "" }

    /// `-q, --quiet` or `--socket PATH`.
    package var synopsis: String {
        names.reversed().joined(separator: ", ") + (valueName.map { " " + $0 } ?? "")
    }
}

extension Option {
    static let socket = Option("--socket", value: "PATH", "the daemon's socket, instead of the one in $XDG_RUNTIME_DIR")
    static let json = Option("--json", "print JSON, one value a line")
    static let jsonSequence = Option("--json-seq", "the same with a record separator before each (RFC 7464)")
    static let plain = Option("--plain", "for scripts: one line a record, fields set apart by tabs")
    static let null = Option("--null", short: "-z", "end each line of the output with a zero byte instead")
    static let noPager = Option("--no-pager", "print long output as it is, without $PAGER")
    static let timeout = Option(
        "--timeout", value: "SECONDS", "how long an answer may take (30); watch, wait: how long to wait")
    static let quiet = Option("--quiet", short: "-q", "no notes on standard error, only errors")
    static let version = Option("--version", "print the version")
    static let help = Option("--help", short: "-h", "print this; after a verb, its help")

    /// What every verb takes.
    static let global = [socket, json, jsonSequence, plain, null, noPager, timeout, quiet, version, help]

    static let glob = Option("--glob", "take each KEY as a pattern: * any run, ? one character, \\ escapes")
    static let durable = Option("--durable", "come back when the change is on stable storage")
    static let unchangedSince = Option(
        "--if-unchanged-since", value: "REVISION", "refuse if the key changed after this revision")
    static let tag = Option("--tag", value: "TEXT", "a mark that observers see beside the change")
    static let create = Option("--create", "make the group even if one of nearly the same name exists")
    static let initial = Option("--initial", "print the present values first")
    static let count = Option("--count", value: "N", "end after N changes")
    static let limit = Option("--limit", value: "N", "at most N commits (100)")
    static let dryRun = Option("--dry-run", "print what would change, and change nothing")
    static let merge = Option("--merge", "keep keys that the file does not have, as without it")
    static let replace = Option("--replace", "remove keys that the file does not have")
    static let skipForced = Option("--skip-forced", "leave out keys that the administrator has set")
    static let format = Option("--format", value: "FORMAT", "xml (as without it), binary or json")
    static let check = Option("--check", "change nothing, and end with status 3 if something would change")
    static let prune = Option("--prune", "remove keys that the file does not have")
    static let absent = Option("--absent", "wait until the key is not there")
    static let at = Option("--at", value: "REVISION|TIME", "the values as they were then")
    static let since = Option("--since", value: "REVISION|TIME", "from then on")
    static let by = Option("--by", value: "CLIENT", "only what this program, unit or tag has done")
    static let exec = Option("--exec", value: "COMMAND", "run a shell command for each change, instead of printing it")
    static let debounce = Option(
        "--debounce", value: "SECONDS", "with --exec: run once a key, when nothing has changed for so long")
    static let duration = Option("--for", value: "TIME", "how long, such as 30s, 5min or 2h (30s)")
    static let state = Option("--state", value: "FILE", "with --exec: go on after the last change that FILE remembers")
    static let path = Option("--path", value: "FILE", "the link, instead of $XDG_CONFIG_HOME/GROUP.plist")
}
