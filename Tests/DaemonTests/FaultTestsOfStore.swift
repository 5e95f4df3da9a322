import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// Faults that people reported of other stores: what is set must be kept. The numbers are those of the list of faults.
@Suite("Faults: settings are lost")
struct FaultTestsOfStore {
    static let group = "group.com.example.app"

    @Test("R01: a value that was acknowledged survives a SIGKILL right after")
    func r01() throws {
        let daemon = try RunningDaemon()
        var epoch: Epoch?
        for round in 1...15 {
            let peer = try daemon.peer(with: .example)
            let reply = try peer.write(
                .example, [.set("round", .integer(Int64(round))), .set(Key("k\(round)"), .string("v"))])
            try daemon.kill()
            #expect(reply.position?.revision == Int64(round))
            epoch = epoch ?? reply.position?.epoch
            try daemon.start()
            let read = try SettingsPeer(daemon).read(.example)
            #expect(read.position == reply.position)
            #expect(read.position?.epoch == epoch)
            #expect(read.values["round"] == .integer(Int64(round)))
            #expect(read.values.count == round + 1)
        }
    }

    @Test("R02, R16: two writers of different keys lose nothing of each other")
    func r02() throws {
        let daemon = try RunningDaemon()
        _ = try daemon.peer(with: .example)
        let writers = try (0..<4).map { _ in try SettingsPeer(daemon) }
        for number in 1...100 {
            for (index, writer) in writers.enumerated() {
                let edits = [
                    Edit.set(Key("\(index).\(number)"), .integer(Int64(number))),
                    Edit(key: "sum", operation: .increment, value: .integer(1)),
                ]
                try writer.send(.write(WriteRequest(group: .example, edits: edits)))
            }
        }
        for writer in writers { for _ in 1...100 { _ = try writer.checked(writer.receive()) } }
        let values = try writers[0].read(.example).values
        #expect(values.count == 401)
        #expect(values["sum"] == .integer(400))
        try writers[0].synchronize()
        #expect(try Plist.entries(daemon.plist(Self.group)) == values)
    }

    @Test("R06: a corrupt file is not \"no settings\", and no later write makes it so")
    func r06() throws {
        let daemon = try RunningDaemon()
        let path = daemon.plist(Self.group)
        var peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("precious", .string("x")), .set("other", .integer(1))])
        try daemon.stop()
        try Plist.overwrite(path, with: "<plist><dict><key>precious")
        try daemon.start()
        peer = try SettingsPeer(daemon)
        try peer.write(.example, [.set("unrelated", .integer(1))])
        #expect(try peer.refusal(of: .synchronize(.example)) != nil)
        #expect(try Plist.read(path) == "<plist><dict><key>precious")
        #expect(try peer.read(.example).values.count == 3)
        #expect(try peer.status(of: .example)?.plist == .damaged)
    }

    @Test("R10: a steady writer does not keep the file from being written")
    func r10() throws {
        let daemon = try RunningDaemon(configuration: ["ProjectionDelaySec=40ms"])
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try peer.write(.example, [.set("n", .integer(0))])
        try peer.synchronize()
        // One write follows the other without a pause, and the file must follow meanwhile, again and again: a timer that
        // each write starts anew would never end. Where a busy machine makes a pause in which such a one might end (half
        // of the delay between two answers may be all of it between two writes), what was written before counts no more.
        // How soon the file follows is for the benchmark to measure.
        let deadline = ContinuousClock.now + .seconds(60 * timeoutScale)
        var number: Int64 = 0
        var (last, steadySince) = (ContinuousClock.now, Int64(0))
        var seen: [Int64] = []
        while seen.count < 3, ContinuousClock.now < deadline {
            number += 1
            try peer.write(.example, [.set("n", .integer(number))])
            let now = ContinuousClock.now
            if last.duration(to: now) > .milliseconds(19) { steadySince = number }
            last = now
            if case .integer(let written)? = try? Plist.entries(path)["n"], written > max(steadySince, seen.last ?? 0) {
                seen.append(written)
            }
        }
        #expect(seen.count == 3, "after \(number) writes the file has had \(seen)")
    }

    @Test("R14: a hand edit is not reverted, and is told")
    func r14() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        try peer.write(.example, [.set("edited", .integer(1)), .set("n", .integer(0))])
        try peer.synchronize()
        let watcher = try daemon.watcher(of: .example)
        let text = try Plist.read(path).replacingOccurrences(
            of: "<key>edited</key>\n\t<integer>1<", with: "<key>edited</key>\n\t<integer>77<")
        // The daemon writes before, between and after.
        try peer.write(.example, [.set("n", .integer(1))])
        try Plist.replace(path, with: text)
        try peer.write(.example, [.set("m", .integer(2))])
        try peer.synchronize()
        try peer.write(.example, [.set("m", .integer(3))])
        try peer.synchronize()
        #expect(try peer.read(.example).values["edited"] == .integer(77))
        #expect(try Plist.entries(path)["edited"] == .integer(77))
        #expect(try Plist.entries(path)["m"] == .integer(3))
        while true {
            let commit = try watcher.nextCommit()
            guard commit.origin == .file else { continue }
            #expect(commit["edited"] == Change(key: "edited", old: .integer(1), new: .integer(77)))
            break
        }
    }

    @Test("R71, R21: a symbolic link is kept, its target replaced, and edits of the target are seen")
    func r71() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let path = daemon.plist(Self.group)
        let repository = daemon.directory.file("dotfiles")
        try FileManager.default.createDirectory(atPath: repository, withIntermediateDirectories: false)
        let target = "\(repository)/settings.plist"
        try Plist.replace(target, with: Plist.text(["a": "<integer>1</integer>"]))
        // By way of a second link, as dotfile managers have it.
        try FileManager.default.createSymbolicLink(atPath: "\(repository)/link", withDestinationPath: "settings.plist")
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(repository)/link")
        try peer.synchronize()
        #expect(try peer.read(.example).values == ["a": .integer(1)])
        let watcher = try daemon.watcher(of: .example)
        for number in 2...4 {
            try peer.write(.example, [.set("a", .integer(Int64(number)))])
            _ = try watcher.nextCommit()
            try peer.synchronize()
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "\(repository)/link")
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "\(repository)/link") == "settings.plist")
            #expect(try Plist.read(target) == Plist.text(["a": "<integer>\(number)</integer>"]))
            try Plist.replace(target, with: Plist.text(["a": "<integer>-\(number)</integer>"]))
            #expect(
                try watcher.nextCommit().changes == [
                    Change(key: "a", old: .integer(Int64(number)), new: .integer(Int64(-number)))
                ])
        }
    }
}
