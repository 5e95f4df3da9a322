import Glibc

/// The daemon beside the floor in one go, for a machine that has no harness: W1, W2 and W3 at their main points, each
/// repetition of the two right after one another, and the ratio of the two in the same repetition.
final class Suite {
    private let daemon: String
    private let data: String
    private let seconds: Double
    private let json: String
    private let program: String
    private var rows = ResultTable()

    private static let repetitions = 3
    private static let key = "group.demo.k999999"
    private static let prefix = "group.demo.k"
    private static let sets = 1000

    init(_ options: Options) throws(BenchError) {
        daemon = try options.text("daemon")
        seconds = try options.seconds("secs", or: 0.4)
        json = options.text("json", or: "")
        program = CommandLine.arguments.first ?? "appgroup-bench"
        data = try TemporaryFolder.make(in: options.text("data", or: "/tmp"))
    }

    func run() throws(BenchError) {
        ChildProcess.raiseDescriptorLimit()
        defer { TemporaryFolder.remove(data) }
        for mode in [ServedBy.floor, .daemon(durability: "process"), .daemon(durability: "power")] {
            try Files.makeFolder("\(data)/\(mode.name)")
        }
        for repetition in 1...Self.repetitions {
            complain("repetition \(repetition) of \(Self.repetitions)")
            try measure(.floor)
            try measure(.daemon(durability: "process"))
            try measure(.daemon(durability: "power"))
        }
        print(rows.markdown)
        if !json.isEmpty { try Files.write(rows.json, to: json) }
    }

    private func measure(_ mode: ServedBy) throws(BenchError) {
        let server = try mode.start(program: program, daemon: daemon, folder: "\(data)/\(mode.name)")
        defer { server.process.end() }
        for cpu in [nil, 1] as [Int?] {
            if let cpu { try server.process.pin(to: cpu) }
            let place = cpu == nil ? "free" : "one-core"
            if mode.isComparable { try latency(server, mode, place, cpu) }
            try load(server, mode, "W2 one at a time, \(place)", connections: 1, depth: 1, cpu: cpu)
        }
        try server.process.unpin()
        try load(server, mode, "W2 64 deep", connections: 1, depth: 64, cpu: nil)
        try load(server, mode, "W2 8 clients × 16", connections: 8, depth: 16, cpu: nil)
        guard mode.isComparable else { return }
        for observers in [100, 1000] { try fan(server, mode, observers) }
    }

    /// W1: from before the set to the observer holding the value.
    private func latency(_ server: ServedBy.Server, _ mode: ServedBy, _ place: String, _ cpu: Int?) throws(BenchError) {
        let tokens = try ChildProcess.pipe()
        let common = ["--addr", server.address, "--key", Self.key, "--n", "\(Self.sets)"]
        let watch = try ChildProcess(
            [program, "watch"] + common + ["--tok-fd", "\(tokens.write)", "--out", "\(data)/watch"], cpu: cpu,
            keeping: tokens.write)
        guard watch.readLine() == "READY" else { throw BenchError("the observer did not come up") }
        let write = try ChildProcess(
            [program, "write"] + common + ["--tok-fd", "\(tokens.read)", "--wait", "1", "--out", "\(data)/write"],
            cpu: cpu, keeping: tokens.read)
        tokens.close()
        try write.wait()
        try watch.wait()
        let (sent, seen) = (try TimesFile.read("\(data)/write"), try TimesFile.read("\(data)/watch"))
        let samples = (Self.sets / 20..<Self.sets).map { Double(seen[$0] - sent[2 * $0]) / 1000 }
        rows.add("W1 set → observer, \(place)", mode.name, samples.median, unit: "µs")
    }

    private func load(
        _ server: ServedBy.Server, _ mode: ServedBy, _ row: String, connections: Int, depth: Int, cpu: Int?
    ) throws(BenchError) {
        let load = try ChildProcess(
            [
                program, "load", "--addr", server.address, "--prefix", Self.prefix, "--keys", "1000", "--conns",
                "\(connections)", "--depth", "\(depth)", "--secs", "\(seconds)",
            ], cpu: cpu)
        let line = load.readLine()
        try load.wait()
        if depth == 1 {
            rows.add(row, mode.name, try figure("p50_us", in: line), unit: "µs")
        } else {
            rows.add(row, mode.name, try figure("ops_per_s", in: line), unit: "/s")
        }
    }

    /// W3: from before the set to the last observer holding the value.
    private func fan(_ server: ServedBy.Server, _ mode: ServedBy, _ observers: Int) throws(BenchError) {
        let tokens = try ChildProcess.pipe()
        let sets = observers > 500 ? 60 : 100
        let common = ["--addr", server.address, "--key", Self.key, "--n", "\(sets)", "--wait", "1"]
        let fan = try ChildProcess(
            [program, "fan"] + common + [
                "--subs", "\(observers)", "--tok-fd", "\(tokens.write)", "--out", "\(data)/watch",
            ], cpu: nil, keeping: tokens.write)
        guard fan.readLine() == "READY" else { throw BenchError("the observers did not come up") }
        let write = try ChildProcess(
            [program, "write"] + common + ["--tok-fd", "\(tokens.read)", "--out", "\(data)/write"], cpu: nil,
            keeping: tokens.read)
        tokens.close()
        try write.wait()
        try fan.wait()
        let (sent, seen) = (try TimesFile.read("\(data)/write"), try TimesFile.read("\(data)/watch"))
        let samples = (sets / 10..<sets).map { Double(seen[$0] - sent[2 * $0]) / 1000 }
        rows.add("W3 set → last of \(observers)", mode.name, samples.median, unit: "µs")
    }

    private func figure(_ name: String, in line: String) throws(BenchError) -> Double {
        let parts = line.split(separator: "\"\(name)\": ", maxSplits: 1)
        guard parts.count == 2, let number = Double(parts[1].prefix { $0 != "," && $0 != "}" }) else {
            throw BenchError("no \(name) in: \(line)")
        }
        return number
    }
}
