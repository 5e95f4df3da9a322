import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Starting, ending, reloading")
struct LifeTests {
    static let group = "group.com.example.app"

    @Test(
        "R11: SIGTERM and SIGINT write everything out and exit 0, with writes under way", arguments: [SIGTERM, SIGINT])
    func terminate(_ signal: Int32) throws {
        let daemon = try RunningDaemon(configuration: ["ProjectionDelaySec=40ms"])
        let peer = try daemon.peer(with: .example)
        var calls: [UInt8] = []
        for number in 1...200 {
            calls += Request.write(WriteRequest(group: .example, edits: [.set("n", .integer(Int64(number)))])).callBytes
        }
        try peer.peer.send(calls)
        // At least one has been served.
        _ = try peer.checked(peer.receive())
        let process = try #require(daemon.process)
        process.kill(signal)
        var acknowledged: Int64 = 1
        while let reply = try? peer.receive() {
            acknowledged = reply.parameters["position"].flatMap(Position.init(wire:))?.revision ?? acknowledged
        }
        #expect(try process.finish().code == 0)
        let written = try Plist.entries(daemon.plist(Self.group))
        guard case .integer(let number)? = written["n"] else {
            Issue.record("nothing was written out")
            return
        }
        #expect(number >= acknowledged)
        #expect(!Plist.exists(daemon.socket))
        try daemon.start()
        #expect(try SettingsPeer(daemon).read(.example).values == written)
    }

