import AppGroup
import Glibc
import Synchronization

/// Reads, writes, subscribes and cancels in several threads; then says what it has done, and, when a mark is seen that
/// was set after everybody was done, what the group is like.
///
///     load GROUP NAME SEED THREADS SECONDS
///
/// Seconds of 0: until a line comes, and the daemon is killed meanwhile.
struct Load {
    /// What all threads together have done.
    final class Tally: Sendable {
        let increments = Atomic(0)
        let operations = Atomic(0)
        let appends = Atomic(0)
        let isOver = Atomic(false)
    }

    let group: String
    let name: String
    let seed: UInt64
    let threads: Int
    let seconds: Int

    init(_ arguments: [String]) {
        group = arguments[1]
        name = arguments[2]
        seed = UInt64(arguments[3]) ?? 0
        threads = Int(arguments[4]) ?? 1
        seconds = Int(arguments[5]) ?? 0
    }

    func run() {
        let settings = GroupDefaults(suiteName: group)
        let errors = Task { [settings] in
            for await error in settings.errors { Report.complain("refused: \(error)") }
        }
        let chain = ChainCheck(settings)
        guard let document = LoadDocument(group: group) else { return }
        let tally = Tally()
        Report.say("ready")
        let running = (0..<threads).compactMap { number in
            StressThread { [seed, name, seconds] in
                var thread = LoadThread(
                    settings, document, tally, "\(name).\(number)", seed: seed &+ UInt64(number),
                    isDaemonKilled: seconds == 0)
                thread.run()
            }
        }
        if seconds > 0 { sleep(UInt32(seconds)) } else { _ = readLine() }
        tally.isOver.store(true, ordering: .relaxed)
        for thread in running { thread.join() }
        settle(settings)
        Report.say("operations \(tally.operations.load(ordering: .relaxed))")
        Report.say("increments \(tally.increments.load(ordering: .relaxed))")
        Report.say("appends \(tally.appends.load(ordering: .relaxed))")
        Report.say("done")
        compare(settings, chain)
        document.finish()
        errors.cancel()
    }

    /// All is acknowledged; while the daemon is away, again and again.
    private func settle(_ settings: GroupDefaults) {
        for _ in 0..<600 {
            do throws(AppGroupError) {
                return try settings.synchronize(within: 60)
            } catch {
                guard error.code == .unreachable else { return Report.complain("synchronize: \(error)") }
                usleep(100_000)
            }
        }
        Report.complain("never synchronized")
    }

    /// The line that comes names the mark.
    private func compare(_ settings: GroupDefaults, _ chain: ChainCheck) {
        guard let mark = readLine() else { return Report.complain("no mark") }
        // Told of the mark, it has been told of all that was before.
        while !chain.isTold("mark", mark) { usleep(1000) }
        chain.finish(settings)
        Report.say("digest \(Digest.of(settings))")
    }
}
