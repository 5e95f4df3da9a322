import Foundation
import TestSupport
import Testing

@testable import AppGroup

/// Asynchronous sequences of changes: the same rules without a daemon, with one, and from process to process.
@Suite struct ChangesTests {
    @Test func `R38 no change is missed or told twice while a subscription begins`() async {
        let settings = GroupDefaults.inMemory()
        let writer = Task.detached {
            for number in 1...20_000 { settings.set(number, forKey: "k") }
        }
        for _ in 0..<200 {
            let changes = settings.changes(for: "k", initial: true).makeAsyncIterator()
            var last = await changes.next()?.new?.integer
            for _ in 0..<3 where last ?? 0 < 20_000 {
                let change = await changes.next()
                #expect(change?.old?.integer == last)
                last = change?.new?.integer
            }
        }
        await writer.value
    }

    @Test(arguments: WorldKind.allCases)
    func `typed values begin with the present one, and fall back to the default`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        let values = world.reader.values(for: .fontSize).makeAsyncIterator()
        #expect(await values.next() == 12)
        world.writer[.fontSize] = 14
        #expect(await values.next() == 14)
        world.writer.reset(.fontSize)
        #expect(await values.next() == 12)
        let themes = world.reader.values(for: "theme", as: Shade.self).makeAsyncIterator()
        #expect(await themes.next() == .some(nil))
        world.writer.set("dark", forKey: "theme")
        #expect(await themes.next() == .some(.dark))
    }

    @Test func `cancelling ends the sequence and removes the observer`() async throws {
        let settings = GroupDefaults.inMemory()
        let started = Once()
        let task = Task {
            var count = 0
            for await _ in settings.changes(for: "k", initial: true) {
                count += 1
                started.finish()
            }
            return count
        }
        await started.wait()
        task.cancel()
        #expect(await task.value == 1)
        #expect(settings.searchList.observerCount == 0)
    }

    @Test func `a sequence that is dropped, iterated or not, stops listening`() async {
        let settings = GroupDefaults.inMemory()
        do { _ = settings.changes() }
        #expect(settings.searchList.observerCount == 0)
        settings.set(0, forKey: "k")
        for await _ in settings.changes(initial: true) { break }
        #expect(settings.searchList.observerCount == 0)
    }

    @Test func `a sequence keeps what it observes`() async throws {
        let daemon = try RunningDaemon()
        let changes = SettingWorld.open(daemon).changes(for: "k").makeAsyncIterator()
        SettingWorld.open(daemon).set(1, forKey: "k")
        #expect(await changes.next()?.new?.integer == 1)
    }

    @Test func `R30 a change by the command-line tool arrives with its name`() async throws {
        let daemon = try RunningDaemon()
        let settings = SettingWorld.open(daemon)
        let changes = settings.changes(matching: "ui.*").makeAsyncIterator()
        let outcome = try daemon.control(["write", "group.com.example.app", "ui.theme", "-string", "dark"])
        #expect(outcome.code == 0, "\(outcome)")
        let change = await changes.next()
        #expect(change?.new?.string == "dark")
        #expect(change?.origin?.isOwn == false)
        #expect(change?.origin?.name == "appgroupctl")
        #expect(change?.revision != nil)
    }

    @Test func `R32 R14 an edit of the file arrives as one`() async throws {
        let daemon = try RunningDaemon()
        let settings = SettingWorld.open(daemon)
        try await settings.write { $0["k"] = 1 }
        #expect(
            eventually { (try? String(contentsOfFile: daemon.plist("group.com.example.app"), encoding: .utf8)) != nil })
        let changes = settings.changes(for: "k").makeAsyncIterator()
        let plist = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>k</key><integer>2</integer></dict></plist>
            """
        try plist.write(toFile: daemon.plist("group.com.example.app"), atomically: true, encoding: .utf8)
        let change = await changes.next()
        #expect(change?.new?.integer == 2)
        #expect(change?.origin?.kind == .file)
    }

    @Test func `R24 observers go on hearing when the file is replaced, by others and by the daemon`() async throws {
        let daemon = try RunningDaemon()
        let settings = SettingWorld.open(daemon)
        let changes = settings.changes(for: "k").makeAsyncIterator()
        for number in stride(from: 0, to: 10, by: 2) {
            try await settings.write { $0["k"] = number }
            #expect(await changes.next()?.new?.integer == number)
            #expect(try daemon.control(["sync", "group.com.example.app"]).code == 0)
            let plist = """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict><key>k</key><integer>\(number + 1)</integer></dict></plist>
                """
            try plist.write(toFile: daemon.plist("group.com.example.app"), atomically: true, encoding: .utf8)
            #expect(await changes.next()?.new?.integer == number + 1)
        }
    }

    @Test func `R31 observers end right after the daemon was away`() async throws {
        let daemon = try RunningDaemon()
        let reader = SettingWorld.open(daemon)
        try await reader.write { $0["k"] = 1 }
        let changes = reader.changes(for: "k").makeAsyncIterator()
        try daemon.kill()
        try daemon.start()
        let writer = SettingWorld.open(daemon)
        try await writer.write { $0["k"] = 2 }
        let change = await changes.next()
        #expect(change?.old?.integer == 1)
        #expect(change?.new?.integer == 2)
    }

    @Test func `a thousand subscriptions leave nothing behind`() async throws {
        let daemon = try RunningDaemon()
        let settings = SettingWorld.open(daemon)
        try await settings.write { $0["k"] = 1 }
        for _ in 0..<1000 {
            let task = Task {
                for await change in settings.changes(for: "k", initial: true) where !change.isInitial { return }
            }
            let token = settings.observe("k") { _ in }
            task.cancel()
            await task.value
            token.cancel()
        }
        #expect(settings.searchList.observerCount == 0)
        #expect(settings.backend.replica.listenerCount == 1)
    }
}

enum Shade: String, Sendable {
    case light, dark
}

extension GroupDefaults.Key<Int> {
    static var fontSize: Self { Self("fontSize", default: 12) }
}
