import Foundation
import Testing

@Suite("Units")
struct UnitFileTests {
    static let units = ["appgroupd.socket", "appgroupd.service", "appgroup-exec@.service"]
    /// As the units say it; `make install` puts the true path in its place.
    static let program = "/usr/libexec/appgroupd"

    @Test("systemd-analyze --user verify has nothing to say")
    func verify() throws {
        let stage = FileManager.default.temporaryDirectory.appendingPathComponent("units-\(UUID().uuidString)")
        let runtime = stage.appendingPathComponent("runtime")
        try FileManager.default.createDirectory(
            at: runtime, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: stage) }
        for unit in Self.units {
            // verify wants the program to be there; any will do.
            let text = try SourceTree.text("systemd/\(unit)").replacing(Self.program, with: "/bin/true")
                .replacing("/usr/bin/appgroupctl", with: "/bin/true")
            try Data(text.utf8).write(to: stage.appendingPathComponent(unit))
        }
        let result = try Self.systemdAnalyze(
            ["--user", "verify", "--man=no"] + Self.units.map { stage.appendingPathComponent($0).path },
            runtimeDirectory: runtime.path)
        // It ends with 0 on keys that it does not know: what it says counts.
        #expect(result.messages == "")
        #expect(result.status == 0)
    }

    @Test("the installed program's path stands in the service once, for `make install` to replace")
    func execStart() throws {
        let service = try SourceTree.text("systemd/appgroupd.service")
        #expect(service.ranges(of: Self.program).count == 1)
        #expect(service.contains("\nExecStart=\(Self.program)\n"))
    }

    @Test(
        "the service has no directive that brings a user namespace or systemd 252's misplaced directories",
        arguments: [
            "PrivateUsers", "ProtectSystem", "ProtectHome", "ReadOnlyPaths", "ReadWritePaths", "InaccessiblePaths",
            "BindPaths", "TemporaryFileSystem", "PrivateTmp", "PrivateDevices", "PrivateNetwork", "PrivateIPC",
            "PrivateMounts", "ProtectHostname", "ProtectClock", "ProtectKernelTunables", "ProtectKernelModules",
            "ProtectKernelLogs", "RootDirectory", "CapabilityBoundingSet", "StateDirectory", "LogsDirectory",
            "RuntimeDirectory",
        ])
    func noNamespace(_ directive: String) throws {
        let service = try SourceTree.text("systemd/appgroupd.service")
        #expect(!service.split(separator: "\n").contains { $0.hasPrefix("\(directive)=") })
    }

    private static func systemdAnalyze(
        _ arguments: [String], runtimeDirectory: String
    ) throws -> (status: Int32, messages: String) {
        let program = "/usr/bin/systemd-analyze"
        try #require(
            FileManager.default.isExecutableFile(atPath: program),
            "\(program) is missing: `make deps` installs Debian's package systemd")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ["XDG_RUNTIME_DIR": runtimeDirectory, "HOME": runtimeDirectory, "PATH": "/usr/bin:/bin"]
        let messages = Pipe()
        process.standardError = messages
        process.standardOutput = messages
        process.standardInput = FileHandle.nullDevice
        try process.run()
        let data = messages.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
