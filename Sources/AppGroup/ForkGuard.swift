import Glibc
import Synchronization

/// Whether this process is a child that was forked while the library was in use: then other threads' locks stay locked for
/// ever and the connections are the parent's, so the library refuses to work instead of hanging or mixing up both.
///
/// Safe for any thread. Processes started by `posix_spawn`, or that call `exec` after forking, are not concerned.
enum ForkGuard {
    private static let child = Atomic(false)
    private static let hasSaidSo = Atomic(false)

    /// Set in the child, before `fork` returns there.
    private static let isArmed: Bool = {
        pthread_atfork(nil, nil) { ForkGuard.child.store(true, ordering: .relaxed) } == 0
    }()

    static func arm() {
        _ = isArmed
    }

    /// The first time also on the standard error, since getters have no other way to say it.
    static var isChild: Bool {
        guard child.load(ordering: .relaxed) else { return false }
        sayOnce()
        return true
    }

    /// The same for the library's own use, without a word.
    static var isInChild: Bool { child.load(ordering: .relaxed) }

    static let error = AppGroupError(
        .forked,
        "this process was forked after the library was first used, and cannot use it: fork earlier, or call exec")

    @inline(never)
    private static func sayOnce() {
        if !hasSaidSo.exchange(true, ordering: .relaxed) { StandardError.write("appgroup: \(error.description)") }
    }
}
