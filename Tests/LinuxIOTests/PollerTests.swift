import Glibc
import LinuxIO
import ServiceIO
import Synchronization
import TestSupport
import Testing

@Suite("Poller")
struct PollerTests {
    @Test func readyConnectionsComeWithTheirTokens() throws {
        let poller = try Poller()
        let peers = try (0..<10).map { index -> (Int32, RawPeer) in
            let ends = try UnixSocket.makePair()
            try poller.add(RawDescriptor(rawValue: ends.0), token: UInt64(index) << 40, .readable)
            return (ends.0, RawPeer(owning: ends.1))
        }
        #expect(try poller.wait() == [])
        for index in [2, 5, 7] { try peers[index].1.send([1]) }
        let events = try poller.wait()
        #expect(Set(events.map(\.token)) == [2 << 40, 5 << 40, 7 << 40])
        #expect(events.allSatisfy { $0.events == .readable })
        for peer in peers { Glibc.close(peer.0) }
    }

    @Test func aReusedNumberHasANewToken() throws {
        let poller = try Poller()
        let first = try UnixSocket.makePair()
        try poller.add(RawDescriptor(rawValue: first.0), token: 1, .readable)
        RawPeer(owning: first.1).close()
        let stale = try poller.wait()
        // The owner closes it while its event is still to be handled, and the number is given away again.
        try poller.remove(RawDescriptor(rawValue: first.0))
        Glibc.close(first.0)
        let second = try UnixSocket.makePair()
        let near = UnixSocket(owning: second.0)
        let far = UnixSocket(owning: second.1)
        try poller.add(near.raw, token: 2, .readable)
        #expect(stale.map(\.token) == [1])
        #expect(stale.first?.events.contains(.hangUp) == true)
        _ = try far.send([1])
        #expect(try poller.wait().map(\.token) == [2])
    }

    @Test func interestCanBeChanged() throws {
        let poller = try Poller()
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        let far = UnixSocket(owning: ends.1)
        try poller.add(near.raw, token: 1, .readable)
        #expect(try poller.wait() == [])
        try poller.modify(near.raw, token: 3, [.readable, .writable])
        #expect(try poller.wait() == [Poller.Event(token: 3, events: .writable)])
        try poller.modify(near.raw, token: 3, [])
        _ = try far.send([1])
        #expect(try poller.wait() == [])
        #expect(throws: SystemError(errno: .fileExists, call: "epoll_ctl")) {
            try poller.add(near.raw, token: 4, .readable)
        }
    }

    @Test func oneTurnOfTheLoopServesAllThatAreReady() throws {
        let loop = try EventLoop()
        let poller = try Poller()
        let peers = try (0..<5).map { index -> (Int32, RawPeer) in
            let ends = try UnixSocket.makePair()
            try poller.add(RawDescriptor(rawValue: ends.0), token: UInt64(index), .readable)
            return (ends.0, RawPeer(owning: ends.1))
        }
        var turns: [Int] = []
        let source = try IOSource(loop, poller.descriptor, .readable) {
            turns.append((try? poller.wait().count) ?? -1)
        }
        for peer in peers { try peer.1.send([1]) }
        #expect(try loop.turn(timeoutMicroseconds: 1_000_000))
        #expect(turns == [5])
        source.cancel()
        for peer in peers { Glibc.close(peer.0) }
    }
}

/// Both happen again and again, and each must get its turn: the poller in front and the sources behind it.
@Suite("A poller in front of the loop")
struct FrontTests {
    @Test func bothAreServedAndWhatAHandlerArmsComes() throws {
        let loop = try EventLoop()
        let poller = try Poller()
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        let far = UnixSocket(owning: ends.1)
        try poller.add(near.raw, token: 1, .readable)
        var buffer = [UInt8](repeating: 0, count: 16)
        var log: [String] = []
        let timer = try TimerSource(loop) {
            log.append("timer")
            if log.count < 9 { _ = try? far.send([1]) } else { loop.exit(7) }
        }
        _ = try far.send([1])
        let code = try loop.run(front: poller) { count in
            for index in 0..<count where poller[index].token == 1 {
                _ = try? near.receive(into: &buffer)
                log.append("peer")
                // Armed while the loop is not in the hands of sd-event.
                timer.arm(afterMicroseconds: 1000)
            }
        }
        #expect(code == 7)
        #expect(log == (0..<5).flatMap { _ in ["peer", "timer"] })
    }

    @Test func aPostWakesItAndSoDoesAnExitFromAnotherThread() throws {
        let loop = try EventLoop()
        let poller = try Poller()
        let worker = try WorkerThread(name: "other")
        let seen = Numbers()
        worker.submit {
            for number in 0..<100 { loop.post { seen.add(number) } }
            loop.requestExit(3)
        }
        #expect(try loop.run(front: poller) { _ in } == 3)
        worker.stop()
        #expect(seen.all == Array(0..<100))
    }
}

@Suite("Worker thread")
struct WorkerThreadTests {
    @Test func jobsRunInOrderAndAllBeforeTheStop() throws {
        let worker = try WorkerThread(name: "a name that is longer than fifteen")
        let seen = Numbers()
        for number in 0..<1000 { worker.submit { seen.add(number) } }
        worker.stop()
        worker.stop()
        #expect(seen.all == Array(0..<1000))
        #expect(!worker.submit {})
        #expect(worker.pendingCount == 0)
    }

    @Test func signalsAreBlockedInIt() throws {
        let worker = try WorkerThread(name: "signals")
        let seen = Numbers()
        worker.submit {
            var set = sigset_t()
            unsafe pthread_sigmask(SIG_BLOCK, nil, &set)
            for number in [SIGTERM, SIGINT, SIGHUP] where unsafe sigismember(&set, number) == 1 {
                seen.add(Int(number))
            }
        }
        worker.stop()
        #expect(seen.all == [SIGTERM, SIGINT, SIGHUP].map(Int.init))
    }
}

/// What came, in its order, from any thread.
private final class Numbers: Sendable {
    private let numbers = Mutex<[Int]>([])
    func add(_ number: Int) { numbers.withLock { $0.append(number) } }
    var all: [Int] { numbers.withLock { $0 } }
}
