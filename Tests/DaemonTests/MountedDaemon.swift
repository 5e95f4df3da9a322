import Foundation
import TestSupport

/// The real daemon in a mount namespace of its own, so that its disks may be small, full or read-only. Needs no root, where
/// the kernel lets users have namespaces.
final class MountedDaemon {
    let daemon: RunningDaemon
    private let process: ChildProcess

    struct NotServing: Error, CustomStringConvertible {
        let description: String
    }

    private static let isRoot = geteuid() == 0
    /// What unshare(1) is to make. From a namespace of users nobody sees what root's processes are.
    static let namespaces = isRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"]

    /// `mounts` are shell commands that are run before it, with `$ROOT` and `$STATE`.
    init(configuration: [String] = [], mounts: String) throws {
        daemon = try RunningDaemon(configuration: configuration, starts: false)
        for path in [daemon.root, daemon.state] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        let script = "set -e; \(mounts); exec \"$0\" \"$@\""
        process = try ChildProcess(
            "/usr/bin/unshare",
            Self.namespaces + ["/bin/sh", "-c", script, daemonProgram]
                + daemon.commandLine,
            environment: ["ROOT": daemon.root, "STATE": daemon.state, "HOME": daemon.directory.path])
        let daemon = self.daemon
        let serves = eventually(seconds: 20) { (try? SettingsPeer(daemon).groups()) != nil }
        if !serves {
            process.kill(SIGKILL)
            throw NotServing(description: try process.finish().errors)
        }
    }

    /// A path as the daemon sees it.
    func inside(_ path: String) -> String { "/proc/\(process.pid)/root\(path)" }

    /// Runs a command in the daemon's namespace.
    func run(_ command: String) throws {
        let outcome = try ChildProcess.run(
            "/usr/bin/nsenter",
            ["-t", "\(process.pid)"] + (Self.isRoot ? ["-m"] : ["-U", "-m", "--preserve-credentials"])
                + ["/bin/sh", "-c", command],
            environment: ["ROOT": daemon.root, "STATE": daemon.state])
        if outcome.code != 0 { throw NotServing(description: "\(command): \(outcome.errors)") }
    }

    func stop() throws -> ChildProcess.Outcome {
        process.kill(SIGTERM)
        return try process.finish()
    }
}
