package import LinuxIO
import Synchronization

/// Watches directories: one thread blocked in libinotifytools, which hands what happens to `deliver` as plain values,
/// in batches, in the order of the kernel. Without a request or an event it never wakes.
///
/// The library's state is global, so one watcher lives in a process at a time. `watch`, `unwatch` and `barrier` may be
/// called from any thread, and answer through `deliver`, on the watcher's thread. Ends by `stop`, at the latest when
/// the last reference goes; `deliver` must therefore not hold the watcher.
///
///     let watcher = try Watcher(cookieDirectory: runtimeDirectory) { events in loop.post { server.take(events) } }
///     watcher.watch(directory: preferences)  // then list it when `.watching` comes
package final class Watcher: Sendable {
    private static let isInUse = Atomic<Bool>(false)

    private let mailbox: Mailbox
    private let thread: WorkerThread
    private let isStopped = Mutex(false)
    /// The kernel's number of the thread.
    package let threadID: Int32

    /// The cookie is a file of no name on the file system of `cookieDirectory`: touching it wakes the thread, and its
    /// event marks the place of a barrier. Fails with EBUSY while another watcher lives in the process.
    package init(
        cookieDirectory: String,
        deliver: @escaping @Sendable ([WatchEvent]) -> Void
    ) throws(SystemError) {
        guard !Self.isInUse.exchange(true, ordering: .acquiringAndReleasing) else {
            throw SystemError(errno: .busy, call: "inotifytools_initialize")
        }
        do throws(SystemError) {
            let mailbox = Mailbox()
            let thread = try WorkerThread(name: "watcher")
            self.mailbox = mailbox
            self.thread = thread
            do throws(SystemError) {
                threadID = try Self.start(on: thread, cookieDirectory, mailbox, deliver)
            } catch {
                thread.stop()
                throw error
            }
        } catch {
            Self.isInUse.store(false, ordering: .releasing)
            throw error
        }
    }

    deinit {
        stop()
    }

    /// Answers `.watching` once events are reported, or `.watchFailed`. A directory that is watched already is watched
    /// anew, since there may be another one of its name by now.
    package func watch(directory: String) {
        mailbox.submit(.watch(Self.normalized(directory)))
    }

    /// Unanswered. Events that were under way may still come.
    package func unwatch(directory: String) {
        mailbox.submit(.unwatch(Self.normalized(directory)))
    }

    /// Answers `.barrier(id)` after all events of what happened before this call. `.barrierFailed` says why that cannot
    /// be told: no cookie can be made, or the watcher was stopped before (ECANCELED).
    package func barrier(_ id: UInt64) {
        mailbox.submit(.barrier(id))
    }

    /// Ends the thread and waits for it; nothing is delivered afterwards. Not to be called in `deliver`.
    package func stop() {
        precondition(ProcessFacts.threadID != threadID, "Watcher.stop called in deliver")
        isStopped.withLock { isStopped in
            if isStopped { return }
            isStopped = true
            mailbox.stop()
            thread.stop()
            Self.isInUse.store(false, ordering: .releasing)
        }
    }

    /// Whether `stop` was called, though the thread may still be busy.
    var isStopping: Bool { mailbox.isStopping }

    /// Starts the loop in its thread, and waits until it watches the cookie or says why it cannot.
    private static func start(
        on thread: WorkerThread,
        _ cookieDirectory: String,
        _ mailbox: Mailbox,
        _ deliver: @escaping @Sendable ([WatchEvent]) -> Void
    ) throws(SystemError) -> Int32 {
        let outcome = try StartOutcome()
        thread.submit {
            do throws(SystemError) {
                let loop = try WatchLoop(cookieDirectory: cookieDirectory, mailbox: mailbox, deliver: deliver)
                outcome.report(.success(ProcessFacts.threadID))
                loop.run()
            } catch {
                outcome.report(.failure(error))
            }
        }
        return try outcome.wait()
    }

    /// Without the slashes at its end, and without a "/." there.
    static func normalized(_ directory: String) -> String {
        var rest = directory.utf8[...]
        while rest.count > 1 {
            if rest.last == UInt8(ascii: "/") {
                rest.removeLast()
            } else if rest.suffix(2).elementsEqual("/.".utf8) {
                rest.removeLast()
            } else {
                break
            }
        }
        return String(decoding: rest, as: UTF8.self)
    }
}
