import Glibc

/// How the daemon's costs grow: with keys, groups, observers, the size of a value and the length of the history. Each curve
/// is measured on a daemon of its own and held against the shape that it should have.
final class Growth {
    private let daemon: String
    private let program: String
    private let data: String
    /// The greatest size of any curve.
    private let limit: Int
    private let output: String
    private var curves: [Curve] = []
    private var value = now() / 1000 % 1_000_000_000_000

    private static let group = "grow"
    private static let prefix = "grow.k"
    /// What is set in one call to fill a group.
    private static let batch = 100
    private static let samples = 1000

    init(_ options: Options) throws(BenchError) {
        daemon = try options.text("daemon")
        limit = max(try options.number("limit", or: 1_000_000), 10)
        output = options.text("out", or: "")
        program = CommandLine.arguments.first ?? "appgroup-bench"
        data = try TemporaryFolder.make(in: options.text("data", or: "/tmp"))
    }

    func run() throws(BenchError) {
        ChildProcess.raiseDescriptorLimit()
        defer { TemporaryFolder.remove(data) }
        try keys()
        try groups()
        try observers()
        try valueSize()
        try history()
        print(curves.markdown)
        guard !output.isEmpty else { return }
        try Files.write(curves.json, to: "\(output)/growth.json")
        try Files.write(Plot.svg(curves), to: "\(output)/growth.svg")
        try Files.write(curves.markdown + "\n", to: "\(output)/growth.md")
    }

    private func sizes(_ first: Int, _ last: Int) -> [Int] {
        var sizes: [Int] = []
        var size = first
        while size <= min(last, limit) {
            sizes.append(size)
            size *= 10
        }
        return sizes
    }
}

// MARK: - The curves

extension Growth {
    private func keys() throws(BenchError) {
        var sets = Curve(name: "one acknowledged set", sizeName: "keys in the group", unit: "µs", shape: .constant)
        var starts = Curve(
            name: "start to the first answer", sizeName: "keys in the group", unit: "ms", shape: .linear)
        var server = try start("keys", ["MaxGroupSize=256M"])
        var known = 0
        for size in sizes(10, 1_000_000) {
            complain("\(size) keys")
            let link = try Link.connect(server.path)
            try fill(link, known..<size)
            known = size
            try synchronize(link)
            sets.points.append(.init(size: size, cost: try setLatency(link, keys: size)))
            try synchronize(link)
            server.process.end()
            let (again, time) = try restart(server)
            server = again
            starts.points.append(.init(size: size, cost: time))
        }
        server.process.end()
        curves += [sets, starts]
    }

    private func groups() throws(BenchError) {
        var sets = Curve(name: "one acknowledged set", sizeName: "groups", unit: "µs", shape: .constant)
        var starts = Curve(name: "start to the first answer", sizeName: "groups", unit: "ms", shape: .linear)
        var server = try start("groups", ["MaxGroups=20000"], in: Self.memoryFolder ?? data)
        defer { if Self.memoryFolder != nil { TemporaryFolder.remove(server.folder) } }
        var known = 1
        for size in sizes(1, 10_000) {
            complain("\(size) groups")
            let link = try Link.connect(server.path)
            try fill(link, 0..<10)
            for number in known..<max(size, known) {
                try link.call(Wire.createGroup("grow.more.g\(number)"))
            }
            known = max(size, known)
            sets.points.append(.init(size: size, cost: try setLatency(link, keys: 10)))
            server.process.end()
            let (again, time) = try restart(server)
            server = again
            starts.points.append(.init(size: size, cost: time))
        }
        server.process.end()
        curves += [sets, starts]
    }

    /// Ten thousand directories on a disk are a measurement of its fsync.
    private static var memoryFolder: String? {
        unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm/appgroup-bench.\(getpid())" : nil
    }

    private func observers() throws(BenchError) {
        var acknowledged = Curve(
            name: "one acknowledged set", sizeName: "observers of the key", unit: "µs", shape: .constant)
        var last = Curve(name: "set → the last observer", sizeName: "observers of the key", unit: "µs", shape: .linear)
        let server = try start("observers", ["MaxConnections=12000"])
        defer { server.process.end() }
        for size in sizes(1, 10_000) {
            complain("\(size) observers")
            let (acknowledgement, arrival) = try fan(server, size)
            acknowledged.points.append(.init(size: size, cost: acknowledgement))
            last.points.append(.init(size: size, cost: arrival))
        }
        curves += [acknowledged, last]
    }

    private func valueSize() throws(BenchError) {
        var sets = Curve(name: "one acknowledged set", sizeName: "bytes of the value", unit: "µs", shape: .linear)
        let server = try start("values", [])
        defer { server.process.end() }
        let link = try Link.connect(server.path)
        try link.call(Wire.createGroup(Self.group))
        for size in sizes(10, 1_000_000) {
            complain("values of \(size) bytes")
            let count = min(Self.samples, max(20, 20_000_000 / size))
            let samples = try (0..<count).map { (number) throws(BenchError) -> Double in
                let digits = String(number + 1_000_000)
                let text = digits + String(repeating: "x", count: max(size - digits.utf8.count, 0))
                let message = Self.message([("grow.k000000", text)])
                let start = now()
                try link.call(message)
                return Double(now() - start) / 1000
            }
            sets.points.append(.init(size: size, cost: samples.median))
        }
        curves.append(sets)
    }

