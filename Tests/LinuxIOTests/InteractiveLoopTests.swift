import Foundation
import LinuxIO
import Testing

@Suite("What an interactive program waits for")
struct InteractiveLoopTests {
    @Test("descriptors, until they are dropped, and times, each once and in their order")
    func order() throws {
        let loop = try InteractiveLoop([]) { _ in }
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        let far = UnixSocket(owning: ends.1)
        var events: [String] = []
        var token: UInt64?
        token = try loop.follow(near.raw) {
            events.append("readable")
            // What is not read would wake it again and again.
            loop.drop(token)
        }
        let (first, second) = (InteractiveLoop.Alarm(1), InteractiveLoop.Alarm(2))
        loop.set(second, afterMicroseconds: 60_000) {
            events.append("second")
            loop.exit(7)
        }
        loop.set(first, afterMicroseconds: 5_000_000) { events.append("never") }
        loop.set(first, afterMicroseconds: 30_000) { events.append("first") }
        #expect(loop.isSet(first))
        _ = try far.send([1])
        #expect(try loop.run() == 7)
        #expect(events == ["readable", "first", "second"])
        #expect(!loop.isSet(first) && !loop.isSet(second))
    }

    @Test("signals are events, of this thread")
    func signals() throws {
        var seen: [Int32] = []
        let loop = try InteractiveLoop([SIGUSR1, SIGUSR2]) { seen.append($0) }
        loop.set(InteractiveLoop.Alarm(0), afterMicroseconds: 0) { raise(SIGUSR2) }
        while seen.isEmpty { try loop.turn() }
        #expect(seen == [SIGUSR2])
    }
}
