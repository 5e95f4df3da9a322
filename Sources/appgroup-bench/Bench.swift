import Glibc

/// The program `appgroup-bench`: one process of a measurement, chosen by the role it is given, or the whole of a short one.
enum Bench {
    /// - Returns: the exit status.
    static func run(_ arguments: [String]) -> Int32 {
        var rest = arguments.dropFirst()
        guard var role = rest.popFirst() else { return usage("no role") }
        if role == "--help" || role == "-h" || role == "help" {
            print(help, terminator: "")
            return 0
        }
        do throws(BenchError) {
            let usesLibrary = role == "library"
            if usesLibrary { role = rest.popFirst() ?? "" }
            let options = try Options(Array(rest))
            if usesLibrary, try LibraryRoles.play(role, options) { return 0 }
            return try play(role, options) ? 0 : usage("there is no role \"\(role)\"")
        } catch {
            complain(error.text)
            return 3
        }
    }

    /// - Returns: whether there is such a role.
    private static func play(_ role: String, _ options: Options) throws(BenchError) -> Bool {
        switch role {
        case "watch":
            var watch = try WatchRole(options)
            try watch.run()
        case "write": try WriteRole(options).run()
        case "load": try LoadRole(options).run()
        case "fan": try FanRole(options).run()
        case "hold": try HoldRole(options).run()
        case "read": try ReadRole(options).run()
        case "probe": try ProbeRole(options).run()
        case "floor": try FloorServer(options).run()
        case "suite": try Suite(options).run()
        case "growth": try Growth(options).run()
        case "table": try TargetTable(options).print()
        default: return false
        }
        return true
    }

    private static func usage(_ text: String) -> Int32 {
        complain("\(text); appgroup-bench --help lists them")
        return 64
    }

    private static let help = """
        Usage: appgroup-bench ROLE [OPTION...]

        The clients of the benchmark of appgroupd: they speak to the daemon's socket with
        messages made beforehand, so that what is measured is the daemon. `make bench`
        starts everything; the roles below are for a harness that plugs the daemon in
        by peer/appgroupd.json. Times are CLOCK_MONOTONIC in ns; files are int64.

          suite  --daemon FILE [--data DIR] [--secs S] [--json FILE]
                 the daemon beside a floor, and a table with the ratios
          growth --daemon FILE [--data DIR] [--limit N] [--out DIR]
                 how costs grow with keys, groups, observers, values and history, each
                 against the shape it should have; growth.json, .md and .svg in DIR
          table  --results FILE
                 the targets and whether they are met, from a result of the harness (JSON)
          watch  --key K --n N --tok-fd F --out FILE
                 prints READY, notes when each of N values arrives, a byte to F each time
          write  --key K --n N --tok-fd F --wait W --out FILE
                 N sets, the time before and after each, W bytes of F waited for in between
          write  --key K --n N --depth D --out FILE
                 N sets, up to D not acknowledged
          load   --prefix P --keys K --conns C --depth D (--secs S | --count N)
                 sets keys in turn and prints the rate and the latencies
          fan    --key K --subs N --n M --out FILE [--wait 1 --tok-fd F]
                 N observers in one process: notes when the last one has each value
          hold   --key K --subs N
                 N idle observers, until standard input ends
          read   --prefix P --keys K --count B
                 B batches of K reads by the socket, in a random order; prints ns per read
          probe  --key K [--prepare 1]
                 tries until it has read K, prints the time; sets K first if told to
          floor  --sock PATH [--log FILE]
                 what a daemon cannot do with less: takes a message, appends it to FILE,
                 answers, and sends it on; it keeps and checks nothing

          library ROLE …
                 the same by the library AppGroup, where the role is watch, write or read

        All clients take --addr unix:PATH. The group of a key is what stands before the
        last dot of the prefix or key.

        Exit status: 0 done, 3 failed, 64 wrong usage.

        """
}

/// Why a measurement cannot be made.
struct BenchError: Error, Equatable {
    var text: String

    init(_ text: String) {
        self.text = text
    }

    /// With the reason of the call that just failed.
    static func system(_ call: String) -> BenchError {
        let number = errno
        return BenchError("\(call): errno \(number)")
    }
}
