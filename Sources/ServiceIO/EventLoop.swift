import CShims
import CSystemd
import Glibc
package import LinuxIO
import Synchronization

/// The event loop of the daemon: one thread, an sd_event, and the executor of the actor that owns the state.
///
/// Made on one thread, then run on one thread (the same or another). From other threads only `enqueue`, `post` and
/// `requestExit` may be called. Sources (`IOSource`, `TimerSource` …) belong to that thread too, end when their
/// object goes, and may be cancelled by any handler, their own included.
///
/// An actor lives on it with
/// `nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }`; handlers made
/// inside the actor then touch its state directly.
@safe
package final class EventLoop: Sendable {
    private enum Job {
        case job(UnownedJob)
        case closure(@Sendable () -> Void)
    }

    /// Used by the loop's thread only (`preconditionOnLoop`); the pointer itself never changes.
    nonisolated(unsafe) let event: OpaquePointer
    /// What other threads want done, in their order.
    private let jobs = Mutex<[Job]>([])
    /// Wakes the loop when `jobs` is no longer empty.
    private let wake: FileDescriptor
    /// The thread that may touch the sources: the maker's until `run`.
    private let owner: Atomic<Int32>
    /// Whether a source was made, changed or ended since sd-event last looked at them all.
    private let hasChanges = Atomic(true)
    /// The source of `wake`: set once in init, released in deinit.
    nonisolated(unsafe) private var wakeSource: OpaquePointer?

    package init() throws(SystemError) {
        var made: OpaquePointer?
        try unsafe sdCall("sd_event_new", sd_event_new(&made))
        guard let made = unsafe made else { throw SystemError(errno: .outOfMemory, call: "sd_event_new") }
        unsafe event = made
        owner = Atomic(cshim_gettid())
        wake = FileDescriptor(owning: try systemCall("eventfd") { cshim_eventfd() })
        try addWakeSource()
    }

    deinit {
        unsafe sd_event_source_disable_unref(wakeSource)
        unsafe sd_event_unref(event)
    }

    private func addWakeSource() throws(SystemError) {
        // The source does not keep the loop alive; the loop's deinit ends it first.
        let pointer = unsafe Unmanaged.passUnretained(self).toOpaque()
        let handler: sd_event_io_handler_t = { _, _, _, pointer in
            guard let pointer = unsafe pointer else { return 0 }
            unsafe Unmanaged<EventLoop>.fromOpaque(pointer).takeUnretainedValue().drain()
            return 0
        }
        try unsafe sdCall(
            "sd_event_add_io",
            sd_event_add_io(event, &wakeSource, wake.rawValue, EPOLLIN.rawValue, handler, pointer)
        )
    }
}

// MARK: - Running

extension EventLoop {
    /// Whether the calling thread may touch the sources.
    package var isOnLoop: Bool { owner.load(ordering: .acquiring) == cshim_gettid() }

    package func preconditionOnLoop() {
        precondition(isOnLoop, "called from a thread that is not the event loop's")
    }

    /// Turns until `exit`, and gives the code given there.
    package func run() throws(SystemError) -> Int32 {
        owner.store(cshim_gettid(), ordering: .releasing)
        let code = unsafe sd_event_loop(event)
        if code < 0 { throw SystemError(errno: Errno(rawValue: -code), call: "sd_event_loop") }
        // What was posted while the last turn ended: nobody shall wait for ever.
        drain()
        return code
    }

