import Foundation
import TestSupport

/// The real daemon in a mount namespace of its own, so that its disks may be small, full or read-only. Needs no root, where
/// the kernel lets users have namespaces.
final class MountedDaemon {
    let daemon: RunningDaemon
    private let process: ChildProcess
    private let isOfUsers: Bool

    struct NotServing: Error, CustomStringConvertible {
        let description: String
    }

    private static let isRoot = geteuid() == 0
    /// What unshare(1) is to make. From a namespace of users nobody sees what root's processes are.
    static let namespaces = isRoot ? ["--mount"] : ofUsers
    private static let ofUsers = ["--user", "--map-root-user", "--mount"]

    /// Passes on what clients and the daemon say to each other, as long as the daemon lives.
    private static let relay = """
        import os, socket, sys, threading
        def pump(source, sink):
            try:
                while data := source.recv(65536): sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)
            except OSError: pass
        os.makedirs(os.path.dirname(sys.argv[1]), 0o700, exist_ok=True)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[1])
        listener.listen(64)
        listener.settimeout(1)
        parent = os.getppid()
        while os.getppid() == parent:
            try: client, _ = listener.accept()
            except TimeoutError: continue
            client.settimeout(None)
            daemon = socket.socket(socket.AF_UNIX)
            try: daemon.connect(sys.argv[2])
            except OSError:
                client.close()
                continue
            for pair in (client, daemon), (daemon, client):
                threading.Thread(target=pump, args=pair, daemon=True).start()
        """

    /// `mounts` are shell commands that are run before it, with `$ROOT` and `$STATE`. `ofUsers` puts it into a namespace of
    /// users, which has limits of its own; there it sees clients through a relay only, which stands in the namespace.
    init(configuration: [String] = [], ofUsers: Bool = false, mounts: String) throws {
        let daemon = try RunningDaemon(configuration: configuration, starts: false)
        self.daemon = daemon
        isOfUsers = ofUsers || !Self.isRoot
        for path in [daemon.root, daemon.state] {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        let inner = ofUsers ? daemon.directory.file("inner/socket") : daemon.socket
        let relay = ofUsers ? "python3 -c \"$RELAY\" \(daemon.socket) \(inner) & " : ""
        let script = "set -e; \(mounts); \(relay)exec \"$0\" \"$@\""
        process = try ChildProcess(
            "/usr/bin/unshare",
            (ofUsers ? Self.ofUsers : Self.namespaces) + ["/bin/sh", "-c", script, daemonProgram]
                + daemon.commandLine.map { $0 == daemon.socket ? inner : $0 },
            environment: [
                "ROOT": daemon.root, "STATE": daemon.state, "HOME": daemon.directory.path, "RELAY": Self.relay,
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin",
            ])
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
            ["-t", "\(process.pid)"] + (isOfUsers ? ["-U", "-m", "--preserve-credentials"] : ["-m"])
                + ["/bin/sh", "-c", command],
            environment: ["ROOT": daemon.root, "STATE": daemon.state])
        if outcome.code != 0 { throw NotServing(description: "\(command): \(outcome.errors)") }
    }

    func stop() throws -> ChildProcess.Outcome {
        process.kill(SIGTERM)
        return try process.finish()
    }
}
