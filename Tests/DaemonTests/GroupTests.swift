import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Groups")
struct GroupTests {
    static let container = [
        "Library/Preferences", "Documents", "Library/Caches", "Library/Application Support",
    ]

    @Test("R76: CreateGroup makes the container, for nobody else to read, and is content with one that exists")
    func create() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        let path = try peer.create(.example)
        #expect(path == "\(daemon.root)/group.com.example.app")
        for name in Self.container { #expect(Plist.mode("\(path)/\(name)") == 0o700) }
        #expect(Plist.mode(daemon.root) == 0o700)
        #expect(Plist.mode(daemon.state) == 0o700)
        #expect(Plist.mode(daemon.journal("group.com.example.app")) == 0o600)
        try peer.write(.example, [.set("k", .integer(1))])
        try peer.synchronize()
        #expect(Plist.mode(daemon.plist("group.com.example.app")) == 0o600)
        #expect(try peer.create(.example) == path)
        #expect(try peer.read(.example).position?.revision == 1)
    }

    /// Those that were not opened before the daemon serves are when they are asked for.
    @Test("of many groups each answers when it is asked, and who asks about all is told of all")
    func manyAtStart() throws {
        let names = (100..<180).map { "group.many.g\($0)" }
        let daemon = try RunningDaemon(prepare: { daemon in
            for name in names {
                let folder = "\(daemon.root)/\(name)/Library/Preferences"
                try FileManager.default.createDirectory(
                    atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                try Plist.replace(daemon.plist(name), with: Plist.text(["name": "<string>\(name)</string>"]))
            }
        })
        let peer = try SettingsPeer(daemon)
        #expect(try peer.groups() == names)
        for name in [names[79], names[0], names[40]] {
            #expect(try peer.read(GroupIdentifier(known: name)).values == ["name": .string(name)])
        }
        #expect(try peer.status()?.groups.map(\.group.string) == names)
        for name in names {
            #expect(try peer.read(GroupIdentifier(known: name)).values == ["name": .string(name)])
        }
    }

    @Test("CreateGroup makes what is missing of the container")
    func createMissing() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try Plist.remove("\(daemon.root)/group.com.example.app/Documents")
        try peer.create(.example)
        #expect(Plist.exists("\(daemon.root)/group.com.example.app/Documents"))
    }

