import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Administrators' layers")
struct LayerTests {
    private static let group = "group.com.example.app"

    @Test(
        "R84: a managed key is in force at once, cannot be written, and gives way to the group's own value when it goes"
    )
    func managed() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .integer(1)), .set("other", .integer(1))])
        let watcher = try daemon.watcher(of: .example)
        try daemon.put(.managed, ["k": "<integer>2</integer>", "new": "<true/>"])
        let forced = try watcher.nextCommit()
        #expect(forced.origin == Origin(kind: .administrator))
        #expect(
            forced.changes == [
                Change(key: "k", old: .integer(1), new: .integer(2), layer: .managed),
                Change(key: "new", old: nil, new: .boolean(true), layer: .managed),
            ])
        #expect(try peer.read(.example).values == ["k": .integer(2), "new": .boolean(true), "other": .integer(1)])
        #expect(try peer.call(.read(.example, keys: nil))["managed"] == ["k", "new"])
        #expect(throws: GroupError.forced(keys: ["k"])) {
            try peer.write(.example, [.set("other", .integer(2)), .set("k", .integer(3))])
        }
        try peer.write(.example, [.set("other", .integer(2))])
        #expect(try watcher.nextCommit().changes == [Change(key: "other", old: .integer(1), new: .integer(2))])
        try peer.synchronize()
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["k": .integer(1), "other": .integer(2)])

        try Plist.remove(daemon.layer(.managed))
        let free = try watcher.nextCommit()
        #expect(
            free.changes == [
                Change(key: "k", old: .integer(2), new: .integer(1)), Change(key: "new", old: .boolean(true), new: nil),
            ])
        try peer.write(.example, [.set("k", .integer(3))])
    }

    @Test("a default is what a group without the key has, and what edits start from")
    func defaults() throws {
        let daemon = try RunningDaemon()
        try daemon.put(.defaults, ["count": "<integer>5</integer>", "on": "<true/>"])
        let peer = try daemon.peer(with: .example)
        #expect(try eventually { try peer.read(.example).values == ["count": .integer(5), "on": .boolean(true)] })
        let watcher = try daemon.watcher(of: .example)
        #expect(
            try peer.write(.example, [Edit(key: "count", operation: .increment, value: .integer(1))]).changed == [
                "count"
            ])
        #expect(try watcher.nextCommit().changes == [Change(key: "count", old: .integer(5), new: .integer(6))])
        // Equal to the default: the group's own from now on, and no news.
        #expect(try peer.write(.example, [.set("on", .boolean(true))]).changed == [])
        try peer.write(.example, [.remove("count")])
        #expect(
            try watcher.nextCommit().changes == [
                Change(key: "count", old: .integer(6), new: .integer(5), layer: .defaults)
            ])
        #expect(try peer.history(.example).map(\.changes.count) == [1, 0, 1, 2])
        try Plist.remove(daemon.layer(.defaults))
        #expect(try watcher.nextCommit().changes == [Change(key: "count", old: .integer(5), new: nil)])
        #expect(try peer.read(.example).values == ["on": .boolean(true)])
    }

    @Test("what an administrator changes while the daemon is away is told to who resumes, once")
    func restart() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .integer(1)), .set("j", .integer(1))])
        try daemon.put(.managed, ["k": "<integer>2</integer>"])
        #expect(try eventually { try peer.read(.example).values["k"] == .integer(2) })
        let position = try #require(try peer.read(.example).position)
        for isKilled in [false, true] {
            if isKilled { try daemon.kill() } else { try daemon.stop() }
            if !isKilled { try daemon.put(.managed, ["k": "<integer>3</integer>"]) }
            try daemon.start()
            let watcher = try SettingsPeer(daemon)
            try watcher.watch([WatchedGroup(group: .example, since: position)])
            #expect(
                try watcher.nextCommit().changes == [
                    Change(key: "k", old: .integer(2), new: .integer(3), layer: .managed)
                ])
            let again = try SettingsPeer(daemon)
            try again.write(.example, [.set("j", .boolean(isKilled))])
            #expect(try watcher.nextCommit().keys == ["j"])
            #expect(try again.read(.example).position?.revision == position.revision + (isKilled ? 3 : 2))
        }
    }

    @Test("what a person saves under a forced key is kept, and seen when the key is free again")
    func hiddenEdit() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .integer(1)), .set("j", .integer(1))])
        try daemon.put(.managed, ["k": "<integer>2</integer>"])
        #expect(try eventually { try peer.read(.example).values["k"] == .integer(2) })
        let watcher = try daemon.watcher(of: .example)
        try Plist.replace(
            daemon.plist(Self.group), with: Plist.text(["k": "<integer>7</integer>", "j": "<integer>8</integer>"]))
        #expect(try watcher.nextCommit().changes == [Change(key: "j", old: .integer(1), new: .integer(8))])
        try daemon.kill()
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(try again.read(.example).values["k"] == .integer(2))
        try Plist.remove(daemon.layer(.managed))
        #expect(try eventually { try again.read(.example).values == ["k": .integer(7), "j": .integer(8)] })
        #expect(try Plist.entries(daemon.plist(Self.group)) == ["k": .integer(7), "j": .integer(8)])
    }

    @Test(
        "the administrator's file goes before the user's where it forces, and after it where it proposes; a mask hides")
    func order() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        for whose in [RunningDaemon.Administrator.user, .administrator] {
            let mark = "<string>\(whose)</string>"
            try daemon.put(.managed, ["m": mark, "m-\(whose)": mark], by: whose)
            try daemon.put(.defaults, ["d": mark, "d-\(whose)": mark], by: whose)
        }
        #expect(
            try eventually {
                try peer.read(.example).values == [
                    "m": .string("administrator"), "m-user": .string("user"),
                    "m-administrator": .string("administrator"), "d": .string("user"), "d-user": .string("user"),
                    "d-administrator": .string("administrator"),
                ]
            })
        let link = daemon.layer(.defaults, by: .user)
        try Plist.exchange(link) {
            try FileManager.default.createSymbolicLink(atPath: $0, withDestinationPath: "/dev/null")
        }
        #expect(
            try eventually {
                try peer.read(.example).values == [
                    "m": .string("administrator"), "m-user": .string("user"),
                    "m-administrator": .string("administrator"),
                ]
            })
    }

    @Test("a file that cannot be read leaves in force what it held, and status says where it is wrong")
    func damaged() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try daemon.put(.managed, ["k": "<integer>2</integer>"])
        #expect(try eventually { try peer.read(.example).values == ["k": .integer(2)] })
        try Plist.replace(daemon.layer(.managed), with: "<plist version=\"1.0\">\n<dict>\n<key>k</key>\n")
        #expect(try eventually { try peer.status()?.problems.isEmpty == false })
        let problem = try #require(try peer.status()?.problems.first)
        #expect(problem.path == daemon.layer(.managed))
        #expect(problem.line == 4)
        #expect(try peer.read(.example).values == ["k": .integer(2)])
        try daemon.stop()
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(try again.read(.example).values == ["k": .integer(2)])
        try daemon.put(.managed, ["k": "<integer>3</integer>"])
        #expect(try eventually { try again.read(.example).values == ["k": .integer(3)] })
        #expect(try again.status()?.problems == [])
    }

    @Test("explain names every layer's value, who set it, and which one wins")
    func explain() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .integer(1))], tag: "t")
        try daemon.put(.managed, ["k": "<integer>2</integer>"])
        try daemon.put(.defaults, ["k": "<integer>0</integer>"], by: .user)
        #expect(try eventually { try daemon.control(["explain", Self.group, "k"]).output.contains("defaults") })
        let reply = try peer.call(.explain(.example, "k"))
        let layers = (reply["layers"]?.arrayValue ?? []).compactMap(LayerValue.init(wire:))
        #expect(layers.map(\.layer) == [.managed, .group, .defaults])
        #expect(layers.map(\.value) == [.integer(2), .integer(1), .integer(0)])
        #expect(layers.map(\.wins) == [true, false, false])
        #expect(
            layers.map(\.path) == [
                daemon.layer(.managed), daemon.plist(Self.group), daemon.layer(.defaults, by: .user),
            ])
        try #require(layers.count == 3)
        #expect(layers[1].revision == 1 && layers[1].origin?.tag == "t")
        #expect(layers[0].user == NSUserName() && layers[0].time != nil)
        let text = try daemon.control(["explain", Self.group, "k"]).output
        #expect(text.contains("→ managed   2  🔒\n    \(daemon.layer(.managed)), "))
        #expect(text.contains("hidden by \(daemon.layer(.managed))"))
        #expect(try daemon.control(["read", Self.group]).output == "k = 2  🔒\n")
        #expect(try daemon.control(["read", Self.group, "k"]).output == "2\n")
        let refused = try daemon.control(["write", Self.group, "k", "3"])
        #expect(refused.code == 1)
        #expect(refused.errors.contains("administrator"))
        let unknown = try daemon.control(["explain", Self.group, "other"])
        #expect(unknown.code == 1)
        #expect(unknown.errors.contains("has no key \"other\""))
    }
}

extension RunningDaemon {
    enum LayerKind: String {
        case managed, defaults
    }

    func layer(_ kind: LayerKind, by whose: Administrator = .administrator) -> String {
        "\(configurationDirectory(whose))/\(kind.rawValue)/group.com.example.app.plist"
    }

    /// Puts a file in place, as administrators' tools do.
    func put(
        _ kind: LayerKind, _ entries: KeyValuePairs<String, String>, by whose: Administrator = .administrator
    ) throws {
        let path = layer(kind, by: whose)
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try Plist.replace(path, with: Plist.text(entries))
    }
}
