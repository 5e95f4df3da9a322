import Glibc
import Synchronization

/// Whether this process is a child that was forked while the library was in use: then other threads' locks stay locked for
/// ever and the connections are the parent's, so the library refuses to work instead of hanging or mixing up both.
///
/// Safe for any thread. Processes started by `posix_spawn`, or that call `exec` after forking, are not concerned.
enum ForkGuard {
    /// The mark itself, for who asks at every read and keeps it: to find a static value costs more than to look at it.
    final class Mark: Sendable {
        fileprivate let isSet = Atomic(false)

        var isChild: Bool { isSet.load(ordering: .relaxed) }
    }

    static let mark = Mark()
    private static let hasSaidSo = Atomic(false)

    /// Set in the child, before `fork` returns there.
    private static let isArmed: Bool = {
        // Made before: a child must not be the first to make it.
        _ = mark
        return pthread_atfork(nil, nil) { ForkGuard.mark.isSet.store(true, ordering: .relaxed) } == 0
    }()

    static func arm() {
        _ = isArmed
    }

    /// The first time also on the standard error, since getters have no other way to say it.
    static var isChild: Bool {
        guard mark.isChild else { return false }
        sayOnce()
        return true
    }

    /// The same for the library's own use, without a word.
    static var isInChild: Bool { mark.isChild }

    static let error = AppGroupError(
        .forked,
        "this process was forked after the library was first used, and cannot use it: fork earlier, or call exec")

    @inline(never)
    private static func sayOnce() {
        if !hasSaidSo.exchange(true, ordering: .relaxed) { StandardError.write("appgroup: \(error.description)") }
    }
}