    /// The same with a poller in front: its descriptors are waited for together with the sources, and what is ready there
    /// is handled without a step through sd-event. That is one system call a turn, where a poller among the sources would
    /// take three and the loop's own bookkeeping. The sources have their turns in between. What other threads post is run
    /// without such a step, too.
    ///
    /// - Parameters:
    ///   - front: whose tokens `UInt64.max` and the one before it belong to the loop from now on.
    ///   - handler: called with the number of the events that `front` has.
    /// - Returns: the code given to `exit`.
    /// - Throws: what the kernel or sd-event refuses; the loop is over then.
    package func run(front: Poller, handler: (Int) -> Void) throws(SystemError) -> Int32 {
        owner.store(cshim_gettid(), ordering: .releasing)
        let sources = RawDescriptor(rawValue: try unsafe sdCall("sd_event_get_fd", sd_event_get_fd(event)))
        try front.add(sources, token: .max, .readable)
        try front.add(wake.raw, token: Self.wakeToken, .readable)
        unsafe _ = sd_event_source_set_enabled(wakeSource, Int32(SD_EVENT_OFF))
        // Sources may be ready, or be now that one of them ran: they are asked until they have nothing to do.
        var mayHaveReady = true
        while true {
            if mayHaveReady || hasChanges.load(ordering: .relaxed) {
                hasChanges.store(false, ordering: .relaxed)
                mayHaveReady = try turn(timeoutMicroseconds: 0)
                if unsafe sd_event_get_state(event) == SD_EVENT_FINISHED { break }
            }
            let count = try front.fill(timeoutMilliseconds: mayHaveReady ? 0 : -1)
            // The loop's own events are no business of the handler's.
            var own = 0
            var isPosted = false
            for index in 0..<count {
                let token = front[index].token
                if token == .max { mayHaveReady = true }
                if token == Self.wakeToken { isPosted = true }
                if token >= Self.wakeToken { own += 1 }
            }
            if count > own { handler(count) }
            if isPosted { drain() }
        }
        try front.remove(sources)
        try front.remove(wake.raw)
        unsafe _ = sd_event_source_set_enabled(wakeSource, Int32(SD_EVENT_ON))
        var code: Int32 = 0
        try unsafe sdCall("sd_event_get_exit_code", sd_event_get_exit_code(event, &code))
        drain()
        return code
    }

    private static var wakeToken: UInt64 { .max - 1 }

    /// sd-event arms its timers when it is asked for a turn: after a change it must be, before the loop sleeps.
    func noteChange() {
        hasChanges.store(true, ordering: .relaxed)
    }

    /// One turn: waits at most `timeout` microseconds (nil: for ever) and dispatches one source. False: nothing came.
    package func turn(timeoutMicroseconds timeout: UInt64? = nil) throws(SystemError) -> Bool {
        owner.store(cshim_gettid(), ordering: .releasing)
        let result = unsafe sd_event_run(event, timeout ?? .max)
        if result < 0 { throw SystemError(errno: Errno(rawValue: -result), call: "sd_event_run") }
        return result > 0
    }

    /// Ends `run` after this turn; exit sources run first. On the loop only.
    package func exit(_ code: Int32) {
        preconditionOnLoop()
        // ESTALE: it is over already.
        unsafe _ = sd_event_exit(event, code)
        noteChange()
    }

    /// The same from any thread.
    package func requestExit(_ code: Int32) {
        post { self.exit(code) }
    }

    /// Runs `job` on the loop, after all that was posted before it. From any thread.
    package func post(_ job: @escaping @Sendable () -> Void) {
        append(.closure(job))
    }

    /// Pings systemd's watchdog each half of its time, at the start of a turn: a handler that hangs is found out.
    /// Answers whether the service has a watchdog.
    @discardableResult
    package func enableWatchdog() throws(SystemError) -> Bool {
        try unsafe sdCall("sd_event_set_watchdog", sd_event_set_watchdog(event, 1)) > 0
    }

    /// Blocks these in the calling thread, and so in every thread that it makes. First thing in main: a signal that one
    /// thread does not block kills the process instead of reaching the loop.
    package static func blockSignals(_ signals: [Int32] = [SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2]) {
        var set = sigset_t()
        unsafe sigemptyset(&set)
        for number in signals { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
        // A peer that goes away must not take us along (fault R103), also where a write has no MSG_NOSIGNAL: stderr.
        _ = signal(SIGPIPE, SIG_IGN)
    }

    private func append(_ job: Job) {
        let first = jobs.withLock { jobs in
            jobs.append(job)
            return jobs.count == 1
        }
        if first { cshim_wake_signal(wake.rawValue) }
    }

    /// Runs what was there at the start; what these jobs add waits for the next turn, so that sources get theirs.
    private func drain() {
        cshim_wake_drain(wake.rawValue)
        let batch = jobs.withLock { jobs in
            let batch = jobs
            jobs.removeAll()
            return batch
        }
        for job in batch {
            switch job {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedSerialExecutor())
            case .closure(let closure): closure()
            }
        }
    }
}

// MARK: - Executor

extension EventLoop: SerialExecutor {
    package func enqueue(_ job: consuming ExecutorJob) {
        append(.job(UnownedJob(job)))
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        unsafe UnownedSerialExecutor(ordinary: self)
    }

    package func checkIsolated() {
        preconditionOnLoop()
    }

    package func isIsolatingCurrentContext() -> Bool? { isOnLoop }
}

/// The convention of libsystemd: a negative errno as the result.
@discardableResult
func sdCall(_ call: String, _ result: Int32) throws(SystemError) -> Int32 {
    if result < 0 { throw SystemError(errno: Errno(rawValue: -result), call: call) }
    return result
}
