import Foundation
import LinuxIO
import TestSupport
import Testing

@testable import GroupWatch

extension WatcherTests {
    /// The cookie: barriers, and what happens when it cannot be touched.
    struct Barriers {
        @Test("A barrier comes after what happened before it, and before what happens later")
        func order() throws {
            let fixture = try Fixture()
            try fixture.watch(fixture.seen)
            for round in 0..<500 {
                try fixture.directory.quickWrite("seen/\(round)")
                let expected = [Change("\(round)", .created), Change("\(round)", .closedAfterWriting)]
                #expect(try fixture.changes() == expected)
            }
        }

        @Test("Barriers of several threads each come after their own thread's events")
        func orderOfThreads() throws {
            let fixture = try Fixture()
            try fixture.watch(fixture.seen)
            let watcher = fixture.watcher
            DispatchQueue.concurrentPerform(iterations: 4) { thread in
                for round in 0..<300 {
                    _ = try? fixture.directory.quickWrite("seen/\(thread)-\(round)")
                    watcher.barrier(UInt64(1_000_000 + thread * 1000 + round))
                }
            }
            let events = try #require(fixture.log.wait { events in events.filter(isBarrier).count == 1200 + 1 })
            var positions: [WatchEvent: Int] = [:]
            for (position, event) in events.enumerated() { positions[event] = position }
            for thread in 0..<4 {
                for round in 0..<300 {
                    let name = "\(thread)-\(round)"
                    let written = WatchEvent.changed(directory: fixture.seen, name: name, kind: .closedAfterWriting)
                    let barrier = WatchEvent.barrier(UInt64(1_000_000 + thread * 1000 + round))
                    #expect(try #require(positions[written]) < #require(positions[barrier]), "\(name)")
                }
            }
        }

        private func isBarrier(_ event: WatchEvent) -> Bool {
            if case .barrier = event { true } else { false }
        }

        @Test("A barrier with nothing watched and nothing happening is answered")
        func idle() throws {
            let fixture = try Fixture()
            for _ in 1...100 { #expect(try fixture.drain() == []) }
        }

        @Test("Barriers go on when the cookie's directory is deleted")
        func cookieDirectoryDeleted() throws {
            let fixture = try Fixture()
            try fixture.watch(fixture.seen)
            try Files.removeDirectory(fixture.directory.file("cookies"))
            try fixture.directory.quickWrite("seen/a")
            #expect(try fixture.changes().count == 2)
        }

        @Test("A cookie that cannot be touched once is replaced, and the barrier still holds")
        func cookieReplaced() throws {
            let fixture = try Fixture()
            try fixture.watch(fixture.seen)
            for round in 1...20 {
                try fixture.directory.quickWrite("seen/\(round)")
                FaultPlan.run([.init("fchmod", .fail(.noSpace))]) { fixture.watcher.barrier(UInt64(1000 + round)) }
                let events = try fixture.log.wait(for: .barrier(UInt64(1000 + round)))
                let written = WatchEvent.changed(directory: fixture.seen, name: "\(round)", kind: .closedAfterWriting)
                #expect(events.dropLast().contains(written) && events.last == .barrier(UInt64(1000 + round)))
            }
            #expect(try Files.list(fixture.directory.file("cookies")) == [])
        }

        @Test("Without a cookie a barrier fails with the reason, watches are made, and all is well once there is one")
        func cookieless() throws {
            let fixture = try Fixture()
            let cookies = fixture.directory.file("cookies")
            try Files.removeDirectory(cookies)
            FaultPlan.run([.init("fchmod", .fail(.readOnlyFileSystem))]) { fixture.watcher.barrier(1000) }
            try fixture.log.wait(for: .barrierFailed(1000, .noSuchFile))
            fixture.watcher.watch(directory: fixture.seen)
            try fixture.log.wait(for: .watching(directory: fixture.seen))
            fixture.watcher.barrier(1001)
            try fixture.log.wait(for: .barrierFailed(1001, .noSuchFile))
            try fixture.directory.quickWrite("seen/a")
            try fixture.log.wait(for: .changed(directory: fixture.seen, name: "a", kind: .closedAfterWriting))
            try Files.makeDirectory(cookies)
            fixture.watcher.barrier(1002)
            try fixture.log.wait(for: .barrier(1002))
            #expect(try fixture.drain().contains(.barrier(1002)))
        }

        @Test("A cookie that can be made but never touched is a failure too")
        func untouchable() throws {
            let fixture = try Fixture()
            try FaultPlan.run([.init("fchmod", times: 1000, .fail(.noSpace))], scope: .allThreads) {
                fixture.watcher.barrier(1000)
                try fixture.log.wait(for: .barrierFailed(1000, .noSpace))
            }
            fixture.watcher.barrier(1001)
            try fixture.log.wait(for: .barrier(1001))
        }
    }
}
