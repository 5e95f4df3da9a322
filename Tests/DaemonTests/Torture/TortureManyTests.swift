import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// As many groups as a machine has programs, in one daemon: each is watched, edited, written to, and there after a kill.
@Suite(.serialized) struct TortureManyTests {
    private static let count = Torture.isLong ? 2000 : 500
    private static let groupsOfObserver = 100
    private static let groups = (0..<count).map { GroupIdentifier(known: "group.com.example.n\($0)") }

    @Test func thousandsOfGroupsAreEditedWrittenAndThereAfterAKill() throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"])
        let peer = try SettingsPeer(daemon)
        #expect(try eventually { try peer.status()?.clients == 1 })
        let empty = try Holding(daemon)
        for group in Self.groups { try peer.create(group) }
        try write(peer, "written", revision: 1)
        try peer.synchronize(nil)
        let observers = try observe(daemon)
        // The files are edited and other keys written, in turns that do not wait for each other.
        let edited = try edit(daemon, "edited")
        try write(peer, "again", revision: nil)
        try told(observers, ["edited", "again"])
        try peer.synchronize(nil)
        for group in edited {
            #expect(try Plist.entries(daemon.plist(group.string)).count == 3, "\(group)")
        }
        // The files that were replaced are kept open for a second.
        let held = Holding(
            watches: try Holding(daemon).watches, descriptors: empty.descriptors + observers.count + Self.count)
        try expect(daemon, held)
        try comeAndGo(peer)
        try peer.synchronize(nil)
        try expect(daemon, held)
        withExtendedLifetime(observers) {}
        let seconds = try restart(daemon, held)
        Torture.report(
            "many groups",
            tried: "\(Self.count) groups made, edited, written, \(Self.count / 10) deleted and made again",
            found: "all told and there after a kill; \(held.watches) watches, \(held.descriptors) descriptors; "
                + "first answer after \(seconds) s")
    }

    /// One write to each, many at a time.
    private func write(_ peer: SettingsPeer, _ key: Key, revision: Int64?) throws {
        for start in stride(from: 0, to: Self.count, by: 100) {
            let part = Self.groups[start..<start + 100]
            for group in part {
                try peer.send(.write(WriteRequest(group: group, edits: [.set(key, .string(group.string))])))
            }
            for _ in part {
                let position = try peer.checked(peer.receive())["position"].flatMap(Position.init(wire:))
                if let revision { #expect(position?.revision == revision) }
            }
        }
    }

    private func observe(_ daemon: RunningDaemon) throws -> [SettingsPeer] {
        try stride(from: 0, to: Self.count, by: Self.groupsOfObserver).map { start in
            let watched = Self.groups[start..<start + Self.groupsOfObserver]
            let observer = try SettingsPeer(daemon)
            try observer.watch(watched.map { WatchedGroup(group: $0) })
            for _ in watched { #expect(try observer.snapshot().values.count == 1) }
            return observer
        }
    }

    /// Saves a key of this name into the file of each.
    private func edit(_ daemon: RunningDaemon, _ key: String) throws -> [GroupIdentifier] {
        for (number, group) in Self.groups.enumerated() {
            let path = daemon.plist(group.string)
            let text = try Plist.read(path)
                .replacing("</dict>", with: "\t<key>\(key)</key>\n\t<string>\(group)</string>\n</dict>")
            if number % 2 == 0 { try Plist.replace(path, with: text) } else { try Plist.overwrite(path, with: text) }
        }
        return Self.groups
    }

    /// Each observer hears of these keys of each of its groups, once, and of nothing else.
    private func told(_ observers: [SettingsPeer], _ keys: Set<Key>) throws {
        for (number, observer) in observers.enumerated() {
            var news: [GroupIdentifier: [Key]] = [:]
            for _ in 0..<keys.count * Self.groupsOfObserver {
                let commit = try observer.nextCommit()
                #expect(commit.changes.allSatisfy { $0.new == .string(commit.group.string) })
                news[commit.group, default: []] += commit.keys
            }
            let start = number * Self.groupsOfObserver
            for group in Self.groups[start..<start + Self.groupsOfObserver] {
                #expect(news[group].map(Set.init) == keys && news[group]?.count == keys.count, "\(group)")
            }
        }
    }

    /// Every tenth goes and is made again.
    private func comeAndGo(_ peer: SettingsPeer) throws {
        for group in stride(from: 0, to: Self.count, by: 10).map({ Self.groups[$0] }) {
            try peer.call(.deleteGroup(group))
            try peer.create(group)
            try peer.write(group, [.set("new", .string(group.string))])
        }
    }

    private func expect(_ daemon: RunningDaemon, _ held: Holding) throws {
        var now = held
        let isSame = try eventually {
            now = try Holding(daemon)
            return now == held
        }
        #expect(isSame, "\(now), and not \(held)")
    }

    /// Gives how long the first answer took, in seconds.
    private func restart(_ daemon: RunningDaemon, _ held: Holding) throws -> Double {
        try daemon.kill()
        let begin = ContinuousClock.now
        try daemon.start()
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        // It answers before it has read them all.
        #expect(seconds < 2 * timeoutScale)
        let peer = try SettingsPeer(daemon)
        #expect(try Set(peer.groups()) == Set(Self.groups.map(\.string)))
        for (number, group) in Self.groups.enumerated() {
            let keys: Set<Key> = number % 10 == 0 ? ["new"] : ["written", "edited", "again"]
            let (position, values) = try peer.read(group)
            #expect(Set(values.keys) == keys && values.values.allSatisfy { $0 == .string(group.string) })
            #expect(position?.revision == Int64(keys.count))
        }
        try peer.synchronize(nil)
        #expect(try Holding(daemon).watches == held.watches)
        let watcher = try SettingsPeer(daemon)
        let last = try #require(Self.groups.last)
        try watcher.watch([WatchedGroup(group: last)])
        _ = try watcher.snapshot()
        try Plist.replace(daemon.plist(last.string), with: Plist.text(["n": "<integer>1</integer>"]))
        #expect(try watcher.nextCommit()["n"]?.new == .integer(1))
        return (seconds * 100).rounded() / 100
    }
}

/// What the daemon holds of the kernel, by the kernel's word.
private struct Holding: Equatable {
    var watches = 0
    var descriptors = 0

    init(watches: Int, descriptors: Int) {
        self.watches = watches
        self.descriptors = descriptors
    }

    init(_ daemon: RunningDaemon) throws {
        let pid = try #require(daemon.process?.pid)
        for name in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fdinfo") {
            descriptors += 1
            let text = (try? String(contentsOfFile: "/proc/\(pid)/fdinfo/\(name)", encoding: .utf8)) ?? ""
            watches += text.split(separator: "\n").count { $0.hasPrefix("inotify wd:") }
        }
    }
}
