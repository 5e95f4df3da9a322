import Foundation
import GroupWatch
import LinuxIO
import TestSupport
import Testing

extension WatcherTests {
    /// Directories that come, go, and are replaced.
    struct Directories {
        private func closed(_ directory: String, _ name: String) -> WatchEvent {
            .changed(directory: directory, name: name, kind: .closedAfterWriting)
        }

        @Test("What cannot be watched is answered with the reason")
        func failures() throws {
            let fixture = try Fixture()
            try fixture.directory.quickWrite("file")
            let cases: [(String, Errno)] = [
                (fixture.directory.file("missing"), .noSuchFile),
                (fixture.directory.file("file"), .notDirectory),
                (fixture.directory.file("nul\0byte"), .invalidArgument),
                ("", .noSuchFile),
            ]
            for (path, reason) in cases {
                fixture.watcher.watch(directory: path)
                try fixture.log.wait(for: .watchFailed(directory: path, reason))
            }
            try fixture.watch(fixture.seen)
        }

        @Test("A slash at the end makes no difference, and is not told")
        func trailingSlash() throws {
            let fixture = try Fixture()
            for suffix in ["/", "//", "/.", "/./"] {
                fixture.watcher.watch(directory: fixture.seen + suffix)
                #expect(try fixture.drain() == [.watching(directory: fixture.seen)])
            }
            try fixture.directory.quickWrite("seen/a")
            #expect(try fixture.drain().filter { $0 == closed(fixture.seen, "a") }.count == 1)
            fixture.watcher.unwatch(directory: fixture.seen + "/")
            try fixture.directory.quickWrite("seen/a")
            #expect(try fixture.drain() == [])
        }

        @Test("A directory that is deleted and made again, many times, is watched anew each time")
        func recreated() throws {
            let fixture = try Fixture()
            try fixture.watch(fixture.seen)
            for round in 1...20 {
                try Files.removeDirectory(fixture.seen)
                #expect(try fixture.drain() == [.directoryGone(directory: fixture.seen)])
                try Files.makeDirectory(fixture.seen)
                fixture.watcher.watch(directory: fixture.seen)
                #expect(try fixture.drain() == [.watching(directory: fixture.seen)])
                let file = try fixture.directory.quickWrite("seen/\(round)")
                #expect(try fixture.drain().contains(closed(fixture.seen, "\(round)")))
                try Files.unlink(file)
                _ = try fixture.drain()
            }
        }

        @Test("A directory that is renamed away is gone, and the one of its name takes its place")
        func replaced() throws {
            let fixture = try Fixture()
            let old = fixture.directory.file("old")
            try fixture.watch(fixture.seen)
            try Files.rename(fixture.seen, to: old)
            try Files.makeDirectory(fixture.seen)
            #expect(try fixture.drain() == [.directoryGone(directory: fixture.seen)])
            #expect(try watchCount() == 1)
            try fixture.directory.quickWrite("old/a")
            #expect(try fixture.drain() == [])
            try fixture.watch(fixture.seen)
            try fixture.directory.quickWrite("old/a")
            try fixture.directory.quickWrite("seen/b")
            let events = try fixture.drain()
            #expect(events.contains(closed(fixture.seen, "b")))
            #expect(!events.contains(closed(fixture.seen, "a")))
        }

        @Test("Watching again takes the directory that has the name now")
        func watchedAgain() throws {
            let fixture = try Fixture()
            let other = fixture.directory.file("other")
            try Files.makeDirectory(other)
            // A rename of the parent moves nothing that is watched, so only `watch` can find out.
            let link = fixture.directory.file("link")
            try Files.symlink("seen", at: link)
            try fixture.watch(link)
            try Files.unlink(link)
            try Files.symlink("other", at: link)
            try fixture.watch(link)
            try fixture.directory.quickWrite("seen/a")
            #expect(try fixture.drain() == [])
            try fixture.directory.quickWrite("other/a")
            #expect(try fixture.drain().contains(closed(link, "a")))
        }

