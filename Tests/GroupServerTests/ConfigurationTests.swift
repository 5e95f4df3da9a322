import Foundation
import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import TestSupport
import Testing

@testable import GroupServer

@Suite struct ConfigurationTests {
    private func read(_ text: String) -> ConfigurationReader {
        var reader = ConfigurationReader()
        reader.read(text, from: "a.conf")
        return reader
    }

    private static func text(_ path: String) throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    @Test func `the README has every key with its default and what it is for`() throws {
        let readme = try Self.text("README.md").split(separator: "\n")
        let rows = readme.filter { $0.hasPrefix("| `") && $0.contains("=` |") }
        #expect(
            rows.map(String.init)
                == ConfigurationKey.all.map { key in
                    let standard = key.standard.isEmpty ? "" : "`\(key.standard)`"
                    return "| `\(key.name)=` | \(standard) | \(key.summary) |"
                })
    }

    @Test(arguments: ["appgroupd.conf", "appgroupd"])
    func `the manual pages are sound, and have every key`(_ name: String) throws {
        let page = try #require(ManualPages.page(named: name))
        #expect(page.hasPrefix(".TH "))
        if name == "appgroupd.conf" {
            for key in ConfigurationKey.all { #expect(page.contains("\n.B \(key.name)=\n")) }
        }
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/groff") else { return }
        let outcome = try ChildProcess.run("/usr/bin/groff", ["-man", "-ww", "-Tutf8", "-z"], input: page)
        #expect(outcome.errors == "")
        #expect(outcome.code == 0)
    }

    @Test func `every key of the file that is shipped is known and shows its default`() throws {
        let shipped = try Self.text("etc/appgroupd/appgroupd.conf")
        var uncommented = ""
        var standards: [String: String] = [:]
        for line in shipped.split(separator: "\n") {
            if line.hasPrefix("[") { uncommented += line + "\n" }
            guard line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
            let name = String(line[line.index(after: line.startIndex)..<equals])
            guard ConfigurationKey.named(name) != nil else { continue }
            standards[name] = String(line[line.index(after: equals)...])
            uncommented += line.dropFirst() + "\n"
        }
        for key in ConfigurationKey.all { #expect(standards[key.name] == key.standard, "\(key.name)") }
        let reader = read(uncommented)
        #expect(reader.warnings == [])
        #expect(reader.configuration == Configuration())
    }

    @Test(
        arguments: [
            ("SyncIntervalSec=500ms", 500_000), ("SyncIntervalSec=2", 2_000_000),
            ("SyncIntervalSec=1min 30s", 90_000_000),
            ("SyncIntervalSec = 1.5s ", 1_500_000), ("SyncIntervalSec=2hours 5usec", 7_200_000_005),
            ("SyncIntervalSec=", 1_000_000),
        ] as [(String, Int64)])
    func `times are systemd's`(_ line: String, _ microseconds: Int64) {
        let reader = read("[Daemon]\n\(line)\n")
        #expect(reader.warnings == [])
        #expect(reader.configuration.syncInterval == microseconds)
    }

    @Test(
        arguments: [
            ("ExitIdleSec=30s", 30_000_000), ("ExitIdleSec=2min", 120_000_000), ("ExitIdleSec=0", nil),
            ("ExitIdleSec=infinity", nil), ("ExitIdleSec=1s\nExitIdleSec=", nil),
        ] as [(String, Int64?)])
    func `a time that may be none`(_ lines: String, _ microseconds: Int64?) {
        let reader = read("[Daemon]\n\(lines)\n")
        #expect(reader.warnings == [])
        #expect(reader.configuration.exitIdleTime == microseconds)
    }

    @Test(arguments: [
        ("MaxValueSize=4096", 4096), ("MaxValueSize=64K", 65536), ("MaxValueSize=2M", 2 << 20),
        ("MaxValueSize=1G", 1 << 30), ("MaxValueSize=7B", 7),
    ])
    func `sizes are to the base of 1024`(_ line: String, _ bytes: Int) {
        #expect(read("[Daemon]\n\(line)\n").configuration.limits.valueSize == bytes)
    }

    @Test(arguments: [
        ("Durability=often", "a.conf:2: Durability= takes one of process, power; the line is ignored"),
        (
            "SyncIntervalSec=soon",
            "a.conf:2: SyncIntervalSec= takes a time such as 500ms, 1s, 5min or 30d; the line is ignored"
        ),
        (
            "SyncIntervalSec=-1s",
            "a.conf:2: SyncIntervalSec= takes a time such as 500ms, 1s, 5min or 30d; the line is ignored"
        ),
        (
            "SyncIntervalSec=1e300s",
            "a.conf:2: SyncIntervalSec= takes a time such as 500ms, 1s, 5min or 30d; the line is ignored"
        ),
        (
            "ExitIdleSec=never",
            "a.conf:2: ExitIdleSec= takes a time such as 500ms, 1s, 5min or 30d, or infinity; the line is ignored"
        ),
        ("ProjectionDelaySec=1s", "a.conf:2: ProjectionDelaySec= takes a time of at most 40ms; the line is ignored"),
        (
            "MaxGroupSize=99999999999999999999G",
            "a.conf:2: MaxGroupSize= takes a size such as 4096, 64K, 8M or 1G; the line is ignored"
        ),
        (
            "MaxGroupSize=9999999999G",
            "a.conf:2: MaxGroupSize= takes a size such as 4096, 64K, 8M or 1G; the line is ignored"
        ),
        ("MaxKeys=0", "a.conf:2: MaxKeys= takes a whole number above 0; the line is ignored"),
        ("MaxMessageSize=9M", "a.conf:2: MaxMessageSize= takes a size from 4K to 8M; the line is ignored"),
        ("durability=power", "a.conf:2: unknown key durability; did you mean Durability?"),
        ("Frobnicate=1", "a.conf:2: unknown key Frobnicate"),
        ("Durability", "a.conf:2: expected Key=Value"),
    ])
    func `what is not understood is reported with its place and changes nothing`(_ line: String, _ warning: String) {
        let reader = read("[Daemon]\n\(line)\n")
        #expect(reader.warnings == [warning])
        #expect(reader.configuration == Configuration())
    }

    @Test func `a backslash at the end of a line goes on, over comments too`() {
        let reader = read("[Daemon]\nSyncIntervalSec=1min \\\n# c\n  30s\nMaxKey=1\n")
        #expect(reader.configuration.syncInterval == 90_000_000)
        #expect(reader.warnings == ["a.conf:5: unknown key MaxKey; did you mean MaxKeys?"])
    }

    @Test func `sections and comments`() {
        let reader = read("# c\n; c\nDurability=power\n[Other]\nDurability=power\n[Daemon]\n\tDurability=power\r\n")
        #expect(
            reader.warnings == [
                "a.conf:3: a setting before any section; write [Daemon] above it",
                "a.conf:4: unknown section [Other]; the one section is [Daemon]",
            ])
        #expect(reader.configuration.durability == .power)
    }

    @Test func `a file that is named must be there, the usual ones need not`() throws {
        let directory = try TemporaryDirectory()
        let paths = try Paths(
            .init(root: "/r", state: "/s"), environment: { ["XDG_CONFIG_HOME": directory.path][$0] }, home: "/h")
        #expect(paths.configuration.paths.first == directory.file("appgroupd"))
        #expect(throws: SystemError.self) { try ConfigurationReader.load(directory.file("none"), paths: paths) }
        var usual = paths
        usual.configuration = ConfigurationDirectories([directory.file("none"), directory.path])
        #expect(try ConfigurationReader.load(nil, paths: usual).configuration == Configuration())
        try directory.write("appgroupd.conf", "[Daemon]\nMaxKeys=7\n")
        #expect(try ConfigurationReader.load(nil, paths: usual).configuration.limits.keysPerGroup == 7)
    }
}

