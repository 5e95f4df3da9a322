import Foundation
import Synchronization
import TestSupport
import Testing

@Suite(
    "A restart that nobody notices",
    .enabled(if: UserManager.obstacle == nil, Comment(rawValue: UserManager.obstacle ?? "")))
struct RestartTests {
    private static let group = UserManager.group
    /// A few for every day; more with `APPGROUP_TEST_RESTARTS` (`make torture`: `TORTURE_RESTARTS`).
    private static let restarts = ProcessInfo.processInfo.environment["APPGROUP_TEST_RESTARTS"].flatMap { Int($0) } ?? 8

    @Test("200 observers under write load, restart after restart: no disconnection, no gap, nothing twice")
    func observers() throws {
        let manager = try UserManager()
        try manager.control("write --create \(Self.group) n 0")
        let observers = try ObserverCrowd(200, at: manager.settingsSocket)
        let writer = Writer(manager.settingsSocket, ahead: 500, of: observers)
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
        let (troubles, told) = observers.finish(at: last)
        #expect(troubles == [])
        #expect(told == 200 * (last - 1))
        // For who asks for more than the few of every day.
        print("\(Self.restarts) restarts, \(last) commits, \(told) messages to 200 observers")
        #expect(manager.journal.contains("connections go on from before the restart"))
        #expect(try manager.property("NRestarts") == "0")
    }

    @Test("a stop for good closes the connections, and the next daemon knows nothing of them")
    func stopped() throws {
        let manager = try UserManager()
        try manager.control("write --create \(Self.group) n 0")
        let observer = try ObserverCrowd(1, at: manager.settingsSocket)
        try manager.run("systemctl --user stop appgroupd.service")
        #expect(observer.finish(at: 2).troubles == ["0: after revision 1 closed(rest: [])"])
        try manager.control("write \(Self.group) n 1")
        #expect(try manager.wait(for: "StatusText", toBe: "1 group, 0 clients, 0 watches"))
    }
}

/// One that writes on one connection, each write when the one before it is acknowledged, from a thread of its own, and counts
/// its acknowledgements.
private final class Writer {
    private final class State: Sendable {
        let acknowledged = Atomic<Int64>(0)
        let isStopping = Atomic(false)
        let failure = Mutex<String?>(nil)
        let done = DispatchSemaphore(value: 0)
    }

    private let state = State()

    /// `ahead`: of the slowest observer. Further on, the daemon would put changes together for those that cannot keep up.
    init(_ socket: String, ahead: Int64, of observers: ObserverCrowd) {
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
                    // The group's first value was revision 1.
                    guard reply.contains("\"revision\":\(number + 1)}") else {
                        throw UserManager.Failure(description: reply)
                    }
                    state.acknowledged.store(number + 1, ordering: .relaxed)
                    while number > observers.slowest + ahead, !state.isStopping.load(ordering: .relaxed) {
                        Thread.sleep(forTimeInterval: 0.002)
                    }
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
