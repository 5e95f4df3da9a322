/// The two servers that the suite compares.
enum ServedBy {
    /// Appends each message to a file and sends it on.
    case floor
    /// The daemon, with its acknowledged writes safe from the end of processes ("process") or of power ("power").
    case daemon(durability: String)

    struct Server {
        var process: ChildProcess
        var address: String
    }

    var name: String {
        switch self {
        case .floor: "floor"
        case .daemon(let durability): "appgroupd-\(durability)"
        }
    }

    /// Whether the floor does the same work.
    var isComparable: Bool {
        if case .daemon("power") = self { return false }
        return true
    }

    func start(program: String, daemon: String, folder: String) throws(BenchError) -> Server {
        let socket = "\(folder)/socket"
        let arguments: [String]
        switch self {
        case .floor: arguments = [program, "floor", "--sock", socket, "--log", "\(folder)/log"]
        case .daemon(let durability):
            try Files.write("[Daemon]\nDurability=\(durability)\nLogLevel=warning\n", to: "\(folder)/conf")
            arguments = [
                daemon, "--config", "\(folder)/conf", "--root", "\(folder)/root", "--state", "\(folder)/state",
                "--socket", socket,
            ]
        }
        let process = try ChildProcess(arguments, cpu: nil)
        let limit = now() + 10_000_000_000
        while now() < limit {
            if Link.open(socket) != nil { return Server(process: process, address: "unix:\(socket)") }
            pause(milliseconds: 2)
        }
        process.end()
        throw BenchError("\(name) did not come up within 10 s")
    }
}
