import Foundation
import GroupWatch
import LinuxIO
import TestSupport
import Testing

extension WatcherTests {
    /// The kernel's limits, really reached.
    struct LimitsReached {
        /// Told apart by when the cookie is touched: before the queue is full, or when it is, so that its event is lost.
        @Test("After an overflow every barrier is answered once (R88)", arguments: [[true, false, false, true, false]])
        func overflow(_ rounds: [Bool]) throws {
            let stall = try Stall()
            let watcher = try Watcher(cookieDirectory: stall.directory.path) { stall.take($0) }
            defer { watcher.stop() }
            for (round, isTouchedEarly) in rounds.enumerated() {
                watcher.watch(directory: stall.seen)
                let base = UInt64(round * 10 + 1)
                watcher.barrier(base)
                try stall.log.wait(for: .barrier(base))
                try stall.begin()
                if isTouchedEarly { watcher.barrier(base + 1) }
                try stall.fillQueue()
                watcher.barrier(base + 2)
                stall.end()
                let events = try stall.log.wait(for: .barrier(base + 2))
                let start = try #require(events.firstIndex(of: .barrier(base)))
                let overflow = try #require(events[start...].firstIndex(of: .overflow))
                #expect(try overflow < #require(events.firstIndex(of: .barrier(base + 2))))
                if isTouchedEarly { #expect(try #require(events.firstIndex(of: .barrier(base + 1))) < overflow) }
                try stall.clear()
                watcher.barrier(base + 3)
                try stall.log.wait(for: .barrier(base + 3))
            }
            let barriers = stall.log.all.filter { if case .barrier = $0 { true } else { false } }
            #expect(barriers.count == Set(barriers).count)
        }

        /// Holds the watcher's thread in `deliver` while the kernel's queue fills.
        private final class Stall: Sendable {
            let directory: TemporaryDirectory
            let seen: String
            let log = EventLog()
            private let gate = DispatchSemaphore(value: 0)
            private let entered = DispatchSemaphore(value: 0)
            private let fileCount: Int

            init() throws {
                directory = try TemporaryDirectory("watch")
                seen = directory.file("seen")
                try Files.makeDirectory(seen)
                let limit = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
                // Two events a file.
                fileCount = try #require(Int(limit.trimmingCharacters(in: .newlines))) / 2 + 1
            }

            func take(_ events: [WatchEvent]) {
                log.append(events)
                guard events.contains(.changed(directory: seen, name: "stall", kind: .created)) else { return }
                entered.signal()
                gate.wait()
            }

            func begin() throws {
                try directory.quickWrite("seen/stall")
                entered.wait()
            }

            func fillQueue() throws {
                for number in 0..<fileCount { try directory.quickWrite("seen/\(number)") }
            }

            func end() {
                gate.signal()
            }

            func clear() throws {
                for name in try Files.list(seen) { try Files.unlink("\(seen)/\(name)") }
            }
        }

        private static let isInside = ProcessInfo.processInfo.environment["APPGROUP_TEST_FEW_WATCHES"] != nil

        /// The limit is lowered in a user namespace of its own, so that nobody else on the machine notices: this
        /// program runs itself there, for the test below alone.
        @Test("No watches left: ENOSPC is told, the others work on, and it passes (R92)", .disabled(if: isInside))
        func noWatchesLeft() throws {
            let program = try Files.readLink("/proc/self/exe")
            // The cookie takes one of the four.
            try shell(
                """
                exec unshare --user --map-root-user sh -ec '
                    echo 4 > /proc/sys/user/max_inotify_watches
                    APPGROUP_TEST_FEW_WATCHES=1 exec "$0" --testing-library swift-testing --filter fewWatches
                ' '\(program)' 1>&2
                """
            )
        }

        @Test("Inside: four watches and no more", .enabled(if: isInside))
        func fewWatches() throws {
            let fixture = try Fixture()
            let paths = (0..<5).map { fixture.directory.file("d\($0)") }
            for path in paths {
                try Files.makeDirectory(path)
                fixture.watcher.watch(directory: path)
            }
            let answers = try fixture.drain()
            #expect(
                answers == paths.prefix(3).map { .watching(directory: $0) }
                    + paths.suffix(2).map { .watchFailed(directory: $0, .noSpace) }
            )
            try fixture.directory.quickWrite("d0/a")
            let written = WatchEvent.changed(directory: paths[0], name: "a", kind: .closedAfterWriting)
            #expect(try fixture.drain().contains(written))
            fixture.watcher.unwatch(directory: paths[0])
            fixture.watcher.watch(directory: paths[4])
            #expect(try fixture.drain() == [.watching(directory: paths[4])])
            print("few watches: done")
        }
    }
}