@Suite("appgroupd.conf and its drop-ins (UAPI.6)") struct ConfigurationFilesTests {
    private let root: TemporaryDirectory
    private let directories: ConfigurationDirectories

    init() throws {
        root = try TemporaryDirectory()
        directories = ConfigurationDirectories(["user", "etc", "run", "lib"].map(root.file))
    }

    private func put(_ path: String, _ text: String) throws {
        let url = URL(filePath: root.file(path))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func names() throws -> [String] {
        try directories.configurationFiles().map { String($0.path.dropFirst(root.path.count + 1)) }
    }

    @Test func `no file at all is fine`() throws {
        #expect(try names() == [])
    }

    @Test func `the highest main file counts alone, drop-ins of all directories by name, of a name the highest`() throws
    {
        try put("lib/appgroupd.conf", "[Daemon]")
        try put("lib/appgroupd.conf.d/50-b.conf", "[Daemon]")
        try put("lib/appgroupd.conf.d/10-a.conf", "[Daemon]")
        #expect(
            try names() == ["lib/appgroupd.conf", "lib/appgroupd.conf.d/10-a.conf", "lib/appgroupd.conf.d/50-b.conf"])
        try put("etc/appgroupd.conf", "[Daemon]")
        try put("etc/appgroupd.conf.d/10-a.conf", "[Daemon]")
        try put("run/appgroupd.conf.d/20-c.conf", "[Daemon]")
        try put("user/appgroupd.conf.d/90-d.conf", "[Daemon]")
        try put("user/appgroupd.conf.d/README", "no configuration")
        try put("user/appgroupd.conf.d/.hidden.conf", "no configuration")
        #expect(
            try names() == [
                "etc/appgroupd.conf", "etc/appgroupd.conf.d/10-a.conf", "run/appgroupd.conf.d/20-c.conf",
                "lib/appgroupd.conf.d/50-b.conf", "user/appgroupd.conf.d/90-d.conf",
            ])
    }

    @Test func `an empty file and a link to the null device mask`() throws {
        try put("lib/appgroupd.conf", "[Daemon]")
        try put("lib/appgroupd.conf.d/10-a.conf", "[Daemon]")
        try put("lib/appgroupd.conf.d/20-b.conf", "[Daemon]")
        try put("etc/appgroupd.conf", "")
        try put("etc/appgroupd.conf.d/10-a.conf", "")
        try FileManager.default.createSymbolicLink(
            atPath: root.file("etc/appgroupd.conf.d/20-b.conf"), withDestinationPath: "/dev/null")
        #expect(try names() == [])
    }

    @Test func `later files win key by key, and warnings name their own file`() throws {
        try put("etc/appgroupd.conf", "[Daemon]\nMaxKeys=1\nMaxGroups=2\n")
        try put("lib/appgroupd.conf.d/10-a.conf", "[Daemon]\nMaxKeys=3\nMaxGroup=1\n")
        try put("user/appgroupd.conf.d/20-b.conf", "[Daemon]\nMaxGroups=\n")
        var paths = try Paths(.init(root: "/r", state: "/s"), environment: { _ in nil }, home: "/h")
        paths.configuration = directories
        let reader = try ConfigurationReader.load(nil, paths: paths)
        #expect(reader.configuration.limits.keysPerGroup == 3)
        #expect(reader.configuration.groups == Configuration().groups)
        let place = root.file("lib/appgroupd.conf.d/10-a.conf")
        #expect(reader.warnings == ["\(place):3: unknown key MaxGroup; did you mean MaxGroups?"])
        #expect(reader.paths.count == 3)
    }

    @Test func `one that cannot be read is an error of the whole`() throws {
        try put("etc/appgroupd.conf.d/10-a.conf/file", "")
        #expect(throws: SystemError.self) { try directories.configurationFiles() }
    }
}