    @Test("a directory that appears under the root is a group, one with another name is none")
    func directoryAppears() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        let files = FileManager.default
        let plist = daemon.plist("group.made.by.hand")
        let other = daemon.directory.file("prepared")
        try files.createDirectory(atPath: "\(other)/Library/Preferences", withIntermediateDirectories: true)
        try Plist.replace("\(other)/Library/Preferences/group.made.by.hand.plist", with: Plist.text(["k": "<true/>"]))
        for name in ["-no", "a..b", ".hidden", "ümlaut"] {
            try files.createDirectory(atPath: "\(daemon.root)/\(name)", withIntermediateDirectories: false)
        }
        try Data().write(to: URL(filePath: "\(daemon.root)/a.file"))
        try Plist.move(other, to: "\(daemon.root)/group.made.by.hand")
        try peer.synchronize(nil)
        #expect(try peer.groups() == ["group.made.by.hand"])
        let group = GroupIdentifier(known: "group.made.by.hand")
        #expect(try peer.read(group).values == ["k": .boolean(true)])
        try peer.write(group, [.set("l", .integer(1))])
        try peer.synchronize(group)
        #expect(try Plist.entries(plist) == ["k": .boolean(true), "l": .integer(1)])
    }

    @Test("a bare directory that appears is a group whose plist comes when it is needed")
    func bareDirectory() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        let group = GroupIdentifier(known: "group.bare")
        try FileManager.default.createDirectory(atPath: "\(daemon.root)/group.bare", withIntermediateDirectories: false)
        try peer.synchronize(nil)
        #expect(try peer.groups() == ["group.bare"])
        // A client library creates its group first.
        try peer.create(group)
        try peer.write(group, [.set("k", .integer(1))])
        try peer.synchronize(group)
        #expect(try Plist.entries(daemon.plist("group.bare")) == ["k": .integer(1)])
        // And what others save there is seen.
        try Plist.replace(daemon.plist("group.bare"), with: Plist.text(["k": "<integer>2</integer>"]))
        try peer.synchronize(group)
        #expect(try peer.read(group).values == ["k": .integer(2)])
    }

    @Test("DeleteGroup moves container and journal to the trash, and never over something")
    func delete() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        for round in 1...3 {
            try peer.create(.example)
            try peer.write(.example, [.set("round", .integer(Int64(round)))])
            try Data("mine".utf8).write(to: URL(filePath: "\(daemon.root)/group.com.example.app/Documents/note"))
            // Somebody's own file under the name that the journal gets there.
            let taken = "\(daemon.root)/group.com.example.app/group.com.example.app.journal"
            try Data("taken".utf8).write(to: URL(filePath: taken))
            try peer.synchronize()
            try peer.call(.deleteGroup(.example))
            #expect(try peer.groups() == [])
            #expect(!Plist.exists("\(daemon.root)/group.com.example.app"))
            #expect(!Plist.exists(daemon.journal("group.com.example.app")))
        }
        let trash = "\(daemon.root)/.trash"
        let kept = try FileManager.default.contentsOfDirectory(atPath: trash)
        #expect(kept.count == 3)
        for name in kept {
            let directory = "\(trash)/\(name)"
            #expect(name.hasPrefix("group.com.example.app-"))
            #expect(try Plist.read("\(directory)/Documents/note") == "mine")
            #expect(try Plist.read("\(directory)/group.com.example.app.journal") == "taken")
            let journals = try FileManager.default.contentsOfDirectory(atPath: directory).filter {
                $0.contains(".journal")
            }
            #expect(journals.count == 2)
        }
        #expect(throws: GroupError.noSuchGroup("group.com.example.app")) { try peer.read(.example) }
    }

    @Test("a group made again begins anew, with another epoch")
    func again() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("k", .integer(1))])
        let before = try #require(try peer.read(.example).position)
        try peer.call(.deleteGroup(.example))
        try peer.create(.example)
        let after = try peer.read(.example)
        #expect(after.values == [:])
        #expect(after.position?.revision == 0)
        #expect(after.position?.epoch != before.epoch)
        // Also after a restart.
        try daemon.stop()
        try daemon.start()
        #expect(try SettingsPeer(daemon).read(.example).position == after.position)
    }

    @Test("groups that differ only in case are two")
    func upperAndLowerCase() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        let groups = ["group.Example", "group.example", "GROUP.EXAMPLE"].map { GroupIdentifier(known: $0) }
        for (number, group) in groups.enumerated() {
            try peer.create(group)
            try peer.write(group, [.set("k", .integer(Int64(number)))])
        }
        try peer.synchronize(nil)
        for (number, group) in groups.enumerated() {
            #expect(try peer.read(group).values == ["k": .integer(Int64(number))])
            #expect(try Plist.entries(daemon.plist(group.string)) == ["k": .integer(Int64(number))])
        }
        #expect(try peer.groups().count == 3)
    }

    @Test("a group identifier of 200 bytes works, files and all")
    func longName() throws {
        let daemon = try RunningDaemon()
        let group = GroupIdentifier(known: "g" + String(repeating: ".x", count: 99) + "y")
        #expect(group.string.utf8.count == 200)
        let peer = try daemon.peer(with: group)
        try peer.write(group, [.set("k", .integer(1))])
        try peer.synchronize(group)
        #expect(try Plist.entries(daemon.plist(group.string)) == ["k": .integer(1)])
        try peer.call(.deleteGroup(group))
        #expect(try peer.groups() == [])
    }

    @Test("all groups are there after a restart, with position and values")
    func restart() throws {
        let daemon = try RunningDaemon()
        let peer = try SettingsPeer(daemon)
        var positions: [GroupIdentifier: Position?] = [:]
        for number in 0..<20 {
            let group = GroupIdentifier(known: "group.number\(number)")
            try peer.create(group)
            for step in 0..<number {
                positions[group] = try peer.write(group, [.set("k", .integer(Int64(step)))]).position
            }
        }
        try daemon.kill()
        try daemon.start()
        let again = try SettingsPeer(daemon)
        #expect(try again.groups().count == 20)
        for (group, position) in positions { #expect(try again.read(group).position == position) }
    }

    @Test("MaxGroups= stops a new group and no old one")
    func groupLimit() throws {
        let daemon = try RunningDaemon(configuration: ["MaxGroups=2"])
        let peer = try SettingsPeer(daemon)
        try peer.create(GroupIdentifier(known: "group.a"))
        try peer.create(GroupIdentifier(known: "group.b"))
        guard case .tooLarge(_, 2, 3)? = try peer.refusal(of: .createGroup(GroupIdentifier(known: "group.c"))) else {
            Issue.record("not refused")
            return
        }
        try peer.create(GroupIdentifier(known: "group.a"))
        #expect(!Plist.exists("\(daemon.root)/group.c"))
    }
}
