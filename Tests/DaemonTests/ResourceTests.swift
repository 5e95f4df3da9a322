import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Clients that come and go")
struct ResourceTests {
    private static func descriptors(_ pid: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }

    @Test("no descriptor stays behind clients and groups that are gone")
    func descriptors() throws {
        let daemon = try RunningDaemon()
        let pid = try #require(daemon.process?.pid)
        let peer = try SettingsPeer(daemon)
        #expect(try eventually { try peer.status()?.clients == 1 })
        let before = try Self.descriptors(pid)
        for round in 0..<300 {
            let client = try SettingsPeer(daemon)
            if round % 3 == 0 { try client.peer.send([UInt8(ascii: "{")]) }
            if round % 3 == 1 { _ = try client.groups() }
        }
        for _ in 0..<20 {
            try peer.create(.example)
            try peer.write(.example, [.set("k", .integer(1))])
            try peer.call(.deleteGroup(.example))
        }
        #expect(try eventually { try peer.status()?.clients == 1 })
        #expect(try eventually { try Self.descriptors(pid) <= before })
    }

    @Test("R112: clients that connect and say nothing cost no thread, and no one else's answer")
    func silence() throws {
        let daemon = try RunningDaemon()
        let pid = try #require(daemon.process?.pid)
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .integer(1))])
        try peer.synchronize()
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task").count
        let silent = try (0..<200).map { _ in try SettingsPeer(daemon) }
        for number in 0..<200 { try peer.write(.example, [.set("k", .integer(Int64(number)))]) }
        #expect(try eventually { try peer.status()?.clients == 201 })
        #expect(try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task").count == threads)
        withExtendedLifetime(silent) {}
    }

    @Test("R108: without a descriptor left it waits instead of spinning, and serves those who waited")
    func shortage() throws {
        let daemon = try RunningDaemon(configuration: ["MaxConnections=1000"], starts: false)
        let process = try ChildProcess(
            "/usr/bin/prlimit", ["--nofile=48:48", builtProgram("appgroupd")] + daemon.commandLine,
            environment: ["HOME": daemon.directory.path])
        #expect(eventually { (try? SettingsPeer(daemon).groups()) != nil })
        var clients = try (0..<60).map { _ in try SettingsPeer(daemon) }
        let last = try #require(clients.last)
        try last.send(.listGroups)
        let ticks = try Self.processorTicks(process.pid)
        #expect(last.peer.isQuiet(milliseconds: 400))
        #expect(try Self.processorTicks(process.pid) - ticks < 20)
        clients.removeFirst(40)
        #expect(try last.receive().error == nil)
        process.kill(SIGTERM)
        let outcome = try process.finish()
        #expect(outcome.code == 0)
        #expect(outcome.errors.utf8.count < 10_000)
    }

    /// Hundredths of a second that the process has used.
    private static func processorTicks(_ pid: Int32) throws -> Int {
        let fields = try Plist.read("/proc/\(pid)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        return (Int(fields[11]) ?? 0) + (Int(fields[12]) ?? 0)
    }

    @Test("those who wait for a group that is deleted are told")
    func waitingForADeletedGroup() throws {
        let daemon = try RunningDaemon()
        for _ in 0..<20 {
            let peer = try daemon.peer(with: .example)
            let waiting = try SettingsPeer(daemon)
            let write = WriteRequest(group: .example, edits: [.set("k", .integer(1))], isDurable: true)
            try waiting.peer.send(Request.write(write).callBytes + Request.synchronize(.example).callBytes)
            try peer.call(.deleteGroup(.example))
            // Whatever came first: each call has its answer.
            for _ in 0..<2 {
                let reply = try waiting.receive()
                let error = GroupError(reply)
                #expect(reply.error == nil || error == .noSuchGroup("group.com.example.app"), "\(reply)")
            }
        }
    }

    @Test("many watches of many groups end with their connections")
    func watches() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        let groups = (0..<20).map { GroupIdentifier(known: "group.number\($0)") }
        for group in groups { try peer.create(group) }
        do {
            let watchers = try (0..<20).map { _ in try SettingsPeer(daemon) }
            for watcher in watchers { try watcher.watch(groups.map { WatchedGroup(group: $0) }) }
            for watcher in watchers { for _ in groups { _ = try watcher.snapshot() } }
            for group in groups { try peer.write(group, [.set("k", .integer(1))]) }
            for watcher in watchers {
                let told = try groups.map { _ in try watcher.nextCommit().group }
                #expect(Set(told) == Set(groups))
            }
            #expect(try peer.status()?.groups.map(\.watchers) == groups.map { _ in 20 })
        }
        #expect(try eventually { try peer.status()?.watches == 0 })
        #expect(try peer.status()?.groups.allSatisfy { $0.watchers == 0 } == true)
    }
}
