import GroupProtocol
import LinuxIO

/// The program `appgroupctl`, for its main file and for tests.
package enum Control {
    /// Runs one command line, the program's name not included. The exit status.
    package static func run(_ arguments: [String]) -> Int32 {
        let console = Console.standard(.process)
        return run(arguments, console, .process)
    }

    package static func run(_ arguments: [String], _ console: Console, _ environment: Environment) -> Int32 {
        do throws(Failure) {
            try checkEncoding(arguments)
            try perform(try CommandLineParser.parse(arguments), console, environment)
            try console.flush()
            return 0
        } catch {
            // What was found before the failure counts; a second failure says nothing new.
            try? console.flush()
            console.complain(error.text)
            return error.status.rawValue
        }
    }

    private static func perform(
        _ invocation: Invocation, _ console: Console, _ environment: Environment
    ) throws(Failure) {
        console.isQuiet = invocation.has(.quiet)
        console.isPlain = invocation.has(.plain)
        if invocation.has(.null) { console.terminator = 0 }
        if invocation.has(.version) { return try console.print("appgroupctl \(Version.string)") }
        try Pager.paging(invocation, environment) { () throws(Failure) in
            if invocation.has(.help) {
                try Verb.printHelp(of: invocation.verb, console)
            } else {
                try invocation.verb?.body(Session(invocation, console, environment))
            }
            try console.flush()
        }
    }

    /// Swift repairs arguments that are no UTF-8, and the repaired text would be stored. Such a repair shows as U+FFFD;
    /// whether it was typed so, the kernel's own copy of the command line tells.
    private static func checkEncoding(_ arguments: [String]) throws(Failure) {
        guard arguments.contains(where: { $0.unicodeScalars.contains("\u{FFFD}") }) else { return }
        guard let bytes = try? Files.open("/proc/self/cmdline", .readOnly).readAll(limit: 16 << 20) else { return }
        guard String(validating: bytes, as: UTF8.self) == nil else { return }
        throw Failure(.usage, "an argument is no UTF-8 text", advice: "data goes with -data or -base64")
    }
}
