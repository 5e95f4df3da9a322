import Foundation
import GroupClient
import PropertyList
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

/// Acknowledged and durable writes, errors that nobody awaits, the state of the connection, and forked processes.
@Suite struct CommitTests {
    @Test(arguments: WorldKind.allCases)
    func `synchronize and commit return when the daemon has it`(_ kind: WorldKind) async throws {
        let world = try SettingWorld(kind)
        for number in 1...500 { world.writer.set(number, forKey: "k\(number % 7)") }
        try world.writer.synchronize()
        #expect(!world.writer.backend.replica.hasWritesUnderWay)
        world.writer.set(1, forKey: "a")
        try await world.writer.commit()
        #expect(!world.writer.backend.replica.hasWritesUnderWay)
        world.writer.set(2, forKey: "a")
        try await world.writer.commit(durable: true)
        try await world.writer.commit(durable: true)
    }

    @Test func `a durable commit outlives the daemon's death`() async throws {
        let daemon = try RunningDaemon()
        let settings = SettingWorld.open(daemon)
        settings.set("kept", forKey: "k")
        try await settings.commit(durable: true)
        try daemon.kill()
        try daemon.start()
        #expect(SettingWorld.open(daemon).string(forKey: "k") == "kept")
    }

    @Test func `a refusal comes by errors, is thrown by the next commit, and takes the value back`() async throws {
        let daemon = try RunningDaemon(configuration: ["MaxValueSize=100"])
        let settings = SettingWorld.open(daemon)
        settings.set("small", forKey: "k")
        try await settings.commit()
        let errors = settings.errors.makeAsyncIterator()
        let changes = settings.changes(for: "k").makeAsyncIterator()
        settings.set(String(repeating: "x", count: 200), forKey: "k")
        let error = await errors.next()
        #expect(error?.code == .tooLarge)
        await #expect(throws: AppGroupError.self) { try await settings.commit() }
        try await settings.commit()
        #expect(settings.string(forKey: "k") == "small")
        // The set and what took it back may have become one; then nothing has changed.
        settings.set("last", forKey: "k")
        var last = await changes.next()
        while last?.new?.string != "last" { last = await changes.next() }
        #expect(last?.old?.string == "small")
    }

    @Test func `without a daemon synchronize says in time what is wrong`() async {
        let nowhere = DaemonLink(DaemonAddress(path: "/nonexistent/socket"), tagPrefix: "t")
        let settings = GroupDefaults(suiteName: "group.com.example.app", link: nowhere)
        let start = ContinuousClock.now
        settings.set(1, forKey: "k")
        #expect(settings.integer(forKey: "k") == 1)
        #expect(ContinuousClock.now - start < .seconds(1) * timeoutScale)
        let error = #expect(throws: AppGroupError.self) { try settings.synchronize(within: 0.2) }
        #expect(error?.code == .unreachable)
        guard case .disconnected(let reason) = settings.connectionState else {
            Issue.record("\(settings.connectionState)")
            return
        }
        #expect(reason.code == .unreachable)
        let waiting = Task { () -> AppGroupError.Code? in
            do throws(AppGroupError) {
                try await settings.commit()
                return nil
            } catch {
                return error.code
            }
        }
        waiting.cancel()
        #expect(await waiting.value == .cancelled)
    }

    @Test func `a name that is none says so everywhere`() async {
        let settings = GroupDefaults(suiteName: "../etc")
        #expect(throws: AppGroupError.self) { try settings.synchronize() }
        await #expect(throws: AppGroupError.self) { try await settings.commit() }
        let states = settings.connectionStates.makeAsyncIterator()
        guard case .disconnected(let error) = await states.next() else {
            Issue.record("not disconnected")
            return
        }
        #expect(error.code == .invalidGroup)
        let errors = settings.errors.makeAsyncIterator()
        settings.set(1, forKey: "k")
        #expect(await errors.next()?.code == .invalidGroup)
    }

    @Test func `the connection's states come as they change`() async throws {
        let daemon = try RunningDaemon()
        let settings = SettingWorld.open(daemon)
        _ = settings.object(forKey: "k")
        let states = settings.connectionStates.makeAsyncIterator()
        #expect(await states.next() == .connected)
        try daemon.kill()
        var state = await states.next()
        while state == .connecting { state = await states.next() }
        guard case .disconnected = state else {
            Issue.record("\(String(describing: state))")
            return
        }
        settings.set(1, forKey: "k")
        try daemon.start()
        while await states.next() != .connected {}
        try await settings.commit()
    }

    @Test func `errors of this process's own making come at once`() async {
        let settings = GroupDefaults.inMemory()
        let errors = settings.errors.makeAsyncIterator()
        settings.set(["a": NotAPropertyList()] as [String: Any], forKey: "k")
        #expect(await errors.next()?.code == .invalidValue)
        settings.set(1, forKey: "bad\u{0}key")
        #expect(await errors.next()?.code == .invalidKey)
    }

    private struct NotAPropertyList {}

    @Test func `a forked child is refused clearly`() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let settings = GroupDefaults.inMemory()
            settings.set(1, forKey: "k")
            let child = forkedChild()
            if child != 0 { exit(endOf(child)) }
            var code: Int32 = 1
            do throws(AppGroupError) {
                try settings.write { $0["k"] = 2 }
            } catch {
                if error.code == .forked, settings.object(forKey: "k") == nil { code = 42 }
            }
            _exit(code)
        }
    }
}

/// `fork`, which Swift hides, for the one test that needs it.
private func forkedChild() -> Int32 {
    typealias Fork = @convention(c) () -> Int32
    guard let symbol = unsafe dlsym(nil, "fork") else { return -1 }
    return unsafe unsafeBitCast(symbol, to: Fork.self)()
}

private func endOf(_ child: Int32) -> Int32 {
    var status: Int32 = 0
    _ = unsafe waitpid(child, &status, 0)
    return (status >> 8) & 0xff
}
