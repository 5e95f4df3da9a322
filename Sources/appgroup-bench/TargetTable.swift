import Varlink

/// The table of the README, from the result of the harness: each target of the design with the floor, the best peer and
/// ours of one run.
struct TargetTable {
    /// One line: which measurements it compares, and what was aimed at.
    private struct Target {
        var work: String
        /// The measurement's name behind its workload; ours, the floor's, and those of peers that do the same work.
        var ours: String
        var floor: String?
        var peers: [String] = []
        var aim: Aim
        /// Rates: more is better.
        var isRate = false
    }

    private enum Aim {
        /// At most so many times the floor.
        case timesFloor(Double)
        /// At most this much more than the floor, in the row's unit.
        case floorPlus(Double)
        /// At most this much, in the row's unit.
        case most(Double)
        /// At least so many times the first peer; for rates.
        case timesPeer(Double)
        /// At most so many times what the `floor` row says of our own daemon.
        case timesOurs(Double)
    }

    private struct Measurement {
        var figure: Double
        var unit: String
        var least: Double
        var greatest: Double
    }

    private var measurements: [String: Measurement] = [:]
    private var machine = ""

    init(_ options: Options) throws(BenchError) {
        let path = try options.text("results")
        let text = try Files.read(path)
        guard let document = (try? JSON(parsing: text))?.objectValue, let rows = document["measurements"]?.arrayValue
        else {
            throw BenchError("\(path) is no result of the harness")
        }
        for row in rows {
            guard let fields = row.objectValue, let name = fields["name"]?.stringValue,
                let figure = fields["median"]?.realValue
            else { continue }
            measurements[name] = Measurement(
                figure: figure, unit: fields["unit"]?.stringValue ?? "", least: fields["rep_min"]?.realValue ?? figure,
                greatest: fields["rep_max"]?.realValue ?? figure)
        }
        if let meta = document["meta"]?.objectValue {
            let parts = ["date", "machine", "kernel", "mode"].compactMap { meta[$0]?.stringValue }
            machine = parts.joined(separator: ", ")
        }
    }

    func print() {
        say("Run of \(machine). To repeat it: `make bench`.\n")
        say("| work | unit | floor | best peer | appgroupd | min – max | × floor | target | |")
        say("|---|---|--:|--:|--:|--:|--:|---|---|")
        for target in Self.targets { say(line(target)) }
    }

    private func line(_ target: Target) -> String {
        let ours = measurements[target.ours]
        let floor = target.floor.flatMap { measurements[$0] }
        let peers = target.peers.compactMap { measurements[$0]?.figure }
        let peer = target.isRate ? peers.max() : peers.min()
        var ratio: Double?
        if let ours, let floor, floor.figure > 0 { ratio = ours.figure / floor.figure }
        let (aim, isMet) = verdict(target, ours?.figure, floor?.figure)
        let cells = [
            target.work, ours?.unit ?? "", Self.text(floor?.figure), Self.text(peer), Self.text(ours?.figure),
            ours.map { "\(Self.text($0.least)) – \(Self.text($0.greatest))" } ?? "", Self.text(ratio), aim,
            isMet.map { $0 ? "met" : "missed" } ?? "not run",
        ]
        return "| \(cells.joined(separator: " | ")) |"
    }

    private func verdict(_ target: Target, _ ours: Double?, _ floor: Double?) -> (String, Bool?) {
        let first = target.peers.first.flatMap { measurements[$0]?.figure }
        switch target.aim {
        case .timesFloor(let times): return ("≤ \(times) × floor", Self.compare(ours, floor.map { $0 * times }))
        case .floorPlus(let more): return ("≤ floor + \(Self.text(more))", Self.compare(ours, floor.map { $0 + more }))
        case .most(let most): return ("≤ \(Self.text(most))", Self.compare(ours, most))
        case .timesOurs(let times): return ("≤ \(times) × that", Self.compare(ours, floor.map { $0 * times }))
        case .timesPeer(let times):
            return (times == 1 ? "≥ peer" : "≥ \(times) × peer", Self.compare(first.map { $0 * times }, ours))
        }
    }

    private static func compare(_ small: Double?, _ large: Double?) -> Bool? {
        guard let small, let large else { return nil }
        return small <= large
    }

    private static func text(_ number: Double?) -> String { number.map(Curve.text) ?? "" }
}

extension TargetTable {
    private static let targets: [Target] = writes + fans + rest

