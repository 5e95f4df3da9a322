import Foundation
import GroupClient
import GroupModel
import PropertyList
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

/// The link to the real daemon: what one process writes another sees, whatever happens to the daemon in between.
@Suite struct LinkTests {
    private func link(_ daemon: RunningDaemon) -> DaemonLink {
        DaemonLink(DaemonAddress(path: daemon.socket), tagPrefix: DaemonLink.newTagPrefix())
    }

    private func answered(_ defaults: GroupDefaults, _ number: UInt64) async throws {
        try await withCheckedThrowingContinuation { continuation in
            defaults.whenAnswered(upTo: number) { continuation.resume(with: $0) }
        }
    }

    /// Waits until a reader sees the value: by the observer, not by looking again and again.
    private func see(_ key: Key, _ value: Value?, in defaults: GroupDefaults) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let once = Mutex(false)
            let finish: @Sendable () -> Void = {
                if once.withLock({ done in
                    defer { done = true }
                    return !done
                }) {
                    continuation.resume()
                }
            }
            _ = defaults.searchList.addObserver { _, changes in
                if changes.contains(where: { $0.key == key && $0.new == value }) { finish() }
            }
            if defaults.stored(key.string) == value { finish() }
        }
    }

    @Test func `a set is seen at once here and live there`() async throws {
        let daemon = try RunningDaemon()
        let a = GroupDefaults(suiteName: "group.com.example.app", link: link(daemon))
        let b = GroupDefaults(suiteName: "group.com.example.app", link: link(daemon))
        #expect(b.stored("theme") == nil)
        let number = try a.submit([.set("theme", .string("dark"))])
        #expect(a.stored("theme") == .string("dark"))
        await see("theme", .string("dark"), in: b)
        try await answered(a, number)
        try b.submit([.remove("theme")])
        await see("theme", nil, in: a)
    }

    @Test func `writes made while the daemon is away are sent when it comes back`() async throws {
        let daemon = try RunningDaemon()
        let a = GroupDefaults(suiteName: "group.com.example.app", link: link(daemon))
        let first = try a.submit([.set("n", .integer(1))])
        try await answered(a, first)
        try daemon.kill()
        var last: UInt64 = 0
        for number in 2...200 { last = try a.submit([.set("n", .integer(Int64(number)))]) }
        last = try a.submit([Edit(key: "count", operation: .increment, value: .integer(1))])
        #expect(a.stored("n") == .integer(200))
        try daemon.start()
        try await answered(a, last)
        let b = GroupDefaults(suiteName: "group.com.example.app", link: link(daemon))
        #expect(b.stored("n") == .integer(200))
        #expect(b.stored("count") == .integer(1))
    }

    @Test func `kills under load lose nothing and count nothing twice`() async throws {
        let daemon = try RunningDaemon()
        let a = GroupDefaults(suiteName: "group.com.example.app", link: link(daemon))
        let b = GroupDefaults(suiteName: "group.com.example.app", link: link(daemon))
        _ = b.stored("count")
        var last: UInt64 = 0
        for round in 0..<20 {
            for _ in 0..<50 {
                last = try a.submit([Edit(key: "count", operation: .increment, value: .integer(1))])
                if Int.random(in: 0..<10) == 0 { await Task.yield() }
            }
            try daemon.kill()
            try daemon.start()
            _ = round
        }
        try await answered(a, last)
        await see("count", .integer(1000), in: b)
        #expect(a.stored("count") == .integer(1000))
    }

    @Test func `a refused write is taken back and told`() async throws {
        let daemon = try RunningDaemon(configuration: ["MaxValueSize=100"])
        let a = GroupDefaults(suiteName: "group.com.example.app", link: link(daemon))
        _ = a.stored("k")
        try a.submit([.set("k", .string(String(repeating: "x", count: 200)))])
        // `commit()` knows of a refusal that came before anybody waited; `whenAnswered` tells only who waits already.
        await #expect(throws: AppGroupError.self) { try await a.commit() }
        #expect(a.stored("k") == nil)
    }

    @Test func `without a daemon reads do not wait and a bad name says so`() {
        let nowhere = DaemonLink(DaemonAddress(path: "/nonexistent/socket"), tagPrefix: "t")
        let a = GroupDefaults(suiteName: "group.com.example.app", link: nowhere)
        #expect(a.stored("k") == nil)
        let bad = GroupDefaults(suiteName: "../etc", link: nowhere)
        #expect(bad.stored("k") == nil)
        #expect(throws: AppGroupError.self) { try bad.submit([.set("k", .integer(1))]) }
    }

    @Test func `in memory the rules are the same`() throws {
        let a = GroupDefaults.inMemory()
        let seen = Mutex<[String]>([])
        _ = a.searchList.addObserver { _, changes in
            seen.withLock {
                // What other tests register is for the whole process.
                $0 += changes.filter { $0.key == "k" }.map { "\(String(describing: $0.old)) -> \($0.new as Any)" }
            }
        }
        try a.submit([.set("k", .integer(1))])
        try a.submit([.set("k", .integer(1))])
        try a.submit([.remove("k")])
        #expect(seen.withLock { $0.count } == 2)
        #expect(a.stored("k") == nil)
    }
}
