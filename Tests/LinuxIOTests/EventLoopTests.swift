import Glibc
import LinuxIO
import ServiceIO
import Synchronization
import TestSupport
import Testing

@Suite("Event loop")
struct EventLoopTests {
    /// Runs the loop on a thread of its own until it exits.
    private func onThread(_ loop: EventLoop, _ body: () async throws -> Void) async throws -> Int32? {
        let code = Mutex<Int32?>(nil)
        let holder = Holder(code: code)
        let thread = try WorkerThread(name: "loop")
        thread.submit {
            let result = try? loop.run()
            holder.code.withLock { $0 = result }
        }
        try await body()
        thread.stop()
        return holder.code.withLock { $0 }
    }

    private final class Holder: Sendable {
        let code: Mutex<Int32?>
        init(code: consuming sending Mutex<Int32?>) { self.code = code }
    }

    @Test func aTimerEndsTheLoop() throws {
        let loop = try EventLoop()
        let start = ProcessFacts.monotonicMicroseconds()
        let timer = try TimerSource(loop) { loop.exit(7) }
        timer.arm(afterMicroseconds: 5000)
        #expect(timer.isArmed)
        #expect(try loop.run() == 7)
        #expect(ProcessFacts.monotonicMicroseconds() - start >= 5000)
        #expect(!timer.isArmed)
    }

    @Test func timersFireInTheOrderOfTheirTimes() throws {
        let loop = try EventLoop()
        var order: [Int] = []
        let late = try TimerSource(loop) {
            order.append(2)
            loop.exit(0)
        }
        let early = try TimerSource(loop) { order.append(1) }
        let never = try TimerSource(loop) { order.append(3) }
        late.arm(afterMicroseconds: 3000)
        early.arm(afterMicroseconds: 1000)
        never.arm(afterMicroseconds: 2000)
        never.disarm()
        _ = try loop.run()
        #expect(order == [1, 2])
    }

    @Test func aTimerCanBeArmedAgainFromItsHandler() throws {
        let loop = try EventLoop()
        var count = 0
        var timer: TimerSource?
        timer = try TimerSource(loop) {
            count += 1
            if count == 5 { loop.exit(0) } else { timer?.arm(afterMicroseconds: 100) }
        }
        timer?.arm(atMonotonicMicroseconds: 0)
        _ = try loop.run()
        #expect(count == 5)
    }

    @Test func aHandlerMayDropItsOwnSourceAndOthers() throws {
        let loop = try EventLoop()
        let (read, write) = try FileDescriptor.makePipe()
        let reader = FileDescriptor(owning: read)
        // An epoll takes a descriptor once.
        let duplicate = try reader.duplicate()
        let writer = FileDescriptor(owning: write)
        try writer.writeAll([1])
        var calls = 0
        var sources: [IOSource] = []
        for raw in [reader.raw, duplicate.raw] {
            sources.append(
                try IOSource(loop, raw, .readable) {
                    calls += 1
                    sources.removeAll()
                    loop.post { loop.exit(0) }
                }
            )
        }
        _ = try loop.run()
        #expect(calls == 1)
        // The descriptors outlive their registration.
        #expect(try reader.raw.rawValue != duplicate.duplicate().rawValue)
    }

    @Test func aSourceTellsWhatItIsReadyFor() throws {
        let loop = try EventLoop()
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        var seen: [PollEvents] = []
        var source: IOSource?
        source = try IOSource(loop, near.raw, .writable) {
            seen.append(source?.readyEvents ?? [])
            source?.setEvents(.readable)
            if seen.count == 1 { RawPeer(owning: ends.1).close() } else { loop.exit(0) }
        }
        _ = try loop.run()
        #expect(seen.first == .writable)
        #expect(seen.last?.contains(.hangUp) == true)
        source?.cancel()
        #expect(source?.isEnabled == false)
    }

    @Test func aDisabledSourceIsQuietUntilEnabled() throws {
        let loop = try EventLoop()
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        let far = UnixSocket(owning: ends.1)
        var calls = 0
        let source = try IOSource(loop, near.raw, .readable) { calls += 1 }
        _ = try far.send([1])
        source.isEnabled = false
        #expect(!source.isEnabled)
        #expect(try !loop.turn(timeoutMicroseconds: 0))
        source.isEnabled = true
        #expect(try loop.turn(timeoutMicroseconds: 0))
        #expect(calls == 1)
    }

