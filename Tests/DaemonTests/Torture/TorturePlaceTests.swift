import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// What a person does to the daemon's directories and files while it runs.
@Suite struct TorturePlaceTests {
    private let group = GroupIdentifier.example

    struct Place: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// In a shell, with `$ROOT`, `$STATE` and `$RUN`.
        var command: String
    }

    static let changes = [
        Place(testDescription: "the state directory removed", command: "rm -r \"$STATE\""),
        Place(testDescription: "the state directory moved away", command: "mv \"$STATE\" \"$STATE.moved\""),
        Place(
            testDescription: "the state directory replaced by an empty one",
            command: "mv \"$STATE\" \"$STATE.moved\"; mkdir -m 700 \"$STATE\""),
        Place(
            testDescription: "the state directory replaced by a link to where it is",
            command: "mv \"$STATE\" \"$STATE.moved\"; ln -s \"$STATE.moved\" \"$STATE\""),
        Place(
            testDescription: "the state directory moved to another file system, with a link to it",
            command:
                "far=$(mktemp -d /dev/shm/appgroupd-XXXXXX); cp -a \"$STATE/.\" \"$far\"; mv \"$STATE\" \"$STATE.moved\"; "
                + "ln -s \"$far\" \"$STATE\""),
        Place(testDescription: "the journal removed", command: "rm \"$STATE\"/*.journal"),
        Place(testDescription: "the runtime directory removed", command: "rm -r \"$RUN\""),
        Place(
            testDescription: "the runtime directory moved away and made anew",
            command: "mv \"$RUN\" \"$RUN.moved\"; mkdir -m 700 \"$RUN\""),
    ]

    @Test("what was acknowledged before and after survives a kill", arguments: changes)
    func change(_ place: Place) throws {
        let daemon = try RunningDaemon(configuration: ["SyncIntervalSec=10ms"])
        defer {
            let link = try? FileManager.default.destinationOfSymbolicLink(atPath: daemon.state)
            if let link, link.hasPrefix("/dev/shm/") { try? Plist.remove(link) }
        }
        let peer = try daemon.peer(with: group)
        let watcher = try daemon.watcher(of: group)
        try peer.write(group, [.set("before", .integer(1))])
        try peer.synchronize(group)
        let run = URL(filePath: daemon.socket).deletingLastPathComponent().path
        let outcome = try ChildProcess.run(
            "/bin/sh", ["-ec", place.command],
            environment: ["ROOT": daemon.root, "STATE": daemon.state, "RUN": run])
        #expect(outcome.code == 0, "\(outcome.errors)")
        try peer.write(group, [.set("after", .integer(1))])
        // The plist is no help.
        try Plist.replace(daemon.plist(group.string), with: "damaged")
        _ = try? peer.synchronize(group)
        try peer.write(group, [.set("last", .integer(1))], durable: true)
        #expect(eventually { Plist.exists(daemon.journal(group.string)) }, "no journal is at its place")
        for _ in 0..<3 { #expect(try watcher.nextCommit().changes.count == 1) }
        try daemon.kill()
        try daemon.start()
        let values = try SettingsPeer(daemon).read(group).values
        #expect(values == ["before": .integer(1), "after": .integer(1), "last": .integer(1)])
    }

    @Test("a plist of a gigabyte is held like a damaged one, and costs no memory")
    func gigabyte() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: group)
        try peer.write(group, [.set("a", .integer(1))])
        try peer.synchronize(group)
        let path = daemon.plist(group.string)
        try Plist.exchange(path) { other in
            _ = FileManager.default.createFile(atPath: other, contents: nil)
            let handle = try FileHandle(forWritingTo: URL(filePath: other))
            try handle.truncate(atOffset: 1 << 30)
            try handle.close()
        }
        #expect(try eventually { try peer.status(of: group)?.plist == .damaged })
        #expect(try peer.read(group).values == ["a": .integer(1)])
        let pid = try #require(daemon.process?.pid)
        let status = try Plist.read("/proc/\(pid)/status")
        let peak = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        let size = try #require(peak.split { $0 == " " || $0 == "\t" }.dropFirst().first.flatMap { Int($0) })
        #expect(size < 200_000, "\(size) KiB")
        try Plist.replace(path, with: Plist.text(["a": "<integer>2</integer>"]))
        #expect(try eventually { try peer.read(group).values == ["a": .integer(2)] })
    }

    @Test("an edit of the same size and the same times is seen: the content tells, and not the clock")
    func coarseTimes() throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"])
        let peer = try daemon.peer(with: group)
        let path = daemon.plist(group.string)
        try Plist.replace(path, with: Plist.text(["a": "<integer>1</integer>"]))
        let past = Date(timeIntervalSince1970: 1_000_000)
        for number in 2...6 {
            try peer.synchronize(group)
            let file = try #require(FileHandle(forUpdatingAtPath: path))
            try file.write(contentsOf: Data(Plist.text(["a": "<integer>\(number)</integer>"]).utf8))
            try file.close()
            try FileManager.default.setAttributes([.modificationDate: past], ofItemAtPath: path)
            #expect(try eventually { try peer.read(group).values == ["a": .integer(Int64(number))] })
        }
    }

    @Test("a directory link on the way that is put elsewhere brings the other file, and then its edits")
    func swappedLink() throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"])
        let peer = try daemon.peer(with: group)
        let preferences = URL(filePath: daemon.plist(group.string)).deletingLastPathComponent().path
        for (name, value) in [("one", 1), ("two", 2)] {
            let directory = daemon.directory.file(name)
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            let text = Plist.text(["a": "<integer>\(value)</integer>"])
            try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(group).plist"))
        }
        try Plist.exchange(preferences) {
            try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: daemon.directory.file("one"))
        }
        try peer.synchronize(group)
        #expect(try peer.read(group).values == ["a": .integer(1)])
        try Plist.exchange(preferences) {
            try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: daemon.directory.file("two"))
        }
        try peer.synchronize(group)
        #expect(try peer.read(group).values == ["a": .integer(2)])
        let watcher = try daemon.watcher(of: group)
        try Plist.replace(
            "\(daemon.directory.file("two"))/\(group).plist", with: Plist.text(["a": "<integer>3</integer>"]))
        #expect(try watcher.nextCommit()["a"]?.new == .integer(3))
    }

    @Test(
        "a group's directory that is copied elsewhere and replaced by a link goes on there, on another file system too",
        arguments: ["", "/dev/shm"])
    func linkInPlaceOfTheContainer(_ place: String) throws {
        let daemon = try RunningDaemon(configuration: ["SettleSec=1h"])
        let peer = try daemon.peer(with: group)
        try peer.write(group, [.set("a", .integer(1))])
        try peer.synchronize(group)
        let container = "\(daemon.root)/\(group)"
        let directory = place.isEmpty ? daemon.directory.path : place
        let target = "\(directory)/appgroupd-\(UUID().uuidString)"
        defer { try? Plist.remove(target) }
        try FileManager.default.copyItem(atPath: container, toPath: target)
        let watcher = try daemon.watcher(of: group)
        try Plist.exchange(container) {
            try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: target)
        }
        try peer.synchronize(group)
        #expect(try peer.read(group).position?.revision == 1)
        let plist = "\(target)/Library/Preferences/\(group).plist"
        for number in 2...5 {
            try FileEditTests.save(
                Plist.text(["a": "<integer>\(number)</integer>"]), to: plist,
                FileEditTests.Saving.allCases[number % 3])
            #expect(try watcher.nextCommit()["a"]?.new == .integer(Int64(number)))
        }
        try peer.write(group, [.set("b", .integer(1))])
        try peer.synchronize(group)
        #expect(try Plist.entries(plist) == ["a": .integer(5), "b": .integer(1)])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: container) == target)
    }

    @Test("a journal that cannot be rewritten for want of room is kept as it is, and goes on taking writes")
    func compactionFull() throws {
        let mounted = try MountedDaemon(
            configuration: ["HistoryCommits=20"], mounts: "mount -t tmpfs -o size=400k,mode=700 state \"$STATE\"")
        let peer = try mounted.daemon.peer(with: group)
        try peer.write(group, [.set("large", .string(String(repeating: "x", count: 100_000)))])
        try peer.synchronize(group)
        try mounted.run("head -c 200000 /dev/zero > \"$STATE/filler\"")
        for number in 1...60 { try peer.write(group, [.set("n", .integer(Int64(number)))]) }
        try peer.synchronize(group)
        let position = try peer.read(group).position
        #expect(position?.revision == 61)
        try mounted.run("rm \"$STATE/filler\"")
        let journal = mounted.inside(mounted.daemon.journal(group.string))
        #expect(
            try eventually {
                try peer.write(group, [.set("n", .integer(Int64.random(in: 100 ... .max)))])
                return try Plist.read(journal).split(separator: "\n").count < 60
            }, "it is not rewritten when there is room")
        #expect(try peer.read(group).values["large"] == .string(String(repeating: "x", count: 100_000)))
        #expect(try mounted.stop().errors.contains("could not be compacted"))
    }
}
