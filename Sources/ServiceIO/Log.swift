import CShims
import CSystemd
import Glibc
import LinuxIO
import Synchronization

/// What the daemon has to say, from any thread: to the journal with its fields where that is what reads us, else as lines on
/// stderr.
///
/// A reader that does not read costs us the line, not the service: a line waits for room a tenth of a second, and what
/// was lost is counted and told. One place of the program that has much to say is cut short. Never the value of a setting.
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

    /// What happens seldom and is worth an explanation: a MESSAGE_ID each, which systemd/appgroupd.catalog explains
    /// (`journalctl -x`). An id is never given to something else.
    package enum Event: String, Sendable, CaseIterable {
        case damagedFile = "f3dd1748fc8b4a88badb94b89fd350fb"
        case damagedJournal = "8208c48e7fc54497ab803553ca12fa37"
        case noWatchesLeft = "9832178266c343d8b783901dd76ba3b4"
        case slowClient = "2e81539f4c544cdd96e9d5322ca3a5ca"
        case configurationIgnored = "675beb9272f347368f29b26f50842c39"
        case administratorChanged = "64419709c0234c2a93d09adfc5c55fe3"
        case storageFailed = "fc8cbf95a0b44e479f051fcb2e83972f"
    }

    /// What a line is about: fields of the journal, by which it can be searched.
    package struct Subject: Sendable {
        /// APPGROUP_GROUP, APPGROUP_KEY, APPGROUP_ORIGIN, APPGROUP_REVISION, APPGROUP_PATH.
        package var group: String?
        package var key: String?
        package var origin: String?
        package var revision: Int64?
        package var path: String?

        package init(
            group: String? = nil, key: String? = nil, origin: String? = nil, revision: Int64? = nil, path: String? = nil
        ) {
            self.group = group
            self.key = key
            self.origin = origin
            self.revision = revision
            self.path = path
        }
    }

    /// Lines less urgent than this are not written. Any thread.
    package static var threshold: Level {
        get { Level(rawValue: thresholdValue.load(ordering: .relaxed)) ?? .info }
        set { thresholdValue.store(newValue.rawValue, ordering: .relaxed) }
    }

    package static func error(
        _ message: @autoclosure () -> String, _ event: Event? = nil,
        about subject: @autoclosure () -> Subject = Subject(),
        file: StaticString = #fileID, line: UInt = #line
    ) { write(.error, message, event, subject, file, line) }

    package static func warning(
        _ message: @autoclosure () -> String, _ event: Event? = nil,
        about subject: @autoclosure () -> Subject = Subject(),
        file: StaticString = #fileID, line: UInt = #line
    ) { write(.warning, message, event, subject, file, line) }

    package static func notice(
        _ message: @autoclosure () -> String, _ event: Event? = nil,
        about subject: @autoclosure () -> Subject = Subject(),
        file: StaticString = #fileID, line: UInt = #line
    ) { write(.notice, message, event, subject, file, line) }

    package static func info(
        _ message: @autoclosure () -> String, _ event: Event? = nil,
        about subject: @autoclosure () -> Subject = Subject(),
        file: StaticString = #fileID, line: UInt = #line
    ) { write(.info, message, event, subject, file, line) }

    package static func debug(
        _ message: @autoclosure () -> String, _ event: Event? = nil,
        about subject: @autoclosure () -> Subject = Subject(),
        file: StaticString = #fileID, line: UInt = #line
    ) { write(.debug, message, event, subject, file, line) }

    /// A place of the program.
    struct Site: Hashable {
        let file: String
        let line: UInt

        init(_ file: StaticString, _ line: UInt) {
            (self.file, self.line) = ("\(file)", line)
        }
    }

    private struct State {
        /// How many lines were lost since the last that got through.
        var lost = 0
        var limits: [Site: RateLimit] = [:]
    }

    private static let thresholdValue = Atomic<Int>(Level.info.rawValue)
    /// Whole lines, one after the other.
    private static let state = Mutex(State())
    private static let isJournal = names(ProcessFacts.environment("JOURNAL_STREAM"), STDERR_FILENO)

    private static func write(
        _ level: Level, _ message: () -> String, _ event: Event?, _ subject: () -> Subject, _ file: StaticString,
        _ line: UInt
    ) {
        guard level <= threshold else { return }
        let (text, subject, site) = (message(), subject(), Site(file, line))
        state.withLock { state in
            let now = ProcessFacts.monotonicMicroseconds()
            let verdict = state.limits[site, default: RateLimit()].take(at: now)
            guard case .pass(let suppressed) = verdict else { return }
            let more = suppressed > 0 ? " (and \(suppressed) times before, left out)" : ""
            put(level, text + more, event, subject, site, &state)
        }
    }

    private static func put(
        _ level: Level, _ text: String, _ event: Event?, _ subject: Subject, _ site: Site, _ state: inout State
    ) {
        if isJournal, JournalEntryFields(level, text, event, subject, site).send() { return }
        if state.lost > 0,
            put(line(.warning, "\(state.lost) log lines were lost, because nobody read them"), timeoutMilliseconds: 0)
        {
            state.lost = 0
        }
        // Who does not read is waited for once, and then no more before there is room again: the loop stands still meanwhile.
        if !put(line(level, text), timeoutMilliseconds: state.lost > 0 ? 0 : patience) { state.lost += 1 }
    }

    /// How long a line waits for room, in milliseconds.
    private static let patience: Int32 = 100

    /// At most this many bytes: what a pipe that is writable takes without a wait (PIPE_BUF).
    private static let byteLimit = 4096

    static func line(_ level: Level, _ message: String, isJournal: Bool = Log.isJournal) -> [UInt8] {
        var bytes = Array((isJournal ? "<\(level.rawValue)>" : "appgroupd: \(level.name): ").utf8)
        bytes += printable(message)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// A control character could begin a line of its own, or talk to a terminal.
    static func printable(_ message: String) -> [UInt8] {
        message.utf8.prefix(byteLimit - 64).map { $0 < 0x20 || $0 == 0x7F ? UInt8(ascii: " ") : $0 }
    }

    /// False when there was no room in time.
    static func put(_ line: [UInt8], _ descriptor: Int32 = STDERR_FILENO, timeoutMilliseconds: Int32) -> Bool {
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

/// How much one place of the program may say: so many lines at once, and then as many again in each interval. A plain value.
struct RateLimit {
    enum Verdict: Equatable {
        /// After so many that were not.
        case pass(suppressed: Int)
        case suppress
    }

    private static let burst = 20
    /// In microseconds.
    private static let interval: Int64 = 30_000_000

    private var start: Int64?
    private var count = 0
    private var suppressed = 0

    mutating func take(at time: Int64) -> Verdict {
        if let start, time - start < Self.interval {
            guard count < Self.burst else {
                suppressed += 1
                return .suppress
            }
        } else {
            (start, count) = (time, 0)
        }
        count += 1
        defer { suppressed = 0 }
        return .pass(suppressed: suppressed)
    }
}

/// One entry for the journal, with its fields.
struct JournalEntryFields {
    /// `NAME=value`, each as its bytes.
    private(set) var fields: [[UInt8]] = []

    init(_ level: Log.Level, _ text: String, _ event: Log.Event?, _ subject: Log.Subject, _ site: Log.Site) {
        fields.append(Array("MESSAGE=".utf8) + Log.printable(text))
        add("PRIORITY", "\(level.rawValue)")
        add("SYSLOG_IDENTIFIER", "appgroupd")
        add("CODE_FILE", site.file)
        add("CODE_LINE", "\(site.line)")
        add("MESSAGE_ID", event?.rawValue)
        add("APPGROUP_GROUP", subject.group)
        add("APPGROUP_KEY", subject.key)
        add("APPGROUP_ORIGIN", subject.origin)
        add("APPGROUP_REVISION", subject.revision.map(String.init))
        add("APPGROUP_PATH", subject.path)
    }

    private mutating func add(_ name: String, _ value: String?) {
        if let value { fields.append(Array("\(name)=\(value)".utf8)) }
    }

    /// False where the journal did not take it.
    func send() -> Bool {
        var vectors: [iovec] = unsafe []
        return unsafe send(fields[...], &vectors)
    }

    /// Opens one buffer a level, so that all pointers hold when the last level sends.
    private func send(_ rest: ArraySlice<[UInt8]>, _ vectors: inout [iovec]) -> Bool {
        guard let first = rest.first else { return unsafe sd_journal_sendv(vectors, Int32(vectors.count)) >= 0 }
        return unsafe first.withUnsafeBytes { bytes in
            let base = unsafe UnsafeMutableRawPointer(mutating: bytes.baseAddress)
            unsafe vectors.append(iovec(iov_base: base, iov_len: bytes.count))
            return unsafe send(rest.dropFirst(), &vectors)
        }
    }
}
