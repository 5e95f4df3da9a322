/// When a daemon that nobody needs ends: where it was started by a client, the next one starts it again. Pure; the server asks
/// it when somebody has gone and when its timer fires.
struct IdleExit: Equatable {
    /// What keeps the daemon there.
    struct Needs: Equatable {
        var clients = 0
        /// Changes that are to be taken back at their time.
        var trials = 0
        /// Whether groups are still being opened.
        var isOpening = false
    }

    enum Decision: Equatable {
        /// Nothing to look at: whoever ends a need asks again.
        case stay
        /// In microseconds of the clock that `now` is of.
        case look(at: Int64)
        case exit
    }

    /// In microseconds; nil: never.
    var limit: Int64?
    /// Since when nothing has kept it; nil while something does.
    private(set) var start: Int64?

    init(limit: Int64?) {
        self.limit = limit
    }

    /// Somebody has come: what was counted up to now is void.
    mutating func end() {
        start = nil
    }

    /// How soon at most it is looked again whether files are done, in microseconds.
    private static let pause: Int64 = 100_000

    /// - Parameters:
    ///   - now: in microseconds of a clock that only goes on.
    ///   - needs: as they are now.
    ///   - hasOpenFiles: whether a property list does not hold all that it is to, or may still get an edit that only we
    ///     would find; asked when all else speaks for the end. Nobody says when that is over, so it is looked at again.
    /// - Returns: what is to be done.
    mutating func decide(at now: Int64, _ needs: Needs, hasOpenFiles: @autoclosure () -> Bool) -> Decision {
        guard let limit, needs == Needs() else {
            start = nil
            return .stay
        }
        let start = self.start ?? now
        self.start = start
        if now < start + limit { return .look(at: start + limit) }
        return hasOpenFiles() ? .look(at: now + max(limit, Self.pause)) : .exit
    }
}
