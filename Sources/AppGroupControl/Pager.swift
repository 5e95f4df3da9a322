import LinuxIO

/// Shows long output on a terminal a page at a time, by the user's own program: `$PAGER`, or less where there is none.
enum Pager {
    /// What less is told where `$LESS` says nothing: to end where all fits on the screen, to keep colours, and to leave the
    /// screen as it is.
    private static let lessOptions = "LESS=FRXMK"

    static func paging(
        _ invocation: Invocation, _ environment: Environment, _ body: () throws(Failure) -> Void
    ) throws(Failure) {
        guard isWanted(invocation), let program = program(environment) else { return try body() }
        var variables = Subprocess.startEnvironment()
        if environment["LESS"] == nil { variables.append(Array(lessOptions.utf8)) }
        try Subprocess.withOutput(into: "/bin/sh", ["-c", program], environment: variables, body)
    }

    private static func isWanted(_ invocation: Invocation) -> Bool {
        let isLong = invocation.verb?.isPaged ?? false
        return (isLong || invocation.has(.help)) && !invocation.has(.noPager) && Terminal.isThere(1)
    }

    /// A command of the shell; nil where the output is to go on as it is.
    private static func program(_ environment: Environment) -> String? {
        if let pager = environment["PAGER"] { return pager.isEmpty || pager == "cat" ? nil : pager }
        let isThere = (try? Files.statusIfPresent("/usr/bin/less")) != nil
        return isThere ? "less" : nil
    }
}