@Suite struct PathsTests {
    @Test func `the XDG variables decide, relative ones are ignored, options win`() throws {
        let environment = ["HOME": "/home/u", "XDG_STATE_HOME": "relative", "XDG_RUNTIME_DIR": "/run/user/7"]
        let paths = try Paths(.init(), environment: { environment[$0] }, home: "/other")
        #expect(paths.root == "/home/u/.local/share/appgroups")
        #expect(paths.state == "/home/u/.local/state/appgroupd")
        #expect(paths.socket == "/run/user/7/appgroupd/io.appgroupd.Settings")
        #expect(paths.registryLink == "/run/user/7/varlink/registry/io.appgroupd.Settings")
        let given = try Paths(.init(root: "/a", state: "/b", socket: "/c"), environment: { _ in nil }, home: nil)
        #expect([given.root, given.state, given.socket] == ["/a", "/b", "/c"])
        #expect(given.registryLink == nil)
    }

    @Test func `no home and relative options are errors`() {
        #expect(throws: Paths.Problem.noHome) { try Paths(.init(), environment: { _ in nil }, home: nil) }
        #expect(throws: Paths.Problem.notAbsolute(option: "--root", path: "r")) {
            try Paths(.init(root: "r", state: "/s"), environment: { _ in nil }, home: nil)
        }
    }
}

@Suite struct CommandLineTests {
    @Test func `options in both forms`() throws {
        let options = try CommandLineOptions(["--root", "/r", "--state=/s", "--socket=/k", "--config", "/c"])
        #expect(options.paths == .init(root: "/r", state: "/s", socket: "/k"))
        #expect(options.configuration == "/c")
        #expect(options.action == .run)
        #expect(try CommandLineOptions(["-h"]).action == .help)
        #expect(try CommandLineOptions(["--check-config"]).action == .checkConfiguration)
    }

    @Test(arguments: [["--root"], ["--root="], ["--nope"], ["file"], ["--socket", ""]])
    func `wrong ones say what is wrong`(_ arguments: [String]) {
        #expect(throws: CommandLineOptions.UsageError.self) { try CommandLineOptions(arguments) }
    }
}
