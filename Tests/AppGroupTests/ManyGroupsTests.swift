import GroupClient
import GroupModel
import PropertyList
import TestSupport
import Testing

@testable import AppGroup

/// Hundreds of groups over two connections.
@Suite struct ManyGroupsTests {
    @Test func `groups that are opened one after the other wait for each other`() {
        // Each opening of the watch costs as much as it has groups. A group is opened every millisecond.
        for count in [10, 300, 3000] {
            var (watched, cost, due) = (0, 0, 0.0)
            for opened in 1...count {
                let now = Double(opened) / 1000
                guard now >= due else { continue }
                (watched, cost) = (opened, cost + opened)
                due = now + DaemonLink.State.watchDelay(watched: watched)
            }
            #expect(cost <= 20 * count, "\(count) groups, \(cost) entries")
        }
        #expect(DaemonLink.State.watchDelay(watched: 10_000) <= 0.1, "nobody waits long for changes")
    }

    @Test func `three hundred groups have their states and are told of changes`() async throws {
        let daemon = try RunningDaemon()
        let names = (0..<300).map { "group.com.example.n\($0)" }
        let writer = SettingWorld.open(daemon, names[0])
        guard case .daemon(let writing, _) = writer.backend else { return }
        // Before, so that there is something to read.
        let sources = names.map { GroupDefaults(suiteName: $0, link: writing) }
        for (index, source) in sources.enumerated() { source.set(index, forKey: "n") }
        for source in sources { try await source.commit() }
        guard case .daemon(let reading, _) = SettingWorld.open(daemon, names[0]).backend else { return }
        let readers = names.map { name in
            let reader = GroupDefaults(suiteName: name, link: reading)
            // One after the other, each with its state.
            #expect(Int(name.split(separator: "n").last ?? "") == reader.integer(forKey: "n"))
            return reader
        }
        for (source, reader) in zip(sources, readers) {
            let value = Value.string(reader.suiteName)
            await SettingWorld.see("changed", value, in: reader) { source.submitOrReport([.set("changed", value)]) }
        }
    }

    @Test func `a group whose state is too large for one reply comes by the watch`() async throws {
        let daemon = try RunningDaemon(configuration: ["MaxGroupSize=32M"])
        let writer = SettingWorld.open(daemon, "group.large")
        for number in 0..<12 { writer.set(String(repeating: "x", count: 1_000_000), forKey: "k\(number)") }
        try await writer.commit()
        let small = SettingWorld.open(daemon, "group.small")
        #expect(small.integer(forKey: "k") == 0)
        guard case .daemon(let link, _) = small.backend else { return }
        let large = GroupDefaults(suiteName: "group.large", link: link)
        large.backend.replica.waitUntilReady(Deadline(afterSeconds: 20 * timeoutScale))
        #expect(large.ownKeys.count == 12)
    }
}
