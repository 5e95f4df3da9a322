import Glibc

/// A system call that failed: which one, why, and on which path.
package struct SystemError: Error, Equatable, Sendable {
    package let errno: Errno
    /// The call, "rename" say.
    package let call: String
    package let path: String?

    package init(errno: Errno, call: String, path: String? = nil) {
        self.errno = errno
        self.call = call
        self.path = path
    }
}

extension SystemError: CustomStringConvertible {
    package var description: String {
        path.map { "\(call) \($0): \(errno)" } ?? "\(call): \(errno)"
    }
}

/// Runs one system call to its end: the rule about −1 and errno, for the whole module.
///
/// Interrupted calls are started again (close never comes here: on Linux the descriptor is gone whatever it answers).
/// A number that means a bug traps. In debug builds the test's `FaultPlan` may answer in the kernel's place.
package func systemCall<Result: FixedWidthInteger & SignedInteger>(
    _ call: String,
    path: String? = nil,
    _ body: () -> Result
) throws(SystemError) -> Result {
    while true {
        let result = faulted(call, body)
        if result >= 0 { return result }
        let reason = Errno.current
        if reason == .interrupted { continue }
        precondition(!reason.isBug, "\(call) \(path ?? ""): \(reason)")
        throw SystemError(errno: reason, call: call, path: path)
    }
}

/// The same with a path: a NUL inside would silently name another file.
package func systemCall<Result: FixedWidthInteger & SignedInteger>(
    _ call: String,
    checking path: String,
    _ body: () -> Result
) throws(SystemError) -> Result {
    try checkPath(path, call)
    return try systemCall(call, path: path, body)
}

package func checkPath(_ path: String, _ call: String) throws(SystemError) {
    if unsafe strlen(path) != path.utf8.count { throw SystemError(errno: .invalidArgument, call: call, path: path) }
}

#if DEBUG
    private func faulted<Result: FixedWidthInteger & SignedInteger>(_ call: String, _ body: () -> Result) -> Result {
        guard let reason = FaultPlan.failure(of: call) else { return body() }
        errno = reason.rawValue
        return -1
    }

    /// How many bytes the plan lets through a transfer of `count`.
    func allowedCount(_ call: String, _ count: Int) -> Int {
        FaultPlan.allowedCount(of: call, count)
    }
#else
    @inline(__always)
    private func faulted<Result>(_ call: String, _ body: () -> Result) -> Result { body() }

    @inline(__always)
    func allowedCount(_ call: String, _ count: Int) -> Int { count }
#endif