    private static let writes: [Target] = [
        Target(
            work: "W1 write in A → value in B, one core", ours: "W1/appgroupd/one-core", floor: "W1/floor-ack/one-core",
            peers: ["W1/dbus-signal/one-core", "W1/redis-pubsub/one-core", "W1/redis-keyspace/one-core"],
            aim: .timesFloor(1.2)),
        Target(
            work: "W1, free", ours: "W1/appgroupd/free", floor: "W1/floor-ack/free",
            peers: ["W1/dbus-signal/free", "W1/redis-pubsub/free", "W1/redis-keyspace/free"], aim: .timesFloor(1.15)),
        Target(
            work: "W2 acknowledged write, one core", ours: "W2/appgroupd-process/seq-one-core-latency",
            floor: "W2/floor-log-none/seq-one-core-latency", peers: ["W2/redis-fsync-everysec/seq-one-core-latency"],
            aim: .timesFloor(1.2)),
        Target(
            work: "W2 64 deep", ours: "W2/appgroupd-process/depth64", floor: "W2/floor-log-none/depth64",
            peers: ["W2/redis-fsync-everysec/depth64"], aim: .timesPeer(1), isRate: true),
        Target(
            work: "W2 8 clients × 16", ours: "W2/appgroupd-process/8x16", floor: "W2/floor-log-none/8x16",
            peers: ["W2/redis-fsync-everysec/8x16"], aim: .timesPeer(1), isRate: true),
        Target(
            work: "W2 durable, one at a time", ours: "W2/appgroupd-power/seq", floor: "W2/floor-log-batch/seq",
            peers: ["W2/redis-fsync-always/seq"], aim: .timesPeer(1), isRate: true),
        Target(
            work: "W2 durable, 64 deep", ours: "W2/appgroupd-power/depth64", floor: "W2/floor-log-batch/depth64",
            peers: ["W2/redis-fsync-always/depth64"], aim: .timesPeer(1.5), isRate: true),
    ]

    private static let fans: [Target] = [
        Target(
            work: "W3 write → last of 100", ours: "W3/appgroupd/N100/last", floor: "W3/floor/N100/last",
            peers: ["W3/dbus/N100/last", "W3/redis-pubsub/N100/last"], aim: .timesFloor(1.15)),
        Target(
            work: "W3 write → last of 1,000", ours: "W3/appgroupd/N1000/last", floor: "W3/floor/N1000/last",
            peers: ["W3/redis-pubsub/N1000/last"], aim: .timesFloor(1.15)),
        Target(
            work: "W3 stream to 1,000 observers", ours: "W3/appgroupd/N1000/stream", floor: "W3/floor/N1000/stream",
            peers: ["W3/redis-pubsub/N1000/stream"], aim: .timesPeer(1), isRate: true),
        Target(
            work: "W4 read of a scalar in the library", ours: "W4/appgroup-library-read/one-core", floor: "W4/hash",
            peers: ["W4/lmdb", "W4/dconf-read", "W4/userdefaults"], aim: .most(60)),
        Target(
            work: "W5 file replaced → value in B", ours: "W5/appgroupd/free", floor: "W5/inotify-read/free",
            peers: ["W5/watchman-settle20/free", "W5/watchman-settle1/free"], aim: .floorPlus(150)),
    ]

    private static let rest: [Target] = [
        Target(
            work: "W6 start to first answer, 1 key", ours: "W6/start/appgroupd/1key", floor: "W6/start/floor/1key",
            peers: ["W6/start/redis/1key", "W6/start/dconf/1key", "W6/start/xfconf/1key"], aim: .most(8)),
        Target(
            work: "W6 start to first answer, 100,000 keys", ours: "W6/start/appgroupd/100k",
            floor: "W6/start/floor/100k",
            peers: ["W6/start/redis/100k", "W6/start/dconf/100k", "W6/start/xfconf/100k"], aim: .most(100)),
        Target(
            work: "W6 resident memory, 1 key", ours: "W6/rss/appgroupd/1key", floor: "W6/rss/floor/1key",
            peers: ["W6/rss/redis/1key", "W6/rss/xfconf/1key"], aim: .most(10)),
        Target(
            work: "W6 resident memory, 100,000 keys", ours: "W6/rss/appgroupd/100k", floor: "W6/rss/floor/100k",
            peers: ["W6/rss/redis/100k", "W6/rss/xfconf/100k"], aim: .most(24)),
        Target(
            work: "W6 one write at 100,000 keys (floor: ours at 1 key)", ours: "W6/set-latency/appgroupd/100k",
            floor: "W6/set-latency/appgroupd/1key", aim: .timesOurs(1.1)),
        Target(
            work: "W6 memory of an observer's connection", ours: "W6/per-connection/appgroupd",
            floor: "W6/per-connection/floor", peers: ["W6/per-connection/redis", "W6/per-connection/xfconf"],
            aim: .most(4)),
        Target(
            work: "W6 wake-ups while idle", ours: "W6/idle-wakeups/appgroupd", floor: "W6/idle-wakeups/floor",
            peers: ["W6/idle-wakeups/redis", "W6/idle-wakeups/xfconf"], aim: .most(0)),
    ]
}
