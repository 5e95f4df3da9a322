import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("The command line of appgroupd")
struct CommandLineTests {
    static func run(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ChildProcess.Outcome {
        try ChildProcess.run(builtProgram("appgroupd"), arguments, environment: environment, inheriting: false)
    }

    @Test("help and version go to standard output")
    func help() throws {
        let help = try Self.run(["--help"])
        #expect(help.code == 0)
        #expect(help.errors == "")
        for option in ["--config", "--root", "--state", "--socket", "--check-config", "--version"] {
            #expect(help.output.contains(option))
        }
        #expect(try Self.run(["-h"]) == help)
        let version = try Self.run(["--version"])
        #expect(version.code == 0)
        #expect(version.output.hasPrefix("appgroupd 0."))
    }

    @Test(
        "wrong usage is 64, and says what",
        arguments: [
            ["--nonsense"], ["--root"], ["--socket", ""], ["argument"], ["--root="],
        ])
    func usage(_ arguments: [String]) throws {
        let outcome = try Self.run(arguments)
        #expect(outcome.code == 64)
        #expect(outcome.output == "")
        #expect(outcome.errors.contains("--help") || outcome.errors.contains("needs a path"))
    }

    @Test("relative paths are refused")
    func relative() throws {
        let outcome = try Self.run(["--root", "here", "--state", "/tmp/x", "--socket", "/tmp/x/s"])
        #expect(outcome.code != 0)
        #expect(outcome.errors.contains("absolute"))
    }

    @Test("--check-config tells what is wrong, by line")
    func checkConfiguration() throws {
        let directory = try TemporaryDirectory()
        let good = try directory.write("good.conf", "# comment\n[Daemon]\nMaxValueSize=1M\nDurability=power\n")
        let arguments = ["--root", directory.file("r"), "--state", directory.file("s"), "--check-config", "--config"]
        #expect(try Self.run(arguments + [good]).code == 0)
        let bad = try directory.write("bad.conf", "[Daemon]\nMaxValuesize=1M\nDurability=perhaps\nSyncIntervalSec=1s\n")
        let outcome = try Self.run(arguments + [bad])
        #expect(outcome.code == 78)
        #expect(outcome.output.contains("bad.conf:2"))
        #expect(outcome.output.contains("MaxValueSize"))
        #expect(outcome.output.contains("bad.conf:3"))
        #expect(!outcome.output.contains("bad.conf:4"))
        #expect(try Self.run(arguments + [directory.file("none.conf")]).code == 78)
        // Nothing was made by asking.
        #expect(!directory.exists("r"))
        #expect(!directory.exists("s"))
    }

    @Test("the shipped configuration is without fault")
    func shipped() throws {
        let source = URL(filePath: #filePath).resolvingSymlinksInPath()
        let file = source.deletingLastPathComponent().appending(path: "../../etc/appgroupd/appgroupd.conf").standardized
        let outcome = try Self.run(["--root", "/tmp/r", "--state", "/tmp/s", "--check-config", "--config", file.path])
        #expect(outcome.code == 0)
        #expect(outcome.output == "")
    }

    @Test("without XDG_RUNTIME_DIR it says that there is no place for the socket, and what to do")
    func noRuntimeDirectory() throws {
        let directory = try TemporaryDirectory()
        let outcome = try Self.run([], ["HOME": directory.path])
        #expect(outcome.code == 78)
        #expect(outcome.errors.contains("XDG_RUNTIME_DIR"))
        #expect(outcome.errors.contains("--socket"))
    }

    @Test(
        "paths come from the XDG variables, relative ones are ignored, and defaults are below HOME",
        arguments: [true, false])
    func directories(hasVariables: Bool) throws {
        let directory = try TemporaryDirectory()
        var environment = ["HOME": directory.path, "XDG_RUNTIME_DIR": directory.file("run")]
        environment["XDG_DATA_HOME"] = hasVariables ? directory.file("data") : "relative"
        environment["XDG_STATE_HOME"] = hasVariables ? directory.file("states") : nil
        try FileManager.default.createDirectory(
            atPath: directory.file("run"), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        let process = try ChildProcess(builtProgram("appgroupd"), environment: environment, inheriting: false)
        let socket = directory.file("run/appgroupd/io.appgroupd.Settings")
        #expect(eventually { (try? RawPeer(path: socket)) != nil })
        let peer = SettingsPeer(try RawPeer(path: socket, timeoutSeconds: 20))
        let status = try #require(try peer.status())
        #expect(status.root == directory.file(hasVariables ? "data/appgroups" : ".local/share/appgroups"))
        #expect(status.state == directory.file(hasVariables ? "states/appgroupd" : ".local/state/appgroupd"))
        #expect(Plist.mode(directory.file("run/appgroupd")) == 0o700)
        #expect(Plist.mode(socket) == 0o600)
        #expect(Plist.mode(status.root) == 0o700)
        process.kill(SIGTERM)
        #expect(try process.finish().code == 0)
    }

    @Test("a configuration with faults is used as far as it is sound, and warned about")
    func faultyConfiguration() throws {
        let daemon = try RunningDaemon(configuration: ["Nonsense=1", "MaxKeys=1", "MaxGroups=many"])
        let peer = try daemon.peer(with: .example)
        try peer.write(.example, [.set("a", .integer(1))])
        #expect(try peer.refusal(of: .example, [.set("b", .integer(1))]) != nil)
        let errors = try daemon.stop().errors
        #expect(errors.contains("appgroupd.conf:2"))
        #expect(errors.contains("appgroupd.conf:4"))
    }
}