        @Test("Two paths to one directory are both told, and end one by one")
        func aliases() throws {
            let fixture = try Fixture()
            let link = fixture.directory.file("link")
            try Files.symlink("seen", at: link)
            for _ in 1...3 {
                try fixture.watch(fixture.seen)
                try fixture.watch(link)
                try fixture.directory.quickWrite("seen/a")
                let both = try fixture.drain()
                #expect(both.contains(closed(fixture.seen, "a")) && both.contains(closed(link, "a")))
                fixture.watcher.unwatch(directory: fixture.seen)
                _ = try fixture.drain()
                try fixture.directory.quickWrite("seen/a")
                #expect(try Set(fixture.drain().compactMap(directory)) == [link])
                fixture.watcher.unwatch(directory: link)
                _ = try fixture.drain()
                #expect(try watchCount() == 1)
                try fixture.directory.write("seen/a", "3")
                #expect(try fixture.drain() == [])
            }
        }

        private func directory(_ event: WatchEvent) -> String? {
            guard case .changed(let directory, _, _) = event else { return nil }
            return directory
        }

        @Test("Unwatching a directory leaves the one whose name begins like it (R97)")
        func prefix() throws {
            let fixture = try Fixture()
            for name in ["foo", "foobar"] {
                try Files.makeDirectory(fixture.directory.file(name))
                try fixture.watch(fixture.directory.file(name))
            }
            fixture.watcher.unwatch(directory: fixture.directory.file("foo"))
            _ = try fixture.drain()
            try fixture.directory.quickWrite("foo/a")
            try fixture.directory.quickWrite("foobar/a")
            #expect(try Set(fixture.drain().compactMap(directory)) == [fixture.directory.file("foobar")])
        }

        @Test("Watching again after each event does not feed itself (R94)")
        func noLoop() throws {
            let fixture = try Fixture()
            try fixture.watch(fixture.seen)
            for _ in 1...50 {
                fixture.watcher.watch(directory: fixture.seen)
                #expect(try fixture.drain() == [.watching(directory: fixture.seen)])
            }
        }

        @Test("Several threads watch and unwatch at once")
        func threads() throws {
            let fixture = try Fixture()
            let log = fixture.log
            DispatchQueue.concurrentPerform(iterations: 8) { thread in
                for round in 0..<50 {
                    let path = fixture.directory.file("t\(thread)-\(round)")
                    try? Files.makeDirectory(path)
                    fixture.watcher.watch(directory: path)
                    if round % 2 == 1 { fixture.watcher.unwatch(directory: path) }
                }
            }
            _ = try fixture.drain()
            for thread in 0..<8 {
                for round in 0..<50 {
                    #expect(log.all.contains(.watching(directory: fixture.directory.file("t\(thread)-\(round)"))))
                    try fixture.directory.quickWrite("t\(thread)-\(round)/a")
                }
            }
            let changed = try fixture.drain().compactMap(directory)
            let expected = (0..<8).flatMap { thread in
                stride(from: 0, to: 50, by: 2).map { fixture.directory.file("t\(thread)-\($0)") }
            }
            #expect(Set(changed) == Set(expected))
        }

        @Test("2,000 directories")
        func many() throws {
            let fixture = try Fixture()
            let paths = (0..<2000).map { fixture.directory.file("d\($0)") }
            for path in paths {
                try Files.makeDirectory(path)
                fixture.watcher.watch(directory: path)
            }
            #expect(Set(try fixture.drain()) == Set(paths.map { .watching(directory: $0) }))
            for index in paths.indices { try fixture.directory.quickWrite("d\(index)/a") }
            #expect(Set(try fixture.drain().compactMap(directory)) == Set(paths))
            for path in paths { try shellFree(remove: path) }
            let gone = try fixture.drain().filter { if case .directoryGone = $0 { true } else { false } }
            #expect(Set(gone) == Set(paths.map { .directoryGone(directory: $0) }) && gone.count == paths.count)
        }

        private func shellFree(remove path: String) throws {
            try Files.unlink(path + "/a")
            try Files.removeDirectory(path)
        }
    }
}
