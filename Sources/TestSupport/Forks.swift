import Synchronization

/// Keeps forks and what they disturb apart: between its fork and its exec a child has a copy of every descriptor of the
/// tests, so that a file closed meanwhile is closed later than its test believes.
package enum Forks {
    private static let lock = Mutex(())

    /// Runs what forks, or what must not have a fork in the middle.
    package static func keptOut<Result>(_ body: () throws -> sending Result) rethrows -> sending Result {
        try lock.withLock { _ in try body() }
    }
}
