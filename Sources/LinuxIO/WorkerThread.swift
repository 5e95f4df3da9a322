import CShims
import Glibc
import Synchronization

/// One thread that does, one after the other, what may block: fsync, rewriting files, scanning directories.
///
/// All signals are blocked in it. The queue has no limit of its own: who submits bounds what is under way. `stop` must
/// be called before the last reference goes.
package final class WorkerThread: Sendable {
    package typealias Job = @Sendable () -> Void

    private struct State {
        var jobs: [Job] = []
        var isStopping = false
        var thread: cshim_thread?
    }

    /// Protected by its mutex; jobs run outside it.
    private let state = Mutex(State())
    /// A counting semaphore: one count a job, one more for the stop.
    private let signal: FileDescriptor

    package init(name: String) throws(SystemError) {
        signal = FileDescriptor(owning: try systemCall("eventfd") { cshim_eventfd_blocking() })
        var thread = cshim_thread()
        let body: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
            guard let pointer = unsafe pointer else { return }
            unsafe Unmanaged<WorkerThread>.fromOpaque(pointer).takeRetainedValue().work()
        }
        // The thread holds the object until it ends.
        let retained = unsafe Unmanaged.passRetained(self)
        let failure = unsafe cshim_thread_start(&thread, name, body, retained.toOpaque())
        if failure != 0 {
            unsafe retained.release()
            throw SystemError(errno: Errno(rawValue: failure), call: "pthread_create")
        }
        state.withLock { $0.thread = thread }
    }

    /// Queues a job. False after `stop`: it will not run.
    @discardableResult
    package func submit(_ job: @escaping Job) -> Bool {
        let accepted = state.withLock { state in
            if state.isStopping { return false }
            state.jobs.append(job)
            return true
        }
        if accepted { cshim_wake_signal(signal.rawValue) }
        return accepted
    }

    /// How many jobs wait.
    package var pendingCount: Int { state.withLock { $0.jobs.count } }

    /// Lets the queue run dry, then waits for the thread's end. Not from a job.
    package func stop() {
        let thread = state.withLock { state in
            state.isStopping = true
            let thread = state.thread
            state.thread = nil
            return thread
        }
        guard let thread else { return }
        cshim_wake_signal(signal.rawValue)
        _ = cshim_thread_join(thread)
    }

    private func work() {
        while true {
            let (batch, isStopping) = state.withLock { state in
                let batch = state.jobs
                state.jobs.removeAll()
                return (batch, state.isStopping)
            }
            for job in batch { job() }
            if !batch.isEmpty { continue }
            if isStopping { return }
            // Blocks until there is a count.
            cshim_wake_drain(signal.rawValue)
        }
    }
}
