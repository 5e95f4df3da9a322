import Foundation
import LinuxIO
import TestSupport
import Testing

@testable import GroupWatch

extension WatcherTests {
    /// Start, stop and the thread's idleness.
    struct Life {
        @Test("Stopping ends the thread while it waits, twice is as good as once, and another watcher may follow")
        func stop() throws {
            for _ in 1...20 {
                let fixture = try Fixture()
                let task = "/proc/self/task/\(fixture.watcher.threadID)/comm"
                #expect(try String(contentsOfFile: task, encoding: .utf8) == "watcher\n")
                fixture.watcher.stop()
                fixture.watcher.stop()
                // The kernel lets who joins a thread go on a little before the thread is off its list.
                #expect(eventually { !FileManager.default.fileExists(atPath: task) })
                let count = fixture.log.all.count
                try fixture.directory.quickWrite("seen/a")
                fixture.watcher.watch(directory: fixture.seen)
                fixture.watcher.barrier(1)
                #expect(fixture.log.all.count == count)
            }
        }

        @Test("Of two watchers the second is refused, whoever of the two threads is second")
        func single() throws {
            let fixture = try Fixture()
            #expect(throws: SystemError(errno: .busy, call: "inotifytools_initialize")) {
                _ = try Watcher(cookieDirectory: fixture.directory.path) { _ in }
            }
            #expect(try fixture.drain() == [])
        }

        @Test("A watcher without a place for its cookie does not start, and leaves nothing behind")
        func noCookieDirectory() throws {
            let before = inotifyCount()
            for _ in 1...5 {
                #expect { try Watcher(cookieDirectory: "/nonexistent") { _ in } } throws: {
                    ($0 as? SystemError)?.errno == .noSuchFile
                }
            }
            #expect(inotifyCount() == before)
            _ = try Fixture()
        }

        @Test("Events left unread by one watcher do not reach the next")
        func leftovers() throws {
            let first = try Fixture()
            let gate = DispatchSemaphore(value: 0)
            let entered = DispatchSemaphore(value: 0)
            first.watcher.stop()
            let stalled = try Watcher(cookieDirectory: first.directory.path) { events in
                guard case .changed = events.last else { return }
                entered.signal()
                gate.wait()
            }
            stalled.watch(directory: first.seen)
            while try watchCount() < 2 { sched_yield() }
            try first.directory.quickWrite("seen/first")
            entered.wait()
            // More than the library reads at once, and that is more than we take for a batch.
            for number in 0..<3000 { try first.directory.quickWrite("seen/\(number)") }
            gate.signal()
            entered.wait()
            DispatchQueue.global().async {
                while !stalled.isStopping { sched_yield() }
                gate.signal()
            }
            stalled.stop()
            let next = try Fixture()
            try next.watch(next.seen)
            #expect(next.log.all == [.watching(directory: next.seen), .barrier(1)])
        }

        @Test("The inotify descriptor is not inherited by children")
        func closeOnExec() throws {
            let fixture = try Fixture()
            let flags = try Files.list("/proc/self/fd").filter {
                (try? Files.readLink("/proc/self/fd/\($0)"))?.hasPrefix("anon_inode:inotify") == true
            }
            .map { try String(contentsOfFile: "/proc/self/fdinfo/\($0)", encoding: .utf8) }
            .map { info in info.split(separator: "\n").first { $0.hasPrefix("flags:") } }
            #expect(!flags.isEmpty && flags.allSatisfy { $0?.contains("02000") == true }, "\(flags)")
            _ = fixture
        }

        @Test("An idle watcher never wakes")
        func noWakeUps() throws {
            let fixture = try Fixture()
            try fixture.watch(fixture.seen)
            // The thread is back in its wait when it sleeps twice in a row with the same count.
            let before = try settledSwitches(of: fixture.watcher)
            // There is no event to wait for when nothing is to happen: this sleep is the observation itself.
            Thread.sleep(forTimeInterval: 3)
            #expect(try switches(of: fixture.watcher) == before)
            #expect(try fixture.drain() == [])
            // It counts when it sleeps again, which is after what it had to tell.
            #expect(try eventually { try switches(of: fixture.watcher) > before })
        }

        private func settledSwitches(of watcher: Watcher) throws -> Int {
            let path = "/proc/self/task/\(watcher.threadID)/status"
            while !(try String(contentsOfFile: path, encoding: .utf8).contains("State:\tS")) { sched_yield() }
            return try switches(of: watcher)
        }

        private func switches(of watcher: Watcher) throws -> Int {
            let status = try String(contentsOfFile: "/proc/self/task/\(watcher.threadID)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
            return try #require(line.flatMap { Int($0.split(separator: "\t")[1]) })
        }

        @Test("What waits at the stop is answered with ECANCELED")
        func cancelled() throws {
            let fixture = try Fixture()
            fixture.watcher.stop()
            let log = EventLog()
            let gate = DispatchSemaphore(value: 0)
            let entered = DispatchSemaphore(value: 0)
            let watcher = try Watcher(cookieDirectory: fixture.directory.path) { events in
                log.append(events)
                guard events == [.barrier(1)] else { return }
                entered.signal()
                gate.wait()
            }
            watcher.barrier(1)
            entered.wait()
            watcher.barrier(2)
            watcher.watch(directory: fixture.seen)
            DispatchQueue.global().async {
                // Lets the stop in: `stop` asks, then waits for the thread that this releases.
                while !watcher.isStopping { sched_yield() }
                gate.signal()
            }
            watcher.stop()
            let reason = Errno(rawValue: ECANCELED)
            #expect(log.all == [.barrier(1), .barrierFailed(2, reason), .watchFailed(directory: fixture.seen, reason)])
        }
    }
}
