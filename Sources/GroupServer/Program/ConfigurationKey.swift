import GroupModel
package import GroupProtocol
package import ServiceIO

/// One key of the configuration: what it takes, what it is where nobody sets it, and what it is for. The one table of them:
/// the file is read by it, the manual page is made from it, and the tests hold the shipped file and the README against it.
package struct ConfigurationKey: Sendable {
    package typealias Field<Value> = any WritableKeyPath<Configuration, Value> & Sendable

    package enum Form: Sendable {
        case time(Field<Int64>, atMost: Int64 = .max)
        /// `infinity` by default; 0 is that too.
        case optionalTime(Field<Int64?>)
        case size(Field<Int>, ClosedRange<Int> = 1...Int.max)
        case count(Field<Int>)
        /// Empty by default.
        case optionalCount(Field<Int?>)
        case durability(Field<Durability>)
        case level(Field<Log.Level>)
    }

    package let name: String
    package let form: Form
    /// As it would be written.
    package let standard: String
    /// One or two sentences.
    package let summary: String

    package static func named(_ name: String) -> ConfigurationKey? { all.first { $0.name == name } }

    package static let all: [ConfigurationKey] = [
        ConfigurationKey(
            name: "Durability", form: .durability(\.durability), standard: "process",
            summary: """
                What an acknowledged write survives. process: the end of any process at any moment, and a loss of power \
                but for the last SyncIntervalSec=. power: a loss of power too; each write waits for the disk.
                """),
        ConfigurationKey(
            name: "SyncIntervalSec", form: .time(\.syncInterval), standard: "1s",
            summary: "With Durability=process: the longest time until an acknowledged write is on stable storage."),
        // 50 ms are promised, and the writing itself takes some of it.
        ConfigurationKey(
            name: "ProjectionDelaySec", form: .time(\.projectionDelay, atMost: 40_000), standard: "25ms",
            summary: """
                The longest time from a write until it is in the group's property list, where other programs and editors \
                see it.
                """),
        ConfigurationKey(
            name: "HistoryCommits", form: .count(\.historyCommits), standard: "10000",
            summary: """
                How many commits each group's journal keeps: for log and undo, and for observers that were away.
                """),
        ConfigurationKey(
            name: "HistorySec", form: .time(\.historyAge), standard: "30d",
            summary: "How old the commits are that each group's journal keeps."),
        ConfigurationKey(
            name: "MaxMessageSize", form: .size(\.messageSize, 4096...SettingsInterface.messageLimit), standard: "8M",
            summary: "The largest message on the socket. A program that sends a larger one is disconnected."),
        ConfigurationKey(
            name: "MaxValueSize", form: .size(\.limits.valueSize), standard: "1M",
            summary: "The largest value of one key. A write past it is refused."),
        ConfigurationKey(
            name: "MaxGroupSize", form: .size(\.limits.groupSize), standard: "4M",
            summary: "The sum of all values of one group. A write past it is refused."),
        ConfigurationKey(
            name: "MaxKeys", form: .count(\.limits.keysPerGroup), standard: "1000000",
            summary: "The most keys of one group. A write past it is refused."),
        ConfigurationKey(
            name: "MaxGroups", form: .count(\.groups), standard: "10000",
            summary: "The most groups. A new one past it is refused."),
        ConfigurationKey(
            name: "MaxConnections", form: .optionalCount(\.connections), standard: "",
            summary: "The most connections at a time. Empty: three quarters of the limit of open files."),
        ConfigurationKey(
            name: "MaxQueueSize", form: .size(\.queueSize), standard: "1M",
            summary: """
                What may wait for one observer that does not read. Past it, its changes collapse to the newest value of \
                each key.
                """),
        ConfigurationKey(
            name: "SettleSec", form: .time(\.settleTime), standard: "20ms",
            summary: """
                How long a property list that is gone, empty or unreadable may be the middle of somebody's saving before \
                it counts.
                """),
        ConfigurationKey(
            name: "PollIntervalSec", form: .time(\.pollInterval), standard: "1s",
            summary: """
                How often files are looked at where inotify cannot watch them: network file systems, or no watches left.
                """),
        ConfigurationKey(
            name: "ExitIdleSec", form: .optionalTime(\.exitIdleTime), standard: "infinity",
            summary: """
                How long the daemon stays when no client is connected. Then it writes everything out and ends; the next \
                connection starts it again, and edits made meanwhile are found. infinity or 0: it stays. Only where \
                systemd's socket starts it.
                """),
        ConfigurationKey(
            name: "LogLevel", form: .level(\.logLevel), standard: "info",
            summary: "What goes to the log: error, warning, notice, info or debug. Never a setting's value."),
    ]
}

// MARK: - Setting

extension ConfigurationKey {
    /// Sets the key; an empty text resets it to its default.
    ///
    /// - Throws: what was expected instead.
    func set(_ configuration: inout Configuration, to text: String) throws(ConfigurationProblem) {
        let initial = Configuration()
        switch form {
        case .time(let field, let most):
            let time = try text.isEmpty ? initial[keyPath: field] : Quantity.time(text)
            guard time <= most else { throw .expected("a time of at most \(Quantity.text(ofTime: most))") }
            configuration[keyPath: field] = time
        case .optionalTime(let field): configuration[keyPath: field] = try Quantity.optionalTime(text)
        case .size(let field, let range):
            let size = try text.isEmpty ? initial[keyPath: field] : Quantity.size(text)
            guard range.contains(size) else {
                throw .expected(
                    "a size from \(Quantity.text(ofSize: range.lowerBound)) to \(Quantity.text(ofSize: range.upperBound))"
                )
            }
            configuration[keyPath: field] = size
        case .count(let field):
            configuration[keyPath: field] = try text.isEmpty ? initial[keyPath: field] : Quantity.count(text)
        case .optionalCount(let field): configuration[keyPath: field] = try text.isEmpty ? nil : Quantity.count(text)
        case .durability(let field):
            configuration[keyPath: field] =
                try text.isEmpty ? initial[keyPath: field] : choice(text, Durability.allCases, \.rawValue)
        case .level(let field):
            configuration[keyPath: field] =
                try text.isEmpty ? initial[keyPath: field] : choice(text, Log.Level.allCases, \.name)
        }
    }

    private func choice<Choice>(
        _ text: String, _ all: [Choice], _ name: (Choice) -> String
    ) throws(ConfigurationProblem) -> Choice {
        guard let choice = all.first(where: { name($0) == text }) else {
            throw .expected("one of \(all.map(name).joined(separator: ", "))")
        }
        return choice
    }
}

/// Why the text of a setting was not taken.
package enum ConfigurationProblem: Error, Equatable, Sendable {
    case expected(String)
}
