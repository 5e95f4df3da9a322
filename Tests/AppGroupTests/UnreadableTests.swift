import Foundation
import TestSupport
import Testing

@testable import AppGroup

/// What cannot be read never looks like what is empty.
@Suite(.timeLimit(.minutes(30))) struct UnreadableTests {
    private static let group = "group.com.example.app"

    private func damagedDaemon() throws -> RunningDaemon {
        try RunningDaemon { daemon in try Self.write("garbage", daemon) }
    }

    private static func write(_ text: String, _ daemon: RunningDaemon) throws {
        let url = URL(filePath: daemon.plist(group))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url, options: .atomic)
    }

    private static let sound = """
        <?xml version="1.0" encoding="UTF-8"?>
        <plist version="1.0"><dict><key>k</key><string>kept</string></dict></plist>
        """

    @Test func `U49 a group whose file was never readable says so, and a default does not overwrite it`() async throws {
        let daemon = try damagedDaemon()
        let settings = SettingWorld.open(daemon)
        #expect(settings.object(forKey: "k") == nil)
        guard case .disconnected(let error) = settings.connectionState else {
            Issue.record("\(settings.connectionState)")
            return
        }
        #expect(error.code == .storageFailed)
        #expect(error.description.contains(daemon.plist(Self.group)))
        #expect(#expect(throws: AppGroupError.self) { try settings.synchronize() }?.code == .storageFailed)
        #expect(await #expect(throws: AppGroupError.self) { try await settings.commit() }?.code == .storageFailed)
        // What a program does that takes it for its first start.
        let errors = settings.errors.makeAsyncIterator()
        settings.set("default", forKey: "k")
        #expect(await errors.next()?.code == .storageFailed)
        await #expect(throws: AppGroupError.self) { try await settings.write { $0["k"] = "default" } }
        #expect(try String(contentsOfFile: daemon.plist(Self.group), encoding: .utf8) == "garbage")
    }

    @Test func `U49 once the file is sound again the group is what it says, and is told to observers`() async throws {
        let daemon = try damagedDaemon()
        let settings = SettingWorld.open(daemon)
        let changes = settings.changes(for: "k").makeAsyncIterator()
        let states = settings.connectionStates.makeAsyncIterator()
        guard case .disconnected = await states.next() else {
            Issue.record("\(settings.connectionState)")
            return
        }
        try Self.write(Self.sound, daemon)
        #expect(await changes.next()?.new?.string == "kept")
        while await states.next() != .connected {}
        #expect(settings.string(forKey: "k") == "kept")
        settings.set("new", forKey: "k")
        try await settings.commit()
        #expect(SettingWorld.open(daemon).string(forKey: "k") == "new")
    }

    @Test func `U49 another group of the process is none the worse`() async throws {
        let daemon = try damagedDaemon()
        let damaged = SettingWorld.open(daemon)
        guard case .daemon(let link, _) = damaged.backend else { return }
        let sound = GroupDefaults(suiteName: "group.com.example.sound", link: link)
        sound.set(1, forKey: "k")
        try await sound.commit()
        #expect(sound.connectionState == .connected)
        #expect(sound.integer(forKey: "k") == 1)
        #expect(damaged.connectionState != .connected)
    }
}
