import Foundation
import GroupModel
import LinuxIO
import TestSupport
import Testing

@testable import GroupFiles

@Suite struct ContainerTests {
    private let directory: TemporaryDirectory
    private let container: Container
    private let group: GroupIdentifier

    init() throws {
        directory = try TemporaryDirectory()
        container = Container(root: directory.file("share/appgroups"))
        group = try GroupIdentifier("group.com.example.app")
    }

    @Test func pathsAreApplesLayout() {
        #expect(
            container.plistPath(of: group)
                == container.root + "/group.com.example.app/Library/Preferences/group.com.example.app.plist")
    }

    // R76
    @Test func r76DirectoriesArePrivateWhateverTheUmask() throws {
        #expect(try container.create(group))
        let path = container.path(of: group)
        let names = ["Preferences", "Caches", "Application Support"].map { "/Library/" + $0 }
        for name in ["", "/Library", "/Documents"] + names {
            #expect(try Files.status(path + name).mode == 0o700)
        }
        #expect(try Files.status(container.root).mode == 0o700)
    }

    @Test func existingContainerIsCompletedAndOtherwiseLeftAlone() throws {
        try container.create(group)
        let path = container.path(of: group)
        try Files.changeMode(path, 0o750)
        try Files.removeDirectory(path + "/Documents")
        #expect(try !container.create(group))
        #expect(try Files.status(path).mode == 0o750)
        #expect(try Files.status(path + "/Documents").kind == .directory)
    }

    @Test func whatIsNoDirectoryIsRefused() throws {
        try container.createRoot()
        let path = container.path(of: group)
        try Data().write(to: URL(filePath: path))
        #expect(throws: Container.Failure.notADirectory(path: path)) { try container.create(group) }
        try Files.unlink(path)
        try Files.symlink("nowhere", at: path)
        #expect(throws: Container.Failure.notADirectory(path: path)) { try container.create(group) }
    }

    // R77
    @Test(.enabled(if: geteuid() == 0, "only root gives directories away"))
    func r77SomebodyElsesDirectoryIsRefused() throws {
        try container.createRoot()
        try Files.openDirectory(container.root).changeOwner(uid: 1234, gid: 1234)
        #expect(throws: Container.Failure.notOurs(path: container.root, owner: 1234)) { try container.create(group) }
    }

    @Test func trashedContainerIsMovedUnderAFreeName() throws {
        for suffix in ["", "-2", "-3"] {
            try container.create(group)
            try Data("x".utf8).write(to: URL(filePath: container.plistPath(of: group)))
            let path = try container.trash(group, time: "T")
            #expect(path == "\(container.root)/.trash/group.com.example.app-T\(suffix)")
            #expect(
                FileManager.default.fileExists(
                    atPath: path + "/Library/Preferences/group.com.example.app.plist"))
        }
        #expect(try container.list() == [])
        #expect(throws: Container.Failure.self) { try container.trash(group, time: "T") }
    }

    @Test func listHasDirectoriesWithValidNamesAndLinksToSuch() throws {
        for name in ["b", "a", "A"] { try container.create(try GroupIdentifier(name)) }
        for name in [".trash", "-x", "x..y", "with blank"] { try Files.makeDirectory(container.root + "/" + name) }
        try Data().write(to: URL(filePath: container.root + "/file"))
        try Files.makeDirectory(directory.file("elsewhere"))
        try Files.symlink(directory.file("elsewhere"), at: container.root + "/linked")
        try Files.symlink("nowhere", at: container.root + "/dangling")
        #expect(try container.list().map(\.string) == ["A", "a", "b", "linked"])
    }
}
