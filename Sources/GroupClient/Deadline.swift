import CShims

/// Until when something may take, on a clock that never jumps. A plain value.
package struct Deadline: Sendable, Equatable {
    /// nil: for ever.
    private let microseconds: Int64?

    package static let never = Deadline(microseconds: nil)

    private init(microseconds: Int64?) {
        self.microseconds = microseconds
    }

    /// So long from now on. A number of seconds that no clock can hold counts as for ever.
    package init(afterSeconds seconds: Double) {
        let now = cshim_monotonic_microseconds()
        guard let wait = Int64(exactly: (max(seconds, 0) * 1_000_000).rounded()) else {
            self = .never
            return
        }
        let (end, overflow) = now.addingReportingOverflow(wait)
        microseconds = overflow ? nil : end
    }

    package var isOver: Bool {
        microseconds.map { cshim_monotonic_microseconds() >= $0 } ?? false
    }

    package func earlier(of other: Deadline) -> Deadline {
        guard let mine = microseconds else { return other }
        guard let others = other.microseconds else { return self }
        return mine < others ? self : other
    }

    /// What is left, for poll: rounded up, so that nobody wakes before the time is over; -1 for ever.
    package var milliseconds: Int32 {
        guard let microseconds else { return -1 }
        let rest = microseconds - cshim_monotonic_microseconds()
        return rest <= 0 ? 0 : Int32(clamping: (rest + 999) / 1000)
    }

    /// Sleeps until then. Only for the pauses between attempts: whatever can be waited for is waited for.
    package func sleep() {
        while !isOver {
            _ = cshim_poll(-1, 0, -1, milliseconds)
        }
    }
}
