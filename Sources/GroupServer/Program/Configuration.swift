package import GroupModel
package import GroupProtocol
package import LinuxIO

/// What `appgroupd.conf` sets, section `[Daemon]`. A plain value; a reload makes a new one.
package struct Configuration: Equatable, Sendable {
    package var durability: Durability = .process
    /// Times in microseconds, sizes in bytes.
    package var syncInterval: Int64 = 1_000_000
    package var projectionDelay: Int64 = 25_000
    package var historyCommits = 10_000
    package var historyAge: Int64 = 30 * 24 * 3_600_000_000
    package var messageSize = 8 << 20
    package var limits = Limits()
    package var groups = 10_000
    /// Nil: three quarters of the descriptor limit.
    package var connections: Int?
    /// Of one observer.
    package var queueSize = 1 << 20
    package var settleTime: Int64 = 20_000
    package var pollInterval: Int64 = 1_000_000
    package var logLevel: Log.Level = .info

    package init() {}

    /// The keys of the section, as they are written.
    package enum Key: String, CaseIterable, Sendable {
        case durability = "Durability"
        case syncInterval = "SyncIntervalSec"
        case projectionDelay = "ProjectionDelaySec"
        case historyCommits = "HistoryCommits"
        case historyAge = "HistorySec"
        case messageSize = "MaxMessageSize"
        case valueSize = "MaxValueSize"
        case groupSize = "MaxGroupSize"
        case keys = "MaxKeys"
        case groups = "MaxGroups"
        case connections = "MaxConnections"
        case queueSize = "MaxQueueSize"
        case settleTime = "SettleSec"
        case pollInterval = "PollIntervalSec"
        case logLevel = "LogLevel"
    }

    /// Sets one key; an empty text resets it to its default.
    ///
    /// - Throws: what was expected instead.
    mutating func set(_ key: Key, to text: String) throws(ConfigurationProblem) {
        let initial = Configuration()
        switch key {
        case .durability:
            durability = try text.isEmpty ? initial.durability : Setting.choice(text)
        case .syncInterval: syncInterval = try Setting.time(text, default: initial.syncInterval)
        case .projectionDelay:
            let delay = try Setting.time(text, default: initial.projectionDelay)
            // 50 ms are promised, and the writing itself takes some of it.
            guard delay <= 40_000 else { throw .expected("a time of at most 40ms") }
            projectionDelay = delay
        case .historyCommits: historyCommits = try Setting.count(text, default: initial.historyCommits)
        case .historyAge: historyAge = try Setting.time(text, default: initial.historyAge)
        case .messageSize:
            let size = try Setting.size(text, default: initial.messageSize)
            guard (4096...SettingsInterface.messageLimit).contains(size) else {
                throw .expected("a size from 4K to 8M")
            }
            messageSize = size
        case .valueSize: limits.valueSize = try Setting.size(text, default: initial.limits.valueSize)
        case .groupSize: limits.groupSize = try Setting.size(text, default: initial.limits.groupSize)
        case .keys: limits.keysPerGroup = try Setting.count(text, default: initial.limits.keysPerGroup)
        case .groups: groups = try Setting.count(text, default: initial.groups)
        case .connections: connections = try text.isEmpty ? nil : Setting.count(text, default: 0)
        case .queueSize: queueSize = try Setting.size(text, default: initial.queueSize)
        case .settleTime: settleTime = try Setting.time(text, default: initial.settleTime)
        case .pollInterval: pollInterval = try Setting.time(text, default: initial.pollInterval)
        case .logLevel:
            guard let level = text.isEmpty ? initial.logLevel : Log.Level(name: text) else {
                throw .expected("one of \(Log.Level.allCases.map(\.name).joined(separator: ", "))")
            }
            logLevel = level
        }
    }
}

/// Why the text of a setting was not taken.
package enum ConfigurationProblem: Error, Equatable, Sendable {
    case expected(String)
}

/// The forms of values: systemd's times (`1s`, `25ms`, `30d`, seconds without a unit) and sizes (`8M`, base 1024).
private enum Setting {
    static func choice<Choice: RawRepresentable & CaseIterable>(
        _ text: String
    ) throws(ConfigurationProblem) -> Choice where Choice.RawValue == String {
        guard let choice = Choice(rawValue: text) else {
            throw .expected("one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    static func count(_ text: String, default initial: Int) throws(ConfigurationProblem) -> Int {
        if text.isEmpty { return initial }
        guard let number = Int(text), number > 0 else { throw .expected("a whole number above 0") }
        return number
    }

    static func size(_ text: String, default initial: Int) throws(ConfigurationProblem) -> Int {
        if text.isEmpty { return initial }
        let units: [Character: Int] = ["K": 1 << 10, "M": 1 << 20, "G": 1 << 30]
        let factor = text.last.flatMap { units[$0] }
        let digits = factor == nil ? text[...] : text.dropLast()
        let product = Int(digits).map { $0.multipliedReportingOverflow(by: factor ?? 1) }
        guard let product, !product.overflow, product.partialValue > 0 else {
            throw .expected("a size such as 4096, 64K, 8M or 1G")
        }
        return product.partialValue
    }

    private static let timeUnits: [(suffix: String, microseconds: Double)] = [
        ("us", 1), ("ms", 1_000), ("sec", 1e6), ("s", 1e6), ("min", 60e6), ("m", 60e6), ("h", 3_600e6), ("d", 86_400e6),
        ("w", 604_800e6), ("", 1e6),
    ]

    /// One or several numbers with units, as in `1min 30s`.
    static func time(_ text: String, default initial: Int64) throws(ConfigurationProblem) -> Int64 {
        if text.isEmpty { return initial }
        var total = 0.0
        var rest = text[...]
        while !rest.isEmpty {
            let number = rest.prefix { $0.isASCII && $0.isNumber || $0 == "." }
            rest = rest.dropFirst(number.count).drop { $0 == " " }
            let unit = rest.prefix { $0.isASCII && $0.isLetter }
            rest = rest.dropFirst(unit.count).drop { $0 == " " }
            guard let number = Double(number), let scale = timeUnits.first(where: { $0.suffix == unit }) else {
                throw .expected("a time such as 500ms, 1s, 5min or 30d")
            }
            total += number * scale.microseconds
        }
        guard total >= 1, total < 1e17 else { throw .expected("a time such as 500ms, 1s, 5min or 30d") }
        return Int64(total)
    }
}
