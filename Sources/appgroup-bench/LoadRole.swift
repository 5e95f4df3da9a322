/// Sets of many keys, by several connections with several sets under way on each: the rate, and how long each took.
final class LoadRole {
    /// A connection, and when each of its sets under way was made.
    private final class Lane {
        let link: Link
        var started: [Int]
        var head = 0
        var underWay = 0

        init(_ link: Link, depth: Int) {
            self.link = link
            started = [Int](repeating: 0, count: depth)
        }
    }

    private let set: Template
    private let depth: Int
    private let keys: Int
    /// 0: as long as `seconds` say.
    private let count: Int
    private let seconds: Double
    private var lanes: [Lane] = []
    private var latencies: [Int] = []
    private var sent = 0
    private var done = 0
    /// Values never repeat from one run to the next: what changes nothing is no commit.
    private let base: Int

    private static let latencyLimit = 2_000_000

    init(_ options: Options) throws(BenchError) {
        let prefix = try options.text("prefix")
        set = Wire.write(prefix: prefix)
        depth = max(try options.number("depth", or: 1), 1)
        keys = max(try options.number("keys", or: 1000), 1)
        count = try options.number("count", or: 0)
        seconds = try options.seconds("secs", or: 1)
        base = now() / 1000 % 1_000_000_000_000
        latencies.reserveCapacity(Self.latencyLimit)
        for index in 0..<max(try options.number("conns", or: 1), 1) {
            let link = try Link.connect(options.socketPath())
            if index == 0 { try link.call(Wire.createGroup(Wire.group(of: prefix))) }
            lanes.append(Lane(link, depth: depth))
        }
    }

    func run() throws(BenchError) {
        let warmUp = count > 0 ? 0 : lanes.count * depth * 4 + 50
        let taken =
            lanes.count == 1 && depth == 1
            ? try oneByOne(lanes[0], warmUp: warmUp) : try pipelined(warmUp: warmUp)
        latencies.sort()
        let percentile = { (share: Int) in
            self.latencies.isEmpty ? 0 : Double(self.latencies[self.latencies.count * share / 100]) / 1000
        }
        say(
            """
            {"ops": \(done), "secs": \(Double(taken) / 1e9), "ops_per_s": \(Double(done) * 1e9 / Double(max(taken, 1))), \
            "p50_us": \(percentile(50)), "p99_us": \(percentile(99))}
            """)
    }

    /// Blocking request and reply.
    private func oneByOne(_ lane: Lane, warmUp: Int) throws(BenchError) -> Int {
        var start = now()
        var end = 0
        while count > 0 ? sent < count : end == 0 || now() < end {
            try queue(on: lane)
            try lane.link.flush()
            while lane.underWay > 0 {
                try lane.link.receive()
                try takeReplies(of: lane)
            }
            if count == 0, end == 0, done >= warmUp { (start, end) = restart() }
        }
        return now() - start
    }

    private func pipelined(warmUp: Int) throws(BenchError) -> Int {
        let links = LinkSet()
        var start = now()
        var end = 0
        for (index, lane) in lanes.enumerated() {
            try links.add(lane.link.descriptor, token: index)
            try refill(lane)
        }
        while count > 0 ? done < count : end == 0 || now() < end {
            for index in 0..<(try links.wait()) {
                let lane = lanes[links.token(index)]
                try lane.link.receive(waits: false)
                try takeReplies(of: lane)
                try refill(lane)
            }
            if count == 0, end == 0, done >= warmUp { (start, end) = restart() }
        }
        return now() - start
    }

    private func restart() -> (Int, Int) {
        let start = now()
        done = 0
        latencies.removeAll(keepingCapacity: true)
        return (start, start + Int(seconds * 1e9))
    }

    private func refill(_ lane: Lane) throws(BenchError) {
        while lane.underWay < depth, count == 0 || sent < count { try queue(on: lane) }
        try lane.link.flush()
    }

    private func queue(on lane: Lane) throws(BenchError) {
        set.set(.key, to: sent % keys)
        set.set(.value, to: base + sent)
        sent += 1
        lane.started[(lane.head + lane.underWay) % depth] = now()
        lane.underWay += 1
        try lane.link.queue(set)
    }

    private func takeReplies(of lane: Lane) throws(BenchError) {
        while let message = try lane.link.nextMessage() {
            if message.isError { throw BenchError("the server said: \(message.text)") }
            if latencies.count < Self.latencyLimit { latencies.append(now() - lane.started[lane.head % depth]) }
            lane.head += 1
            lane.underWay -= 1
            done += 1
        }
    }
}