    @Test("a restart changes no position, and writes nothing")
    func restart() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        let before = try peer.read(.example)
        try daemon.stop()
        let (plist, journal) = (Plist.identity(daemon.plist(Self.group)), Plist.identity(daemon.journal(Self.group)))
        try daemon.start()
        let again = try SettingsPeer(daemon)
        try again.synchronize()
        #expect(try again.read(.example).position == before.position)
        #expect(Plist.identity(daemon.plist(Self.group)) == plist)
        #expect(Plist.identity(daemon.journal(Self.group)) == journal)
        try daemon.stop()
    }

    @Test("started with its standard descriptors closed, it does not write its log into its own files")
    func closedDescriptors() throws {
        let daemon = try RunningDaemon(starts: false)
        let process = try ChildProcess(
            "/bin/sh", ["-c", "exec \"$0\" \"$@\" <&- >&- 2>&-", builtProgram("appgroupd")] + daemon.commandLine,
            environment: ["HOME": daemon.directory.path])
        #expect(eventually { (try? SettingsPeer(daemon).groups()) != nil })
        for descriptor in 0...2 {
            let place = try FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/\(process.pid)/fd/\(descriptor)")
            #expect(place == "/dev/null")
        }
        process.kill(SIGTERM)
        #expect(try process.finish().code == 0)
        for file in ["\(daemon.state)/lock", "\(daemon.root)/.lock", "\(daemon.socket).lock"] {
            #expect(try !Plist.read(file).contains("appgroupd"), "\(file)")
        }
    }

    @Test("SIGHUP reads the configuration again; a bad file changes nothing")
    func reload() throws {
        let daemon = try RunningDaemon(configuration: ["MaxValueSize=100"])
        let peer = try daemon.peer(with: .example)
        let large = [Edit.set("k", .string(String(repeating: "x", count: 150)))]
        #expect(try peer.refusal(of: .example, large) != nil)
        try daemon.directory.write("appgroupd.conf", "[Daemon]\nMaxValueSize=200\n")
        daemon.process?.kill(SIGHUP)
        #expect(try eventually { try peer.refusal(of: .example, large) == nil })
        try Plist.remove(daemon.directory.file("appgroupd.conf"))
        daemon.process?.kill(SIGHUP)
        try peer.write(.example, [.set("j", .string(String(repeating: "x", count: 150)))])
        #expect(try daemon.stop().errors.contains("the configuration was not read again"))
    }

    @Test("ExitIdleSec= is ignored, and said to be, where nothing would start the daemon again")
    func idleWithOwnSocket() throws {
        let daemon = try RunningDaemon(configuration: ["ExitIdleSec=1ms"])
        for _ in 1...5 {
            let peer = try daemon.peer(with: .example)
            _ = try peer.read(.example)
            Thread.sleep(forTimeInterval: 0.1)
        }
        #expect(try daemon.stop().errors.contains("ExitIdleSec= is ignored"))
    }

    @Test("systemd is told READY, STATUS, RELOADING and STOPPING")
    func notify() throws {
        let directory = try TemporaryDirectory()
        let manager = try NotifySocket(directory.file("notify"))
        let daemon = try RunningDaemon(environment: ["NOTIFY_SOCKET": manager.path])
        let ready = try #require(manager.next())
        #expect(ready.first == "READY=1")
        #expect(ready.contains { $0.hasPrefix("STATUS=") })
        let peer = try daemon.peer(with: .example)
        #expect(manager.next(with: "STATUS=1 group, 1 client, 0 watches") != nil)
        daemon.process?.kill(SIGHUP)
        let reloading = try #require(manager.next(with: "RELOADING=1"))
        #expect(reloading.contains { $0.hasPrefix("MONOTONIC_USEC=") })
        #expect(manager.next(with: "READY=1") != nil)
        #expect(try peer.groups().count == 1)
        // A connection that stands would be given to the manager, and the daemon waits until it has it.
        peer.peer.close()
        #expect(manager.next(with: "STATUS=1 group, 0 clients") != nil)
        try daemon.stop()
        #expect(manager.next(with: "STOPPING=1") != nil)
    }

    @Test("a daemon that ends leaves no long row of commits to be replayed, and the history stays")
    func snapshotAtTheEnd() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let text = String(repeating: "x", count: 1000)
        for number in 1...300 {
            try peer.write(.example, [.set(Key("k\(number % 10)"), .string("\(number) \(text)"))])
        }
        let before = try peer.read(.example)
        try daemon.stop()
        let records = try Plist.read(daemon.journal(Self.group)).split(separator: "\n")
        #expect(records.count { $0.contains("\"snapshot\":300,") } == 1)
        #expect(records.first?.contains("\"history\":300") == true)
        try daemon.start()
        let again = try SettingsPeer(daemon)
        let after = try again.read(.example)
        #expect(after.position == before.position)
        #expect(after.values == before.values)
        #expect(try again.history(.example, limit: 500).count == 300)
    }

    @Test("systemd's socket is served as it is, and stays when the daemon ends")
    func socketActivation() throws {
        let daemon = try RunningDaemon(starts: false)
        let socket = daemon.directory.file("passed")
        let activator = try ChildProcess(
            "/usr/bin/systemd-socket-activate",
            ["-l", socket, "--fdname=varlink", builtProgram("appgroupd")] + daemon.commandLine,
            environment: ["HOME": daemon.directory.path])
        // It becomes the daemon with the first client.
        // The file comes with bind(2), a moment before listen(2).
        var connected: RawPeer?
        #expect(
            eventually {
                connected = try? RawPeer(path: socket, timeoutSeconds: 20)
                return connected != nil
            })
        let peer = SettingsPeer(try #require(connected))
        try peer.create(.example)
        try peer.write(.example, [.set("k", .integer(1))])
        #expect(!Plist.exists(daemon.socket))
        activator.kill(SIGTERM)
        #expect(try activator.finish().code == 0)
        #expect(Plist.exists(socket))
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["k": .integer(1)])
    }

    @Test(
        "at the end the journal is rewritten, also where a rewrite was under way: the next start has little to replay")
    func endDuringRewrite() throws {
        let daemon = try RunningDaemon(configuration: ["HistoryCommits=3000"])
        _ = try daemon.peer(with: .example)
        // So many keys that a rewrite takes a while. After a start it begins with the last of the commits of each round.
        for (round, count) in [20_000, 3_010, 3_010].enumerated() {
            let writer = Writer(
                socket: daemon.socket, group: .example, name: "round\(round)", depth: 64, keyCount: 20_000,
                count: count)
            #expect(try writer.run().count == count)
            try daemon.stop()
            let journal = try Plist.read(daemon.journal(Self.group))
            let replayed = journal.split(separator: "\"snapshot\"").last?.utf8.count ?? 0
            #expect((1..<300 << 10).contains(replayed), "round \(round): \(replayed) bytes behind the snapshot")
            try daemon.start()
        }
    }

    @Test("R83, R105: a second daemon of the same store exits 75 and names the holder, whatever else differs")
    func secondDaemon() throws {
        let daemon = try RunningDaemon()
        let other = try TemporaryDirectory()
        let variants: [(root: String, state: String, socket: String)] = [
            (daemon.root, daemon.state, daemon.socket),
            (daemon.root, daemon.state, other.file("socket")),
            (other.file("root"), daemon.state, other.file("socket")),
            (daemon.root, other.file("state"), other.file("socket")),
            (other.file("root"), other.file("state"), daemon.socket),
        ]
        for (root, state, socket) in variants {
            let outcome = try ChildProcess.run(
                builtProgram("appgroupd"), ["--root", root, "--state", state, "--socket", socket],
                environment: ["HOME": other.path])
            #expect(outcome.code == 75, "\(outcome)")
            #expect(outcome.errors.contains("\(daemon.process?.pid ?? 0)"), "\(outcome.errors)")
        }
        _ = try SettingsPeer(daemon).status()
    }
}
