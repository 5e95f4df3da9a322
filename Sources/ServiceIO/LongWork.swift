import LinuxIO

/// Work that may outlast systemd's patience, such as reading a large journal from a slow disk at the start: once in a while
/// it is told that the work goes on. A plain value, for the time of the work.
package struct LongWork {
    /// How often that is said at most, and how long it then holds, in microseconds.
    private static let interval: Int64 = 2_000_000
    private static let patience: Int64 = 30_000_000
    /// The clock is asked once in so many steps.
    private static let stride = 256

    private var last: Int64
    private var steps = 0

    package init() {
        last = ProcessFacts.monotonicMicroseconds()
    }

    init(startedAt time: Int64) {
        last = time
    }

    /// A step has been done.
    package mutating func goesOn() {
        steps += 1
        guard steps.isMultiple(of: Self.stride), isDue(at: ProcessFacts.monotonicMicroseconds()) else { return }
        ServiceManager.notify("EXTEND_TIMEOUT_USEC=\(Self.patience)")
    }

    mutating func isDue(at time: Int64) -> Bool {
        guard time - last >= Self.interval else { return false }
        last = time
        return true
    }
}
