import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// What the daemon holds does not grow with what it has done: in the long form over a million commits and ten thousand
/// connections.
@Suite(.serialized) struct TortureGrowthTests {
    private let group = GroupIdentifier.example
    private let configuration = ["HistoryCommits=1000"]

    @Test func nothingGrowsWithTheNumberOfCommits() throws {
        let daemon = try RunningDaemon(configuration: configuration)
        let peer = try daemon.peer(with: group)
        let watcher = Background { [follower = Follower(socket: daemon.socket, group: group)] in try follower.run() }
        let count = Torture.isLong ? 1_000_000 : 12_000
        // What the first ones need is needed from then on.
        try write(daemon, count / 2, name: "warm")
        let before = try settled(daemon)
        for part in 0..<3 { try write(daemon, count / 6, name: "part\(part)") }
        let after = try settled(daemon)
        try peer.write(group, [.set(Follower.end, .boolean(true))])
        #expect(try watcher.value(seconds: 600).problems == [])
        #expect(after.descriptors == before.descriptors)
        #expect(after.resident <= before.resident + Self.noise, "from \(before.resident) to \(after.resident) KiB")
        Torture.report(
            "growth with commits", tried: "\(count) commits",
            found: "\(before.resident) KiB after a half, \(after.resident) KiB at the end, descriptors "
                + "\(before.descriptors) and \(after.descriptors)")
    }

    @Test func nothingGrowsWithTheNumberOfConnections() throws {
        let daemon = try RunningDaemon(configuration: configuration)
        let peer = try daemon.peer(with: group)
        try peer.write(group, [.set("n", .integer(1))])
        let count = Torture.isLong ? 10_000 : 400
        try connect(daemon, count / 4)
        let before = try settled(daemon)
        try connect(daemon, count - count / 4)
        let after = try settled(daemon)
        #expect(after.descriptors == before.descriptors)
        #expect(after.resident <= before.resident + Self.noise, "from \(before.resident) to \(after.resident) KiB")
        Torture.report(
            "growth with connections", tried: "\(count) connections",
            found: "\(before.resident) KiB after a quarter, \(after.resident) KiB at the end, descriptors "
                + "\(before.descriptors) and \(after.descriptors)")
    }

    /// What an allocator may hold more at one time than at another, in KiB: a tenth of a byte a commit in the long form.
    private static let noise = 1024

    private func write(_ daemon: RunningDaemon, _ count: Int, name: String) throws {
        let writer = Writer(socket: daemon.socket, group: group, name: name, depth: 64, keyCount: 64, count: count)
        #expect(try Background { try writer.run().count }.value(seconds: 600) == count)
        // The next ones begin with the same keys as these.
        try daemon.peer(with: group).call(.reset(group, tag: nil))
    }

    /// Each of them asks, watches or only comes, and goes in one of several ways.
    private func connect(_ daemon: RunningDaemon, _ count: Int) throws {
        for number in 0..<count {
            let peer = try SettingsPeer(daemon)
            switch number % 4 {
            case 0: break
            case 1: _ = try peer.read(group)
            case 2:
                try peer.watch([WatchedGroup(group: group)])
                _ = try peer.snapshot()
            default: try peer.peer.send(Array(#"{"method":"io.appgroupd"#.utf8))
            }
            peer.peer.close()
        }
    }

    private struct Holding {
        var resident: Int
        var descriptors: Int
    }

    /// When it has closed what is gone, and rewritten what is to be rewritten.
    private func settled(_ daemon: RunningDaemon) throws -> Holding {
        let peer = try SettingsPeer(daemon)
        try peer.synchronize(group)
        let pid = try #require(daemon.process?.pid)
        var holding = Holding(resident: 0, descriptors: -1)
        let isSettled = try eventually {
            let last = holding
            Thread.sleep(forTimeInterval: 0.25)
            let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
            holding = Holding(resident: try anonymousSize(pid), descriptors: descriptors)
            return holding.descriptors == last.descriptors && holding.resident == last.resident
        }
        #expect(isSettled)
        return holding
    }

    /// In KiB, without the files that are mapped.
    private func anonymousSize(_ pid: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
        return try #require(line.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) })
    }
}
