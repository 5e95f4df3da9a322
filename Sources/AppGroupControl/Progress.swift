import LinuxIO

/// How far a long piece of work has come, as a bar on the terminal of the standard error; nothing elsewhere. Owned by the
/// tool's one thread.
///
/// It shows up after a moment, so that short work has none, and is gone before anything else is printed.
package final class Progress {
    private let console: Console
    private let label: String
    private let total: Int
    private var done = 0
    private var isShown = false
    private var nextTime: Int64
    private let now: () -> Int64

    /// In microseconds: what takes less has no bar, and a bar is drawn no more often.
    private static let patience: Int64 = 300_000
    private static let interval: Int64 = 50_000
    private static let width = 30

    package init(
        _ label: String, of total: Int, _ console: Console,
        now: @escaping () -> Int64 = ProcessFacts.monotonicMicroseconds
    ) {
        (self.label, self.total, self.console, self.now) = (label, total, console, now)
        nextTime = now() + Self.patience
    }

    deinit { clear() }

    package func advance() {
        done += 1
        guard console.showsProgress, !console.isQuiet, total > 1, now() >= nextTime else { return }
        nextTime = now() + Self.interval
        isShown = true
        console.complain("\r" + Self.bar(label, done, total))
    }

    /// Takes the bar away, for what is to be printed.
    package func clear() {
        if isShown { console.complain("\r\u{1B}[K") }
        isShown = false
    }

    /// `restoring [##########          ]  33%  100 of 300`
    package static func bar(_ label: String, _ done: Int, _ total: Int) -> String {
        let full = min(width * done / max(total, 1), width)
        let bar = String(repeating: "#", count: full) + String(repeating: " ", count: width - full)
        let percent = String(100 * done / max(total, 1))
        return "\(label) [\(bar)] \(percent.paddedLeft(to: 3))%  \(done) of \(total)"
    }
}
