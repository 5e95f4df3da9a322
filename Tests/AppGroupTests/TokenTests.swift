import AppGroupScenarios
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import AppGroup

/// Observation by callback: what a callback may do, where it runs, and how it ends.
@Suite struct TokenTests {
    @Test func `U50 a change of this process is called back on its thread, before the setter returns`() {
        let settings = GroupDefaults.inMemory()
        let log = Log()
        let token = settings.observe("k") { _ in log.add("\(pthread_self())") }
        Thread.detachNewThread {
            settings.set(1, forKey: "k")
            log.add("\(pthread_self())")
        }
        #expect(eventually { log.entries.count == 2 })
        #expect(Set(log.entries).count == 1)
        settings.set(2, forKey: "k")
        #expect(log.entries.last == "\(pthread_self())")
        #expect(log.entries.count == 3)
        token.cancel()
    }

    @Test func `R43 an observer that corrects the value comes to an end`() {
        let settings = GroupDefaults.inMemory()
        let log = Log()
        let token = settings.observe("volume") { [weak settings] change in
            log.add(change)
            settings?.set(min(change.new?.integer ?? 0, 10), forKey: "volume")
        }
        settings.set(50, forKey: "volume")
        #expect(log.entries == ["volume: - 50", "volume: 50 10"])
        token.cancel()
    }

    @Test func `R50 a callback may read, write, observe, cancel itself and drop the last reference`() {
        let settings = GroupDefaults.inMemory()
        let log = Log()
        let held = Mutex<[ObservationToken]>([])
        let token = settings.observe("k") { change in
            log.add("called")
            _ = settings.string(forKey: "k")
            settings.set("x", forKey: "other")
            let tokens = held.withLock { tokens in
                defer { tokens = [] }
                return tokens
            }
            for token in tokens { token.cancel() }
        }
        held.withLock { $0 = [token, settings.observe("k") { _ in log.add("second") }] }
        settings.set("a", forKey: "k")
        settings.set("b", forKey: "k")
        // The second one was cancelled by the first before it was called.
        #expect(log.entries == ["called"])
        #expect(settings.searchList.observerCount == 0)
    }

    @Test func `R52 the observation ends with its token`() {
        let settings = GroupDefaults.inMemory()
        let log = Log()
        do {
            let token = settings.observe("k") { log.add($0) }
            settings.set("a", forKey: "k")
            withExtendedLifetime(token) {}
        }
        settings.set("b", forKey: "k")
        #expect(log.entries == ["k: - a"])
        #expect(settings.searchList.observerCount == 0)
    }

    @Test func `after cancel has returned no call begins`() {
        let settings = GroupDefaults.inMemory()
        let writer = Thread {
            for number in 1...50_000 { settings.set(number, forKey: "k") }
            settings.set("done", forKey: "k")
        }
        writer.start()
        for _ in 0..<500 {
            let isCancelled = Atomic(false)
            let running = Atomic(0)
            let token = settings.observe("k") { _ in
                running.wrappingAdd(1, ordering: .sequentiallyConsistent)
                // A call that had begun before may be in here; give it away only if it began after.
                running.wrappingSubtract(1, ordering: .sequentiallyConsistent)
            }
            settings.set(-1, forKey: "other")
            token.cancel()
            isCancelled.store(true, ordering: .sequentiallyConsistent)
        }
        #expect(eventually(seconds: 60) { settings.string(forKey: "k") == "done" })
        #expect(settings.searchList.observerCount == 0)
    }

    @Test func `R48 on the main actor, and on an executor of one's own`() async {
        let settings = GroupDefaults.inMemory()
        let log = Log()
        let main = settings.observe(
            "k", initial: true,
            onMain: { change in
                MainActor.assertIsolated()
                log.add(change)
            })
        await log.wait(for: 1)
        settings.set("a", forKey: "k")
        await log.wait(for: 2)
        #expect(log.entries == ["k: - - initial", "k: - a"])
        main.cancel()

        let queue = QueueExecutor()
        let own = Log()
        let token = settings.observe("k", initial: true, on: queue) { change in
            dispatchPrecondition(condition: .onQueue(queue.queue))
            own.add(change)
        }
        await own.wait(for: 1)
        settings.set("b", forKey: "k")
        await own.wait(for: 2)
        #expect(own.entries == ["k: - a initial", "k: a b"])
        token.cancel()
    }

    @Test func `cancelling on the main actor is final at once`() async {
        let settings = GroupDefaults.inMemory()
        let log = Log()
        let token = settings.observe("k", onMain: { log.add($0) })
        await MainActor.run {
            settings.set("a", forKey: "k")
            token.cancel()
        }
        await MainActor.run {}
        #expect(log.entries.isEmpty)
    }

    @Test func `R44 one order for all observers, whoever writes`() async {
        let settings = GroupDefaults.inMemory()
        let (first, second) = (Log(), Log())
        let tokens = [
            settings.observe(matching: "*") { first.add($0) }, settings.observe(matching: "*") { second.add($0) },
        ]
        await withTaskGroup { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<200 { settings.set("\(writer).\(number)", forKey: "k\(number % 3)") }
                }
            }
        }
        #expect(eventually { first.entries.count == second.entries.count && first.entries == second.entries })
        withExtendedLifetime(tokens) {}
    }

    private final class QueueExecutor: TaskExecutor {
        let queue = DispatchQueue(label: "observer")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
}
