import Foundation
import TestSupport
import Testing

/// The library as a guest in a process: what it costs, what it leaves alone, and what it does where no daemon is.
@Suite(.serialized) struct CampaignProcessTests {
    private static let group = "group.com.example.guest"

    // MARK: No daemon

    @Test func `without a daemon a program starts, reads the file and says what is wrong; its writes arrive later`()
        throws
    {
        let daemon = try RunningDaemon(starts: false, isAtStandardPlace: true)
        try Self.writeFile(daemon)
        let worker = try CampaignWorker(daemon, ["absent", Self.group])
        #expect(try worker.wait(for: "value") == "light")
        let error = try worker.wait(for: "error")
        #expect(error.hasPrefix("Unreachable "))
        #expect(error.contains(daemon.socket))
        #expect(try worker.wait(for: "waiting") == "dark")
        try daemon.start()
        worker.tell("started")
        #expect(try worker.wait(for: "sent") == "5057")
        #expect(try worker.finish().ending == .exited(0), "\(worker.lines)")
        #expect(try daemon.control(["read", Self.group, "theme"]).output == "dark\n")
        #expect(try daemon.control(["read", Self.group, "count"]).output == "5057\n")
    }

    @Test func `without a daemon the start takes hardly longer than that of a program that does nothing`() throws {
        let daemon = try RunningDaemon(starts: false, isAtStandardPlace: true)
        try Self.writeFile(daemon)
        let (nothing, absent) = (try Self.start(daemon, ["nothing"]), try Self.start(daemon, ["absent", Self.group]))
        print("start: \(nothing) without, \(absent) with the library and no daemon")
        #expect(absent < nothing * 3 + .milliseconds(100 * timeoutScale))
    }

    /// The shortest of several times to the first value.
    private static func start(_ daemon: RunningDaemon, _ arguments: [String]) throws -> Duration {
        let times = try (0..<5).map { _ in
            let begin = ContinuousClock.now
            let worker = try CampaignWorker(daemon, arguments)
            try worker.wait(for: "value")
            return ContinuousClock.now - begin
        }
        return times.min() ?? .zero
    }

    private static func writeFile(_ daemon: RunningDaemon) throws {
        let path = daemon.plist(group)
        try FileManager.default.createDirectory(
            atPath: URL(filePath: path).deletingLastPathComponent().path, withIntermediateDirectories: true)
        let data = try PropertyListSerialization.data(
            fromPropertyList: ["theme": "light", "count": 7], format: .xml, options: 0)
        try data.write(to: URL(filePath: path))
    }

    // MARK: What it costs

    @Test func `a thousand observations leave no descriptor and no memory`() throws {
        let daemon = try RunningDaemon(isAtStandardPlace: true)
        let worker = try CampaignWorker(daemon, ["churn", Self.group])
        #expect(try worker.finish(seconds: 120).ending == .exited(0), "\(worker.lines)")
        let descriptors = try Self.two(worker, "descriptors")
        #expect(descriptors.after == descriptors.before)
        let memory = try Self.two(worker, "memory")
        print("memory: \(memory)")
        // Seven thousand observations that were not let go of would be more than that.
        #expect(memory.after - memory.before < 512 << 10)
    }

    @Test func `hundreds of groups share two connections`() throws {
        let daemon = try RunningDaemon(isAtStandardPlace: true)
        let worker = try CampaignWorker(daemon, ["groups", Self.group, "300"])
        #expect(try worker.wait(for: "sockets") == "2")
        print("300 groups open in \(try worker.wait(for: "milliseconds")) ms")
        let written = try daemon.control(["write", "\(Self.group).299", "word", "hello"])
        #expect(written.code == 0, "\(written.errors)")
        worker.tell("hello")
        // Three standard ones, two connections and what wakes the thread.
        #expect(try worker.wait(for: "descriptors") == "6")
        #expect(try worker.finish().ending == .exited(0), "\(worker.lines)")
    }

    private static func two(_ worker: CampaignWorker, _ word: String) throws -> (before: Int, after: Int) {
        let numbers = worker.all(word).flatMap { $0.split(separator: " ") }.compactMap { Int($0) }
        try #require(numbers.count == 2, "\(worker.lines)")
        return (numbers[0], numbers[1])
    }

    // MARK: What it leaves alone

    @Test func `signals stay as the program has set them, also when the daemon is killed`() throws {
        let daemon = try RunningDaemon(isAtStandardPlace: true)
        let worker = try CampaignWorker(daemon, ["host", Self.group])
        try worker.wait(for: "ready")
        try daemon.kill()
        worker.tell("killed")
        // A SIGPIPE would have ended it: its action is the default one.
        #expect(try worker.wait(for: "caught") == "1000")
        #expect(try worker.wait(for: "elsewhere") == "0")
        #expect(try worker.finish().ending == .exited(0), "\(worker.lines)")
    }

    @Test func `a forked child is refused, and its parent goes on`() throws {
        let daemon = try RunningDaemon(isAtStandardPlace: true)
        let worker = try CampaignWorker(daemon, ["fork", Self.group])
        let outcome = try worker.finish()
        #expect(outcome.ending == .exited(0), "\(worker.lines)")
        #expect(worker.all("child") == ["42"])
        #expect(worker.all("parent") == ["2"])
        #expect(outcome.errors.contains("forked"))
        #expect(try daemon.control(["read", Self.group, "parent"]).output == "2\n")
    }

    @Test func `a program that uses the library links neither libsystemd nor all of Foundation`() throws {
        let outcome = try ChildProcess.run("/usr/bin/ldd", [builtProgram("AppGroupStress")])
        try #require(outcome.code == 0, "\(outcome.errors)")
        let names = outcome.output.split(separator: "\n").compactMap { line in
            line.split(separator: " ").first.map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(names.contains("libFoundationEssentials.so"))
        #expect(!names.contains("libFoundation.so"))
        #expect(!names.contains { $0.contains("libsystemd") })
    }
}
