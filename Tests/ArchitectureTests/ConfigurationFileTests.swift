import Testing

@Suite("etc/appgroupd/appgroupd.conf")
struct ConfigurationFileTests {
    /// Every key that the daemon reads, with its default.
    static let defaults = [
        "Durability": "process", "SyncIntervalSec": "1s", "ProjectionDelaySec": "25ms", "HistoryCommits": "10000",
        "HistorySec": "30d", "MaxMessageSize": "8M", "MaxValueSize": "1M", "MaxGroupSize": "4M", "MaxKeys": "1000000",
        "MaxGroups": "10000", "MaxConnections": "", "MaxQueueSize": "1M", "SettleSec": "20ms", "PollIntervalSec": "1s",
        "LogLevel": "info",
    ]

    private static func lines() throws -> [Substring] {
        try SourceTree.text("etc/appgroupd/appgroupd.conf").split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// `#Key=value`; explanations have a blank after the `#`.
    private static func setting(_ line: Substring) -> (key: String, value: String)? {
        guard line.first == "#", let next = line.dropFirst().first, next != " ", let mark = line.firstIndex(of: "=")
        else { return nil }
        return (String(line[line.index(after: line.startIndex)..<mark]), String(line[line.index(after: mark)...]))
    }

    @Test("every key stands there once, with its default")
    func keys() throws {
        let settings = try Self.lines().compactMap(Self.setting)
        #expect(settings.map(\.key).sorted() == Self.defaults.keys.sorted())
        for setting in settings {
            #expect(setting.value == Self.defaults[setting.key], "\(setting.key)")
        }
    }

    @Test("every key is explained above it")
    func explanations() throws {
        let lines = try Self.lines()
        for (index, line) in lines.enumerated() where Self.setting(line) != nil {
            let above = lines[..<index].last { Self.setting($0) == nil }
            #expect(above?.hasPrefix("# ") == true, "line \(index + 1): \(line)")
        }
    }

    @Test("nothing is set: the file as shipped changes nothing")
    func onlyDefaults() throws {
        #expect(try Self.lines().filter { !$0.isEmpty && !$0.hasPrefix("#") } == ["[Daemon]"])
    }
}
