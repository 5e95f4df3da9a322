import Foundation
import TestSupport
import Testing

@Suite("The configuration as administrators see it")
struct ConfigurationTests {
    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        try FileManager.default.createDirectory(
            atPath: home.file("config/appgroupd/appgroupd.conf.d"), withIntermediateDirectories: true)
        try home.write("config/appgroupd/appgroupd.conf", "[Daemon]\nMaxKeys=1\n")
        try home.write("config/appgroupd/appgroupd.conf.d/50-more.conf", "[Daemon]\nMaxKey=2\nSyncIntervalSec=soon\n")
    }

    private func run(_ program: String, _ arguments: [String]) throws -> ChildProcess.Outcome {
        let environment = ["HOME": home.path, "XDG_CONFIG_HOME": home.file("config"), "PATH": "/usr/bin:/bin"]
        return try ChildProcess.run(builtProgram(program), arguments, environment: environment, inheriting: false)
    }

    @Test("cat-config prints every file under its name, without a daemon")
    func catConfig() throws {
        let outcome = try run("appgroupctl", ["cat-config"])
        #expect(outcome.code == 0)
        let main = "# \(home.file("config/appgroupd/appgroupd.conf"))\n[Daemon]\nMaxKeys=1\n"
        let more = "# \(home.file("config/appgroupd/appgroupd.conf.d/50-more.conf"))\n[Daemon]\nMaxKey=2\n"
        #expect(outcome.output.hasPrefix(main))
        #expect(outcome.output.contains("\n\(more)SyncIntervalSec=soon\n"))
    }

    @Test("--check-config says what is wrong, where, and what may have been meant, and exits 78")
    func checkConfig() throws {
        let outcome = try run("appgroupd", ["--check-config"])
        let file = home.file("config/appgroupd/appgroupd.conf.d/50-more.conf")
        #expect(outcome.code == 78)
        #expect(outcome.output.contains("\(file):2: unknown key MaxKey; did you mean MaxKeys?\n"))
        #expect(outcome.output.contains("\(file):3: SyncIntervalSec= takes a time such as "))
        try home.write("config/appgroupd/appgroupd.conf.d/50-more.conf", "")
        #expect(try run("appgroupd", ["--check-config"]).code == 0)
    }
}
