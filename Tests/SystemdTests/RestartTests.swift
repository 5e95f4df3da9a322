import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(
    "A restart that nobody notices",
    .enabled(if: UserManager.obstacle == nil, Comment(rawValue: UserManager.obstacle ?? "")))
struct RestartTests {
    private static let group = UserManager.group
    /// Fifty, with `APPGROUP_RESTARTS=50`; a few for every day.
    private static let restarts = ProcessInfo.processInfo.environment["APPGROUP_RESTARTS"].flatMap { Int($0) } ?? 4

    @Test("200 observers under write load, restart after restart: no disconnection, no gap, nothing twice")
    func observers() throws {
        let manager = try UserManager()
        try manager.control("write --create \(Self.group) n 0")
        let observers = try (0..<200).map { number in
            try Observer(manager.settingsSocket, isPartial: number % 4 == 0)
        }
        let writer = try Writer(manager.settingsSocket)
        for _ in 0..<Self.restarts {
            let pid = try manager.mainProcess
            try manager.run("systemctl --user restart appgroupd.service")
            #expect(try manager.mainProcess != pid)
            // Some work between two of them.
            let seen = writer.acknowledged
            #expect(eventually { writer.acknowledged > seen + 20 })
        }
        let last = try writer.finish()
        #expect(last > Int64(Self.restarts * 20))
        for observer in observers {
            let news = try observer.revisions(upTo: last)
            #expect(news.first == 2)
            #expect(news == Array(2...last))
        }
        #expect(manager.journal.contains("connections go on from before the restart"))
        #expect(try manager.property("NRestarts") == "0")
    }

    @Test("a stop for good closes the connections, and the next daemon knows nothing of them")
    func stopped() throws {
        let manager = try UserManager()
        try manager.control("write --create \(Self.group) n 0")
        let observer = try Observer(manager.settingsSocket, isPartial: false)
        try manager.run("systemctl --user stop appgroupd.service")
        #expect(throws: RawPeer.Failure.self) { try observer.revisions(upTo: 2) }
        try manager.control("write \(Self.group) n 1")
        #expect(try manager.wait(for: "StatusText", toBe: "1 group, 0 clients, 0 watches"))
    }
}

/// One that watches, on a socket of its own.
private final class Observer {
    private let peer: RawPeer

    /// Partial: of some keys only, which all commits touch.
    init(_ socket: String, isPartial: Bool) throws {
        peer = try RawPeer(path: socket, timeoutSeconds: 60)
        let keys = isPartial ? #","keys":["n","other.*"]"# : ""
        try peer.sendMessage(
            #"{"method":"io.appgroupd.Settings.Watch","parameters":{"watches":[{"group":""#
                + UserManager.group + #"""# + keys + #"}]},"more":true}"#)
        _ = try peer.readMessage()
    }

    /// Of all commits that were told, in this order.
    func revisions(upTo last: Int64) throws -> [Int64] {
        var revisions: [Int64] = []
        while revisions.last ?? 0 < last {
            let text = try peer.readMessage()
            guard let revision = text.firstMatch(of: #/"revision":(\d+),"time"/#).flatMap({ Int64($0.output.1) }) else {
                throw UserManager.Failure(description: "no commit: \(text)")
            }
            revisions.append(revision)
        }
        return revisions
    }
}

/// One that writes without pause on one connection, from a thread of its own, and counts its acknowledgements.
private final class Writer {
    private final class State: Sendable {
        let acknowledged = Atomic<Int64>(0)
        let isStopping = Atomic(false)
        let failure = Mutex<String?>(nil)
        let done = DispatchSemaphore(value: 0)
    }

    private let state = State()

    init(_ socket: String) throws {
        let state = state
        let thread = Thread {
            defer { state.done.signal() }
            do {
                let peer = try RawPeer(path: socket, timeoutSeconds: 60)
                var number: Int64 = 0
                while !state.isStopping.load(ordering: .relaxed) {
                    number += 1
                    let reply = try peer.call(
                        #"{"method":"io.appgroupd.Settings.Write","parameters":{"group":""# + UserManager.group
                            + #"","edits":[{"key":"n","value":{"integer":\#(number)}}]}}"#)
                    guard let revision = reply.firstMatch(of: #/"revision":(\d+)/#).flatMap({ Int64($0.output.1) })
                    else { throw UserManager.Failure(description: reply) }
                    state.acknowledged.store(revision, ordering: .relaxed)
                    // The observers of this test do not read meanwhile: a rush would only fill their sockets.
                    Thread.sleep(forTimeInterval: 0.004)
                }
            } catch {
                state.failure.withLock { $0 = "\(error)" }
            }
        }
        thread.start()
    }

    var acknowledged: Int64 { state.acknowledged.load(ordering: .relaxed) }

    /// The revision of the last commit.
    func finish() throws -> Int64 {
        state.isStopping.store(true, ordering: .relaxed)
        state.done.wait()
        if let failure = state.failure.withLock({ $0 }) { throw UserManager.Failure(description: failure) }
        return acknowledged
    }
}
