import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// The clock is set while the daemon runs, or while it is away. Revisions and contents tell what is newer, and never a time;
/// what lasts so long lasts so long.
@Suite("The clock is set")
struct ClockTests {
    private static let group = "group.com.example.app"
    private static let day = 86_400
    /// A year back, the beginning of all times (a machine that boots without a clock), ten years ahead.
    static let settings = [-365 * day, -Int(Date().timeIntervalSince1970) + 1, 3650 * day]

    @Test("back or ahead: revisions, news, the file and its edits go on, over a restart too", arguments: settings)
    func set(_ seconds: Int) throws {
        let kernel = try FakeKernel()
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"], environment: kernel.environment)
        var peer = try daemon.peer(with: .example)
        let watcher = try daemon.watcher(of: .example)
        try peer.write(.example, [.set("n", .integer(0))])
        let before = try watcher.nextCommit()
        try kernel.setClock(by: seconds)
        try peer.write(.example, [.set("n", .integer(1))], durable: true)
        let after = try watcher.nextCommit()
        // It is the clock that people see, for better or worse.
        #expect(abs((after.time.microseconds - before.time.microseconds) / 1_000_000 - Int64(seconds)) < 3600)
        try edits(in: daemon, peer, watcher, from: 2)
        try peer.write(.example, [.set("n", .integer(5))])
        #expect(try watcher.nextCommit().revision == 6)
        try peer.synchronize()
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["n": .integer(5)])

        // Away while it is set right again, and somebody saves meanwhile.
        let told = try #require(try peer.read(.example).position)
        try daemon.kill()
        try kernel.obey()
        try Self.save(Plist.text(["n": "<integer>6</integer>"]), in: daemon, .rename, time: 1_000_000)
        try daemon.start()
        peer = try SettingsPeer(daemon)
        let again = try SettingsPeer(daemon)
        try again.watch([WatchedGroup(group: .example, since: told)])
        #expect(try again.nextCommit().changes == [Change(key: "n", old: .integer(5), new: .integer(6))])
        try edits(in: daemon, peer, again, from: 7)
        let history = try peer.history(.example)
        #expect(history.map(\.revision) == [10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
        #expect(try daemon.control(["read", Self.group, "n", "--at", "3"]).output == "2\n")
    }

    /// A save of each kind, with times that run against the saves.
    private func edits(
        in daemon: RunningDaemon, _ peer: SettingsPeer, _ watcher: SettingsPeer, from first: Int
    ) throws {
        for (index, saving) in FileEditTests.Saving.allCases.enumerated() {
            let number = first + index
            let time = [4_000_000_000, 1_000_000, 0][index]
            try peer.synchronize()
            try Self.save(Plist.text(["n": "<integer>\(number)</integer>"]), in: daemon, saving, time: time)
            let commit = try watcher.nextCommit()
            #expect(
                commit.changes == [Change(key: "n", old: .integer(Int64(number - 1)), new: .integer(Int64(number)))])
            #expect(commit.origin == .file)
        }
    }

    private static func save(
        _ text: String, in daemon: RunningDaemon, _ saving: FileEditTests.Saving, time: Int
    ) throws {
        let path = daemon.plist(group)
        try FileEditTests.save(text, to: path, saving)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: Double(time))], ofItemAtPath: path)
    }

    @Test("a clock that was wrong for a while costs no history")
    func history() throws {
        let kernel = try FakeKernel()
        let daemon = try RunningDaemon(
            configuration: ["HistoryCommits=20", "HistorySec=1d"], environment: kernel.environment)
        let peer = try daemon.peer(with: .example)
        func write(_ numbers: ClosedRange<Int>) throws {
            for number in numbers { try peer.write(.example, [.set("n", .integer(Int64(number)))]) }
        }
        try write(1...30)
        try kernel.setClock(by: Self.settings[1])
        try write(31...36)
        try kernel.obey()
        // At twice the number it is cut to the number.
        try write(37...41)
        #expect(try eventually { try peer.history(.example).last?.revision != 1 }, "it is not rewritten")
        let commits = try peer.history(.example)
        #expect(commits.map(\.revision) == (22...41).reversed())
        #expect(commits.last?["n"]?.new == .integer(22))
    }

    @Test("a trial lasts as long as it was made for, whatever becomes of the clock", arguments: settings)
    func trial(_ seconds: Int) throws {
        let kernel = try FakeKernel()
        let daemon = try RunningDaemon(environment: kernel.environment)
        var peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("short", .integer(0)), .set("long", .integer(0))])
        func tryOut(_ key: Key, _ seconds: Double) throws {
            try peer.call(.tryOut(TryRequest(group: .example, edits: [.set(key, .integer(1))], seconds: seconds)))
        }
        try tryOut("long", 7200)
        try tryOut("short", 0.2)
        try kernel.setClock(by: seconds)
        #expect(try eventually { try peer.read(.example).values["short"] == .integer(0) }, "it goes on and on")
        #expect(try peer.read(.example).values["long"] == .integer(1), "it is over too early")
        guard seconds < 0 else { return }
        // The times that are noted are in the future by now.
        try tryOut("short", 0.2)
        try daemon.kill()
        try kernel.setClock(by: 2 * seconds)
        try daemon.start()
        peer = try SettingsPeer(daemon)
        #expect(try eventually { try peer.read(.example).values["short"] == .integer(0) }, "it goes on and on")
        #expect(try peer.read(.example).values["long"] == .integer(1), "it is over too early")
    }

    @Test("what is set aside twice at one time of the clock is kept twice")
    func names() throws {
        let kernel = try FakeKernel()
        let daemon = try RunningDaemon(environment: kernel.environment)
        let peer = try SettingsPeer(daemon)
        for round in 0..<3 {
            // Always about the same second.
            try kernel.setClock(by: -Int(Date().timeIntervalSince1970) + 1_000_000)
            try peer.create(.example)
            try peer.write(.example, [.set("round", .integer(Int64(round)))])
            try peer.synchronize()
            try peer.call(.deleteGroup(.example))
        }
        let trash = "\(daemon.root)/.trash"
        let kept = try FileManager.default.contentsOfDirectory(atPath: trash)
        let rounds = try kept.map { name in
            try Plist.entries("\(trash)/\(name)/Library/Preferences/\(Self.group).plist")["round"]
        }
        #expect(rounds.count == 3 && [0, 1, 2].allSatisfy { rounds.contains(.integer($0)) })
    }
}
