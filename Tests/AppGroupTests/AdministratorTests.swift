import Foundation
import GroupClient
import GroupModel
import Observation
import PropertyList
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

/// What an administrator sets, as programs see it.
@Suite("What an administrator sets") struct AdministratorTests {
    private let daemon: RunningDaemon
    private let link: DaemonLink
    private let settings: GroupDefaults
    private static let group = "group.com.example.app"

    init() throws {
        daemon = try RunningDaemon()
        link = DaemonLink(DaemonAddress(path: daemon.socket), tagPrefix: DaemonLink.newTagPrefix())
        settings = GroupDefaults(suiteName: Self.group, link: link)
    }

    private func put(_ kind: String, _ entries: [String: Any]) throws {
        let directory = URL(filePath: daemon.configurationDirectory(.administrator)).appending(path: kind)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let data = try PropertyListSerialization.data(fromPropertyList: entries, format: .xml, options: 0)
        try data.write(to: directory.appending(path: "\(Self.group).plist"), options: .atomic)
    }

    @Test func `a forced key has the administrator's value at once, and every set of it is refused`() async throws {
        settings.set(1, forKey: "k")
        settings.set("own", forKey: "other")
        try await settings.commit()
        let news = ChangeLog()
        let id = settings.searchList.addObserver { _, changes in
            // What other tests register is for the whole process, and so for this list too.
            for change in changes where change.key.string == "k" { news.add([change.old, change.new]) }
        }
        defer { settings.searchList.removeObserver(id) }
        let isForced = Mutex(false)
        withObservationTracking {
            #expect(!settings.objectIsForced(forKey: "k"))
        } onChange: {
            isForced.withLock { $0 = true }
        }
        try put("managed", ["k": 2])
        #expect(eventually { settings.objectIsForced(forKey: "k") })
        #expect(eventually { isForced.withLock { $0 } })
        #expect(settings.integer(forKey: "k") == 2)
        #expect(eventually { news.all == [[.integer(1), .integer(2)]] })
        #expect(!settings.objectIsForced(forKey: "other"))
        #expect(settings.ownKeys == ["other"])

        // Without a flicker: it is known here.
        settings.set(3, forKey: "k")
        #expect(settings.integer(forKey: "k") == 2)
        do throws(AppGroupError) {
            try await settings.write { $0["k"] = 4 }
            Issue.record("a forced key was written")
        } catch {
            #expect(error.code == .forced)
            #expect(error.keys == ["k"])
        }
        // Until it is refused, the set would show where nothing is above it any more.
        _ = try? await settings.commit()
        try FileManager.default.removeItem(
            atPath: "\(daemon.configurationDirectory(.administrator))/managed/\(Self.group).plist")
        #expect(eventually { !settings.objectIsForced(forKey: "k") })
        #expect(settings.integer(forKey: "k") == 1)
        // The value is there first, and then its observers hear of it.
        #expect(eventually { news.all == [[.integer(1), .integer(2)], [.integer(2), .integer(1)]] })
    }

    @Test func `a forced value goes before an argument of the command line`() async throws {
        let key = PropertyList.Key("k")
        let list = SearchList(
            own: link.replica(of: try GroupIdentifier(Self.group)),
            domains: ProcessDomains(arguments: [key: .integer(7)]))
        defer { list.close() }
        try await settings.write { $0["k"] = 1 }
        let news = ChangeLog()
        let id = list.addObserver { _, changes in for change in changes { news.add([change.old, change.new]) } }
        defer { list.removeObserver(id) }
        #expect(list.cell(key).value == .integer(7))
        // The same value as the group's own: what readers see changes all the same.
        try put("managed", ["k": 1])
        #expect(eventually { list.cell(key).value == .integer(1) })
        try put("managed", [:])
        #expect(eventually { list.cell(key).value == .integer(7) })
        #expect(eventually { news.all == [[.integer(7), .integer(1)], [.integer(1), .integer(7)]] })
    }

    @Test func `an administrator's default stands above the registered ones and below the group`() async throws {
        try put("defaults", ["k.default": 5, "only": "here"])
        settings.register(defaults: ["k.default": 1])
        #expect(eventually { settings.integer(forKey: "k.default") == 5 })
        #expect(settings.string(forKey: "only") == "here")
        #expect(!settings.exists("k.default") && settings.ownKeys == [])
        #expect(!settings.objectIsForced(forKey: "k.default"))
        settings.increment("k.default")
        #expect(settings.integer(forKey: "k.default") == 6)
        #expect(settings.exists("k.default"))
        try await settings.commit()
        #expect(settings.ownDictionary()["k.default"] as? Int == 6)
        settings.removeObject(forKey: "k.default")
        try await settings.commit()
        #expect(eventually { settings.integer(forKey: "k.default") == 5 })
        #expect(!settings.exists("k.default"))
    }
}
