import CShims
import Glibc
import Synchronization

/// Lines on stderr, from any thread: with the journal's `<N>` in front when the journal reads them, plain otherwise.
///
/// A reader that does not read costs us the line, not the service: a line waits for room a tenth of a second, and what
/// was lost is counted and told. Never the value of a setting.
package enum Log {
    package enum Level: Int, Comparable, Sendable, CaseIterable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
        case debug = 7

        package static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        package var name: String {
            switch self {
            case .error: "error"
            case .warning: "warning"
            case .notice: "notice"
            case .info: "info"
            case .debug: "debug"
            }
        }

        package init?(name: String) {
            guard let level = Level.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }
    }

    /// Lines less urgent than this are not written. Any thread.
    package static var threshold: Level {
        get { Level(rawValue: thresholdValue.load(ordering: .relaxed)) ?? .info }
        set { thresholdValue.store(newValue.rawValue, ordering: .relaxed) }
    }

    package static func error(_ message: @autoclosure () -> String) { write(.error, message) }
    package static func warning(_ message: @autoclosure () -> String) { write(.warning, message) }
    package static func notice(_ message: @autoclosure () -> String) { write(.notice, message) }
    package static func info(_ message: @autoclosure () -> String) { write(.info, message) }
    package static func debug(_ message: @autoclosure () -> String) { write(.debug, message) }

    private static let thresholdValue = Atomic<Int>(Level.info.rawValue)
    /// Whole lines, one after the other; holds how many were lost since the last that got through.
    private static let lost = Mutex(0)
    private static let isJournal = names(ProcessFacts.environment("JOURNAL_STREAM"), STDERR_FILENO)

    private static func write(_ level: Level, _ message: () -> String) {
        guard level <= threshold else { return }
        let text = message()
        lost.withLock { lost in
            if lost > 0, put(line(.warning, "\(lost) log lines were lost, because nobody read them"), STDERR_FILENO) {
                lost = 0
            }
            if !put(line(level, text), STDERR_FILENO) { lost += 1 }
        }
    }

    /// At most this many bytes: what a pipe that is writable takes without a wait (PIPE_BUF).
    private static let byteLimit = 4096

    static func line(_ level: Level, _ message: String, isJournal: Bool = Log.isJournal) -> [UInt8] {
        var bytes = Array((isJournal ? "<\(level.rawValue)>" : "appgroupd: \(level.name): ").utf8)
        // A control character could begin a line of its own, or talk to a terminal.
        bytes += message.utf8.prefix(byteLimit - 64).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// False when there was no room in time.
    static func put(_ line: [UInt8], _ descriptor: Int32, timeoutMilliseconds: Int32 = 100) -> Bool {
        guard cshim_poll(descriptor, CSHIM_POLLOUT, -1, timeoutMilliseconds) & CSHIM_POLLOUT != 0 else { return false }
        return unsafe line.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) } == line.count
    }

    /// Whether `$JOURNAL_STREAM` ("device:inode") is about this descriptor: it is inherited also by programs whose
    /// stderr goes elsewhere.
    static func names(_ stream: String?, _ descriptor: Int32) -> Bool {
        var info = stat()
        guard let stream, unsafe fstat(descriptor, &info) == 0 else { return false }
        return stream == "\(info.st_dev):\(info.st_ino)"
    }
}
