import CShims
import Glibc

/// What a program waits for that talks to somebody: descriptors, signals and two or three times. One thread owns it. Unlike
/// the event loop of a service it needs no library that would have to be loaded at each start.
package final class InteractiveLoop {
    /// One of the times that a program waits for.
    package struct Alarm: Hashable, Sendable {
        let number: Int

        package init(_ number: Int) {
            self.number = number
        }
    }

    private let poller: Poller
    private let signals: FileDescriptor
    private let signalHandler: (Int32) -> Void
    private var handlers: [UInt64: (descriptor: RawDescriptor, handler: () -> Void)] = [:]
    private var nextToken: UInt64 = 1
    private var alarms: [Alarm: (time: Int64, handler: () -> Void)] = [:]
    private var code: Int32?

    /// Blocks the signals in the calling thread: from now on they are events.
    package init(_ numbers: [Int32], onSignal: @escaping (Int32) -> Void) throws(SystemError) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in numbers { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        poller = try Poller()
        signals = FileDescriptor(
            owning: try systemCall("signalfd") {
                unsafe numbers.withUnsafeBufferPointer { unsafe cshim_signalfd($0.baseAddress, Int32($0.count)) }
            })
        signalHandler = onSignal
        try poller.add(signals.raw, token: 0, .readable)
    }

    /// Calls `handler` whenever something can be read, until `drop`.
    package func follow(_ descriptor: RawDescriptor, _ handler: @escaping () -> Void) throws(SystemError) -> UInt64 {
        let token = nextToken
        try poller.add(descriptor, token: token, .readable)
        nextToken += 1
        handlers[token] = (descriptor, handler)
        return token
    }

    /// Before the descriptor is closed.
    package func drop(_ token: UInt64?) {
        guard let token, let gone = handlers.removeValue(forKey: token) else { return }
        try? poller.remove(gone.descriptor)
    }

    /// Calls `handler` once, so long from now; the alarm's time before is forgotten.
    package func set(_ alarm: Alarm, afterMicroseconds delay: Int64, _ handler: @escaping () -> Void) {
        let (time, overflow) = ProcessFacts.monotonicMicroseconds().addingReportingOverflow(max(delay, 0))
        alarms[alarm] = (overflow ? .max : time, handler)
    }

    package func isSet(_ alarm: Alarm) -> Bool { alarms[alarm] != nil }

    /// Ends `run` when the present handler has returned.
    package func exit(_ code: Int32) {
        self.code = self.code ?? code
    }

    /// - Returns: the code given to `exit`.
    package func run() throws(SystemError) -> Int32 {
        while true {
            if let code { return code }
            try turn()
        }
    }

    /// Waits for what comes next, and handles it.
    package func turn() throws(SystemError) {
        let count = try poller.fill(timeoutMilliseconds: timeout())
        for index in 0..<count where code == nil {
            // A handler before may have dropped it.
            let token = poller[index].token
            if token == 0 { takeSignals() } else { handlers[token]?.handler() }
        }
        if code == nil { soundAlarms() }
    }

    private func takeSignals() {
        while code == nil {
            let number = cshim_signalfd_next(signals.rawValue)
            guard number > 0 else { return }
            signalHandler(number)
        }
    }

    /// Rounded up, so that nobody wakes before the time.
    private func timeout() -> Int32 {
        guard let next = alarms.values.map(\.time).min() else { return -1 }
        let rest = next - ProcessFacts.monotonicMicroseconds()
        return rest <= 0 ? 0 : Int32(clamping: rest / 1000 + 1)
    }

    private func soundAlarms() {
        let now = ProcessFacts.monotonicMicroseconds()
        for (alarm, due) in alarms where due.time <= now && code == nil {
            alarms[alarm] = nil
            due.handler()
        }
    }
}
