import AppGroup
import CShims
import Glibc
import Synchronization

/// A program with signal handling of its own: the library leaves it as it is.
enum Host {
    /// The thread on which the handler ran last, and how often another one than the host's.
    private static let hostThread = Atomic<Int32>(0)
    private static let caught = Atomic(0)
    private static let elsewhere = Atomic(0)

    static func run(group: String) {
        hostThread.store(cshim_gettid(), ordering: .relaxed)
        signal(SIGUSR1) { _ in
            Host.caught.add(1, ordering: .relaxed)
            if cshim_gettid() != Host.hostThread.load(ordering: .relaxed) { Host.elsewhere.add(1, ordering: .relaxed) }
        }
        // The C library takes a signal of its own with the first thread of a process.
        StressThread {}?.join()
        let before = ProcessFacts.signals
        let settings = GroupDefaults(suiteName: group)
        settings.set(1, forKey: "key")
        do throws(AppGroupError) { try settings.synchronize(within: 30) } catch { Report.complain("\(error)") }
        Report.say("ready")
        // The daemon is killed now: sets on the broken connection must not be the end of this process.
        _ = readLine()
        for number in 0..<1000 {
            settings.set(number, forKey: "key")
            kill(getpid(), SIGUSR1)
        }
        let after = ProcessFacts.signals
        if before != after { Report.complain("the signals were \(before) and are \(after)") }
        Report.say("caught \(caught.load(ordering: .relaxed))")
        Report.say("elsewhere \(elsewhere.load(ordering: .relaxed))")
    }
}
