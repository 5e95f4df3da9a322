import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// Faults that people reported of other daemons: one client, or one start, harms the rest.
@Suite("Faults: socket and daemon")
struct FaultTestsOfDaemon {
    static let group = "group.com.example.app"

    @Test("R102: an observer that stops reading delays nobody, and has the newest values when it goes on")
    func r102() throws {
        let daemon = try RunningDaemon(configuration: ["MaxQueueSize=128K"])
        let peer = try daemon.peer(with: .example)
        let stopped = try daemon.watcher(of: .example)
        let text = String(repeating: "x", count: 10_000)
        for number in 1...300 {
            try peer.write(.example, [.set("text", .string(text + "\(number)")), .set("n", .integer(Int64(number)))])
        }
        #expect(try peer.status()?.watches == 1)
        var last: Commit?
        while last?.revision != 300 { last = try stopped.commit() }
        #expect(last?["n"]?.new == .integer(300))
    }

    @Test("R103: a client that asks for much and closes at once harms nobody")
    func r103() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let text = String(repeating: "x", count: 500_000)
        try peer.write(.example, [.set("a", .string(text))])
        let read = Request.read(.example, keys: nil).callBytes
        for round in 0..<30 {
            let rude = try daemon.peer()
            try rude.send(round % 3 == 0 ? Request.watch([WatchedGroup(group: .example)]).callBytes : read + read)
            if round % 2 == 0 { _ = rude.isQuiet(milliseconds: 1) }
            rude.close()
            if round % 5 == 0 { try peer.write(.example, [.set("n", .integer(Int64(round)))]) }
        }
        daemon.process?.kill(SIGPIPE)
        #expect(try peer.read(.example, keys: ["n"]).values == ["n": .integer(25)])
        #expect(try eventually { try peer.status()?.clients == 1 })
        #expect(try daemon.stop().code == 0)
    }

    @Test("R104: the socket that a killed daemon left is no obstacle; what is no socket is not removed")
    func r104() throws {
        let daemon = try RunningDaemon()
        try daemon.kill()
        #expect(Plist.exists(daemon.socket))
        try daemon.start()
        _ = try SettingsPeer(daemon).status()
        try daemon.stop()
        try Data("mine".utf8).write(to: URL(filePath: daemon.socket))
        let outcome = try ChildProcess.run(builtProgram("appgroupd"), daemon.commandLine)
        #expect(outcome.code == 1)
        #expect(outcome.errors.contains(daemon.socket))
        #expect(try Plist.read(daemon.socket) == "mine")
    }

    @Test("R105: of two daemons started at once one serves, and the other says who does")
    func r105() throws {
        let daemon = try RunningDaemon(starts: false)
        for _ in 0..<8 {
            let both = try (0..<2).map { _ in try ChildProcess(builtProgram("appgroupd"), daemon.commandLine) }
            #expect(eventually { (try? SettingsPeer(daemon).groups()) != nil })
            let peer = try daemon.peer(with: .example)
            try peer.write(.example, [Edit(key: "n", operation: .increment, value: .integer(1))])
            let server = try #require(
                try Plist.read("\(daemon.state)/lock").split(separator: "\n").first.flatMap { Int32($0) })
            let loser = try #require(both.first { $0.pid != server })
            let outcome = try loser.finish()
            #expect(outcome.code == 75)
            #expect(outcome.errors.contains("\(server)"))
            // The loser has not taken the winner's socket with it.
            #expect(try peer.groups().count == 1)
            #expect(try SettingsPeer(daemon).groups().count == 1)
            let winner = try #require(both.first { $0.pid == server })
            winner.kill(SIGTERM)
            #expect(try winner.finish().code == 0)
        }
        try daemon.start()
        #expect(try SettingsPeer(daemon).read(.example).values == ["n": .integer(8)])
    }
}
