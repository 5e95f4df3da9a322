import Foundation
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

    @Test func `every key of the file that is shipped is known and shows its default`() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let shipped = try String(contentsOf: root.appending(path: "etc/appgroupd/appgroupd.conf"), encoding: .utf8)
        var names: [String] = []
        var uncommented = ""
        for line in shipped.split(separator: "\n") {
            if line.hasPrefix("[") { uncommented += line + "\n" }
            guard line.hasPrefix("#"), let equals = line.firstIndex(of: "=") else { continue }
            let name = line[line.index(after: line.startIndex)..<equals].trimmingCharacters(in: .whitespaces)
            guard Configuration.Key(rawValue: name) != nil else { continue }
            names.append(name)
            uncommented += line.dropFirst() + "\n"
        }
        #expect(names.sorted() == Configuration.Key.allCases.map(\.rawValue).sorted())
        let reader = read(uncommented)
        #expect(reader.warnings == [])
        #expect(reader.configuration == Configuration())
    }

    @Test(
        arguments: [
            ("SyncIntervalSec=500ms", 500_000), ("SyncIntervalSec=2", 2_000_000),
            ("SyncIntervalSec=1min 30s", 90_000_000),
            ("SyncIntervalSec = 1.5s ", 1_500_000), ("SyncIntervalSec=", 1_000_000),
        ] as [(String, Int64)])
    func `times are systemd's`(_ line: String, _ microseconds: Int64) {
        let reader = read("[Daemon]\n\(line)\n")
        #expect(reader.warnings == [])
        #expect(reader.configuration.syncInterval == microseconds)
    }

    @Test(arguments: [
        ("MaxValueSize=4096", 4096), ("MaxValueSize=64K", 65536), ("MaxValueSize=2M", 2 << 20),
        ("MaxValueSize=1G", 1 << 30),
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
        #expect(paths.configurationFiles.first == directory.file("appgroupd/appgroupd.conf"))
        #expect(throws: SystemError.self) { try ConfigurationReader.load(directory.file("none"), paths: paths) }
        var usual = paths
        usual.configurationFiles = [directory.file("none"), directory.file("some")]
        #expect(try ConfigurationReader.load(nil, paths: usual).configuration == Configuration())
        try directory.write("some", "[Daemon]\nMaxKeys=7\n")
        #expect(try ConfigurationReader.load(nil, paths: usual).configuration.limits.keysPerGroup == 7)
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
