import Foundation
import GroupWatch
import LinuxIO
import Synchronization
import TestSupport
import Testing

/// All tests that start a watcher: one after the other, because the library's state is global.
@Suite(.serialized)
enum WatcherTests {}

/// What was delivered, and a wait for it.
final class EventLog: Sendable {
    private let events = Mutex<[WatchEvent]>([])
    private let condition = NSCondition()

    var all: [WatchEvent] { events.withLock { $0 } }

    func append(_ new: [WatchEvent]) {
        condition.withLock {
            events.withLock { $0 += new }
            condition.broadcast()
        }
    }

    /// Everything delivered, once it contains something that fits. Nil after the deadline.
    func wait(_ isThere: ([WatchEvent]) -> Bool) -> [WatchEvent]? {
        let deadline = Date(timeIntervalSinceNow: 60)
        return condition.withLock {
            while true {
                let events = all
                if isThere(events) { return events }
                if !condition.wait(until: deadline) { return nil }
            }
        }
    }

    @discardableResult
    func wait(for event: WatchEvent, _ location: SourceLocation = #_sourceLocation) throws -> [WatchEvent] {
        try #require(wait { $0.contains(event) }, "\(event) did not come: \(all.suffix(20))", sourceLocation: location)
    }
}

/// A watcher with its log and a directory to play in.
final class Fixture: Sendable {
    let directory: TemporaryDirectory
    let log = EventLog()
    let watcher: Watcher
    private let lastBarrier = Atomic<UInt64>(0)

    init() throws {
        let log = log
        directory = try TemporaryDirectory("watch")
        try Files.makeDirectory(directory.file("cookies"))
        try Files.makeDirectory(directory.file("seen"))
        watcher = try Watcher(cookieDirectory: directory.file("cookies")) { log.append($0) }
    }

    deinit {
        watcher.stop()
    }

    var seen: String { directory.file("seen") }

    func watch(_ path: String) throws {
        watcher.watch(directory: path)
        try log.wait(for: .watching(directory: path))
        _ = try drain()
    }

    /// All that came since the last call, up to now.
    func drain(_ location: SourceLocation = #_sourceLocation) throws -> [WatchEvent] {
        let id = lastBarrier.add(1, ordering: .relaxed).newValue
        watcher.barrier(id)
        let events = try log.wait(for: .barrier(id), location)
        let start = events.firstIndex(of: .barrier(id - 1)).map { $0 + 1 } ?? 0
        let end = try #require(events.firstIndex(of: .barrier(id)), sourceLocation: location)
        return Array(events[start..<end])
    }

    /// The changes in `seen` as (name, kind), nothing else having happened.
    func changes(_ location: SourceLocation = #_sourceLocation) throws -> [Change] {
        try drain(location).map { event in
            guard case .changed(seen, let name, let kind) = event else {
                throw Unexpected(event: event)
            }
            return Change(name, kind)
        }
    }
}

struct Unexpected: Error {
    let event: WatchEvent
}

struct Change: Equatable {
    let name: String
    let kind: WatchEventKind

    init(_ name: String, _ kind: WatchEventKind) {
        self.name = name
        self.kind = kind
    }
}

extension TemporaryDirectory {
    /// A file as `> name` of a shell makes it: thousands of them in no time, since nothing is synced.
    @discardableResult
    func quickWrite(_ name: String) throws -> String {
        try Forks.keptOut { try Files.open(file(name), [.writeOnly, .create, .truncate]).writeAll([0x31]) }
        return file(name)
    }
}

/// Runs a command of the system to its end.
func shell(_ command: String, _ location: SourceLocation = #_sourceLocation) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-ec", command]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    try Forks.keptOut { try process.run() }
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(command)", sourceLocation: location)
}

/// How many watches the process has, by the kernel's account. A watcher's cookie is one.
func watchCount() throws -> Int {
    try Files.list("/proc/self/fdinfo").reduce(0) { count, name in
        let info = (try? String(contentsOfFile: "/proc/self/fdinfo/\(name)", encoding: .utf8)) ?? ""
        return count + info.split(separator: "\n").filter { $0.hasPrefix("inotify wd") }.count
    }
}

/// How many inotify descriptors the process has. Other kinds come and go with the suites that run beside these.
func inotifyCount() -> Int {
    let names = (try? Files.list("/proc/self/fd")) ?? []
    return names.count { (try? Files.readLink("/proc/self/fd/\($0)"))?.contains("inotify") == true }
}
