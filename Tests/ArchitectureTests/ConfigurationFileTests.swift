import Testing

@Suite("etc/appgroupd/appgroupd.conf")
struct ConfigurationFileTests {
    private static func lines() throws -> [Substring] {
        try SourceTree.text("etc/appgroupd/appgroupd.conf").split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// `#Key=value`; explanations have a blank after the `#`.
    private static func setting(_ line: Substring) -> (key: String, value: String)? {
        guard line.first == "#", let next = line.dropFirst().first, next != " ", let mark = line.firstIndex(of: "=")
        else { return nil }
        return (String(line[line.index(after: line.startIndex)..<mark]), String(line[line.index(after: mark)...]))
    }

    @Test("every key stands there once")
    func keys() throws {
        let keys = try Self.lines().compactMap(Self.setting).map(\.key)
        #expect(Set(keys).count == keys.count)
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