    private func history() throws(BenchError) {
        var sets = Curve(name: "one acknowledged set", sizeName: "commits before it", unit: "µs", shape: .constant)
        let server = try start("history", ["HistoryCommits=1000000"])
        defer { server.process.end() }
        let link = try Link.connect(server.path)
        try fill(link, 0..<1000)
        var known = 10 + Self.samples
        for size in sizes(1000, 1_000_000) {
            complain("\(size) commits")
            if size > known { try load(server, size - known) }
            sets.points.append(.init(size: size, cost: try setLatency(link, keys: 1000)))
            known = size + Self.samples
        }
        curves.append(sets)
    }
}

// MARK: - Their parts

extension Growth {
    private struct Server {
        var process: ChildProcess
        var path: String
        var folder: String
        var arguments: [String]
    }

    private func start(_ name: String, _ configuration: [String], in parent: String? = nil) throws(BenchError) -> Server
    {
        let folder = parent.map { $0 == data ? "\(data)/\(name)" : $0 } ?? "\(data)/\(name)"
        try Files.makeFolder(folder)
        let lines = ["[Daemon]", "LogLevel=error"] + configuration
        try Files.write(lines.joined(separator: "\n") + "\n", to: "\(folder)/conf")
        let arguments = [
            daemon, "--config", "\(folder)/conf", "--root", "\(folder)/root", "--state", "\(folder)/state",
            "--socket", "\(folder)/socket",
        ]
        let server = Server(
            process: try ChildProcess(arguments, cpu: nil), path: "\(folder)/socket", folder: folder,
            arguments: arguments)
        let limit = now() + 60_000_000_000
        while Link.open(server.path) == nil {
            if now() > limit { throw BenchError("the daemon did not come up within 60 s") }
            pause(milliseconds: 2)
        }
        try Link.connect(server.path).call(Wire.createGroup(Self.group))
        return server
    }

    /// - Returns: the server anew, and the time in ms until it answered with a value.
    private func restart(_ server: Server) throws(BenchError) -> (Server, Double) {
        var server = server
        let read = Wire.read(key: Self.prefix + "000000")
        let start = now()
        server.process = try ChildProcess(server.arguments, cpu: nil)
        while now() - start < 120_000_000_000 {
            if let link = Link.open(server.path) {
                try link.queue(read)
                try link.flush()
                if try link.reply().isValueThere { return (server, Double(now() - start) / 1e6) }
            }
            _ = usleep(200)
        }
        throw BenchError("no answer in 120 s")
    }

    private func fill(_ link: Link, _ keys: Range<Int>) throws(BenchError) {
        try link.call(Wire.createGroup(Self.group))
        var next = keys.lowerBound
        while next < keys.upperBound {
            let end = min(next + Self.batch, keys.upperBound)
            let pairs = (next..<end).map { (Self.prefix + Self.digits($0, 6), Self.digits($0, 12) + Wire.valueSuffix) }
            try link.call(Self.message(pairs))
            next = end
        }
    }

    /// The median of acknowledged sets of random keys, one at a time, in µs.
    private func setLatency(_ link: Link, keys: Int) throws(BenchError) -> Double {
        let set = Wire.write(prefix: Self.prefix)
        let order = RandomOrder.numbers(below: keys)
        var samples: [Double] = []
        for number in 0..<Self.samples {
            value += 1
            set.set(.key, to: order[number % order.count])
            set.set(.value, to: value)
            let start = now()
            try link.call(set)
            samples.append(Double(now() - start) / 1000)
        }
        return samples.median
    }

    private func synchronize(_ link: Link) throws(BenchError) {
        try link.call(#"{"method":"io.appgroupd.Settings.Synchronize","parameters":{"group":"\#(Self.group)"}}"#)
    }

    private func load(_ server: Server, _ count: Int) throws(BenchError) {
        let load = try ChildProcess(
            [
                program, "load", "--addr", "unix:\(server.path)", "--prefix", Self.prefix, "--keys", "1000", "--conns",
                "1", "--depth", "64", "--count", "\(count)",
            ], cpu: nil)
        try load.wait()
    }

    /// The median times of the acknowledgement and of the last observer, in µs.
    private func fan(_ server: Server, _ count: Int) throws(BenchError) -> (Double, Double) {
        let tokens = try ChildProcess.pipe()
        let sets = count > 1000 ? 40 : 200
        let common = [
            "--addr", "unix:\(server.path)", "--key", Self.prefix + "000000", "--n", "\(sets)", "--wait", "1",
        ]
        let fan = try ChildProcess(
            [program, "fan"] + common + [
                "--subs", "\(count)", "--tok-fd", "\(tokens.write)", "--out", "\(data)/seen",
            ], cpu: nil, keeping: tokens.write)
        guard fan.readLine() == "READY" else { throw BenchError("the observers did not come up") }
        let write = try ChildProcess(
            [program, "write"] + common + ["--tok-fd", "\(tokens.read)", "--out", "\(data)/sent"], cpu: nil,
            keeping: tokens.read)
        tokens.close()
        try write.wait()
        try fan.wait()
        let (sent, seen) = (try TimesFile.read("\(data)/sent"), try TimesFile.read("\(data)/seen"))
        let measured = sets / 10..<sets
        return (
            measured.map { Double(sent[2 * $0 + 1] - sent[2 * $0]) / 1000 }.median,
            measured.map { Double(seen[$0] - sent[2 * $0]) / 1000 }.median
        )
    }

    private static func message(_ pairs: [(key: String, text: String)]) -> String {
        let edits = pairs.map { #"{"key":"\#($0.key)","value":{"string":"\#($0.text)"}}"# }.joined(separator: ",")
        return #"{"method":"io.appgroupd.Settings.Write","parameters":{"group":"\#(group)","edits":[\#(edits)]}}"#
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(count - text.count, 0)) + text
    }
}