    @Test func postsFromFourThreadsAllArriveInTheirOrder() throws {
        let loop = try EventLoop()
        let seen = Seen()
        let threads = try (0..<4).map { try WorkerThread(name: "poster \($0)") }
        for (index, thread) in threads.enumerated() {
            for number in 0..<1000 {
                thread.submit { loop.post { seen.add(index, number) } }
            }
        }
        while seen.count < 4000 { _ = try loop.turn(timeoutMicroseconds: 5_000_000) }
        for thread in threads { thread.stop() }
        for index in 0..<4 { #expect(seen.numbers(of: index) == Array(0..<1000)) }
    }

    private final class Seen: Sendable {
        private let items = Mutex<[(Int, Int)]>([])
        func add(_ index: Int, _ number: Int) { items.withLock { $0.append((index, number)) } }
        var count: Int { items.withLock { $0.count } }
        func numbers(of index: Int) -> [Int] { items.withLock { $0.filter { $0.0 == index }.map(\.1) } }
    }

    @Test func anActorLivesOnTheLoop() async throws {
        let loop = try EventLoop()
        let daemon = TestDaemon(loop)
        let code = try await onThread(loop) {
            await withTaskGroup { group in
                for _ in 0..<10 {
                    group.addTask { for _ in 0..<100 { await daemon.increment() } }
                }
            }
            #expect(await daemon.count == 1000)
            let echo = try await daemon.echoThroughHandler()
            #expect(echo == 42)
            await daemon.exit(3)
        }
        #expect(code == 3)
    }

    @Test func aBlockedSignalReachesTheLoop() throws {
        let thread = try WorkerThread(name: "signals")
        let seen = Seen()
        thread.submit {
            // Sent to this one thread, so that the others of the test program stay out of it.
            _ = try? self.takeSignal(seen)
        }
        thread.stop()
        #expect(seen.numbers(of: 0) == [Int(SIGTERM)])
    }

    private func takeSignal(_ seen: Seen) throws {
        let loop = try EventLoop()
        let source = try SignalSource(loop, SIGTERM) {
            seen.add(0, Int(SIGTERM))
            loop.exit(0)
        }
        pthread_kill(pthread_self(), SIGTERM)
        _ = try loop.run()
        source.cancel()
    }

    @Test func theEndOfATurnComesOnceForAllThatRan() throws {
        let loop = try EventLoop()
        var ended = 0
        let hook = try HookSource(loop, .endOfTurn) { ended += 1 }
        var exits = 0
        let exit = try HookSource(loop, .exit) { exits += 1 }
        let seen = Seen()
        for number in 0..<10 { loop.post { seen.add(0, number) } }
        while ended == 0 { _ = try loop.turn(timeoutMicroseconds: 1_000_000) }
        #expect(seen.count == 10)
        #expect(ended == 1)
        loop.requestExit(0)
        _ = try loop.run()
        #expect(exits == 1)
        _ = (hook, exit)
    }

    @Test func anArmedHookRunsOnce() throws {
        let loop = try EventLoop()
        var runs = 0
        let hook = try HookSource(loop, .whenArmed) { runs += 1 }
        #expect(try !loop.turn(timeoutMicroseconds: 0))
        hook.arm()
        _ = try loop.turn(timeoutMicroseconds: 0)
        _ = try loop.turn(timeoutMicroseconds: 0)
        #expect(runs == 1)
    }

    @Test func theWatchdogIsOffWithoutSystemd() throws {
        #expect(try !EventLoop().enableWatchdog())
    }

    @Test func touchingASourceOffTheLoopTraps() async {
        await #expect(processExitsWith: .failure) {
            let loop = try EventLoop()
            let thread = try WorkerThread(name: "wrong")
            thread.submit { loop.exit(0) }
            thread.stop()
        }
    }
}

/// The daemon in small: state owned by the loop, handlers that touch it directly.
private actor TestDaemon {
    private let loop: EventLoop
    private(set) var count = 0
    private var waiting: CheckedContinuation<Int, Never>?
    private var source: IOSource?
    private var writer: FileDescriptor?
    private var reader: FileDescriptor?

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    init(_ loop: EventLoop) {
        self.loop = loop
    }

    func increment() { count += 1 }

    func exit(_ code: Int32) {
        source = nil
        loop.exit(code)
    }

    func echoThroughHandler() async throws -> Int {
        let (read, write) = try FileDescriptor.makePipe()
        let raw = RawDescriptor(rawValue: read)
        reader = FileDescriptor(owning: read)
        source = try IOSource(loop, raw, .readable) { self.assumeIsolated { $0.readable() } }
        let pipe = FileDescriptor(owning: write)
        try pipe.writeAll([42])
        return await withCheckedContinuation { waiting = $0 }
    }

    private func readable() {
        var bytes: [UInt8] = []
        _ = try? reader?.append(upTo: 1, to: &bytes)
        waiting?.resume(returning: Int(bytes.first ?? 0))
        source = nil
    }
}
