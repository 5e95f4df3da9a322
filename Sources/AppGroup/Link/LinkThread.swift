import CShims
import GroupClient
import Synchronization

/// The link's own thread: waits for both connections, for the time of the next attempt, and for whoever wakes it.
enum LinkThread {
    /// Starts the thread, which keeps the link for the life of the process.
    static func start(_ link: DaemonLink) {
        start(named: "appgroup") { run(link) }
    }

    /// Starts a thread of the library's own that does this, and ends with it. Without a thread nothing is done.
    static func start(named name: String, _ body: @escaping @Sendable () -> Void) {
        let trampoline: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
            guard let pointer = unsafe pointer else { return }
            unsafe Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().call()
        }
        var thread = cshim_thread()
        let retained = unsafe Unmanaged.passRetained(Body(call: body))
        // All signals are blocked in it: the host program's handlers run in the host's own threads.
        if unsafe cshim_thread_start(&thread, name, trampoline, retained.toOpaque()) != 0 {
            unsafe retained.release()
            return
        }
        _ = cshim_thread_detach(thread)
    }

    /// What a thread does, on its way to it.
    private final class Body: Sendable {
        let call: @Sendable () -> Void

        init(call: @escaping @Sendable () -> Void) { self.call = call }
    }

    private static func run(_ link: DaemonLink) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            link.connectIfDue()
            link.retryFailedIfDue()
            link.watchIfDue()
            link.waitForEvents()
            cshim_wake_drain(link.wake)
            if !link.receive(into: &buffer) { link.disconnected() }
        }
    }
}

extension DaemonLink {
    fileprivate func waitForEvents() {
        let (calls, callEvents, watch, watchEvents, deadline) = state.withLock { state in
            let needsTime = state.calls == nil || state.isWatchStale && !state.hasOutstandingCreate
            let due = state.calls == nil ? state.retryAt : state.watchAt
            let deadline = needsTime && !state.replicas.isEmpty ? due : .never
            return (
                state.calls?.descriptor ?? -1, Self.events(state.calls),
                state.watch?.descriptor ?? -1, Self.events(state.watch),
                deadline.earlier(of: state.failedRetryAt)
            )
        }
        _ = cshim_poll_pair(calls, callEvents, watch, watchEvents, wake, deadline.milliseconds)
    }

    private static func events(_ channel: Channel?) -> Int32 {
        channel?.hasOutgoing == true ? CSHIM_POLLIN | CSHIM_POLLOUT : CSHIM_POLLIN
    }
}
