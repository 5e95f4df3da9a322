import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// Writers, an editor that saves the plist in every way, and kills of the daemon, all at once: nobody's change is lost.
@Suite(.serialized) struct CampaignFileTests {
    private let group = GroupIdentifier.example
    private static let editCount = 150
    private static let comments = ["<!-- at the top -->", "<!-- about the first -->", "<!-- at the end -->"]
    private static let text = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- at the top -->
        <plist version="1.0">
        <dict>
            <!-- about the first -->
            <key>first</key>   <integer>1</integer>
        </dict>
        <!-- at the end -->
        </plist>

        """

    @Test(arguments: [0, 8]) func noEditAndNoWriteIsLostWhileFilesAreSavedUnderWritersAndKills(kills: Int) throws {
        try SplitMix64.withSeed { random in
            try run(kills: kills, seed: random.next() >> 1)
        }
    }

    private func run(kills: Int, seed: UInt64) throws {
        // What is asked in the end is asked of the history: all of it is kept, however fast the machine.
        let daemon = try RunningDaemon(configuration: ["HistoryCommits=1000000"])
        let peer = try SettingsPeer(daemon)
        try peer.create(group)
        try save(Self.text, to: daemon.plist(group.string))
        try peer.call(.synchronize(group))
        let follower = Follower(socket: daemon.socket, group: group)
        let observer = Background { try follower.run() }
        #expect(try eventually { try peer.status(of: group)?.watchers == 1 })
        let stop = Flag()
        let writers = (0..<2).map { number in
            let writer = Writer(
                socket: daemon.socket, group: group, name: "w\(number)", depth: 4, stop: stop, insists: true)
            return Background { try writer.run() }
        }
        // With kills it takes long enough to be there for all of them.
        let editor = try CampaignScript.editor.start(
            [daemon.plist(group.string), "\(seed)", "\(Self.editCount)", kills == 0 ? "0.02" : "0.06"])
        for _ in 0..<kills {
            Thread.sleep(forTimeInterval: 0.2)
            try daemon.kill()
            try daemon.start()
        }
        let outcome = try editor.finish()
        #expect(outcome.code == 0, "\(outcome.errors)")
        stop.raise()
        let acknowledged = try writers.flatMap { try $0.value() }

        let last = try SettingsPeer(daemon)
        try last.call(.synchronize(group))
        try last.write(group, [.set(Follower.end, .boolean(true))])
        let trace = try observer.value()
        try last.call(.synchronize(group))
        let state = try last.read(group)
        #expect(trace.problems == [])
        #expect(trace.snapshotReasons == ["initial"])
        #expect(trace.replica == state.values)
        // What the observer was told in folds, the history has singly.
        let commits = try last.wholeHistory(of: group)
        #expect(trace.contradictions(to: commits) == [])
        expectEdits(outcome.output.split(separator: "\n").map { Key(String($0)) }, in: commits, state.values)
        expectWrites(acknowledged, in: commits)
        try expectFile(daemon, state.values)
        let saves = commits.values.filter { $0.origin.kind == .file }
        // The careful editor may be overtaken between its last look and its save, once in some hundred times.
        let takingBack = saves.count { $0.changes.contains { $0.key.string.hasPrefix("w") } }
        #expect(takingBack <= 3)
        print(
            "files: \(kills) kills, \(acknowledged.count) writes, \(saves.count) commits of the file,",
            "\(takingBack) taking writes back, seed \(seed)")
    }

    private func save(_ text: String, to path: String) throws {
        try text.write(toFile: path + "~", atomically: false, encoding: .utf8)
        guard unsafe rename(path + "~", path) == 0 else { throw POSIXError(.EIO) }
    }
}

extension CampaignFileTests {
    /// Every key that was saved came in by a commit of the file, and is there unless a later save took it out.
    private func expectEdits(_ keys: [Key], in commits: [Int64: Commit], _ values: [Key: Value]) {
        #expect(keys.count == Self.editCount)
        let changes = commits.values.filter { $0.origin.kind == .file }.sorted { $0.revision < $1.revision }
            .flatMap(\.changes)
        let added = Set(changes.filter { $0.new != nil }.map(\.key))
        #expect(keys.filter { !added.contains($0) } == [])
        let removed = Set(changes.filter { $0.new == nil }.map(\.key))
        #expect(keys.filter { values[$0] == nil && !removed.contains($0) } == [])
    }

    /// An editor that saves what it read before a write takes the write back, visibly; it is not lost.
    private func expectWrites(_ acknowledged: [Acknowledged], in commits: [Int64: Commit]) {
        let byTag = Dictionary(grouping: commits.values) { $0.origin.tag ?? "" }
        let lost = acknowledged.filter { write in
            !(byTag[write.tag] ?? []).contains {
                $0.changes.contains { $0.key == write.key && $0.new == write.value }
                    && (!write.hasChanged || $0.revision <= write.revision)
            }
        }
        #expect(lost.map(\.tag) == [])
    }

    private func expectFile(_ daemon: RunningDaemon, _ values: [Key: Value]) throws {
        let path = daemon.plist(group.string)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(try XMLPropertyList(parsing: Array(text.utf8)).entries == values)
        #expect(Self.comments.filter { !text.contains($0) } == [])
        let directory = URL(filePath: path).deletingLastPathComponent().path
        let leftovers = try FileManager.default.contentsOfDirectory(atPath: directory)
        #expect(leftovers.filter { $0 != "\(group).plist" } == [])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: daemon.state).filter { $0.contains("damaged") } == [])
    }
}
