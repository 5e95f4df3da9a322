import Foundation
import TestSupport

/// A real systemd user manager in namespaces of its own, with a journal and a home directory, into whose view of `/usr` and
/// `/etc` appgroupd is installed. Everything in it ends with the object. Used by one test at a time; only for root.
final class UserManager {
    /// Why no test of this kind can run here; nil where they can.
    static let obstacle: String? = {
        if geteuid() != 0 { return "a user manager of its own needs root, to mount" }
        let trial = try? ChildProcess.run("/usr/bin/unshare", ["--mount", "--pid", "--fork", "/bin/true"])
        return trial?.code == 0 ? nil : "namespaces cannot be made here: \(trial?.errors ?? "no unshare")"
    }()

    /// Everything is below: `home`, and the runtime directory `run`.
    let directory: TemporaryDirectory
    private let process: ChildProcess
    /// Process 1 of the namespace, as it is known outside.
    private let inside: String

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let service = "appgroupd.service"
    static let socketUnit = "appgroupd.socket"

    /// Starts the manager; `installs`: with appgroupd installed as its README says, and the socket enabled.
    init(installs: Bool = true) throws {
        directory = try TemporaryDirectory("appgroup-manager")
        process = try ChildProcess(Self.script, ["outside", directory.path])
        guard try process.readLine() == "ready" else {
            process.kill(SIGKILL)
            throw Failure(description: "no user manager: \(try process.finish().errors)")
        }
        let children = try String(contentsOfFile: "/proc/\(process.pid)/task/\(process.pid)/children", encoding: .utf8)
        inside = children.trimmingCharacters(in: .whitespaces)
        guard installs else { return }
        try install()
        try run("systemctl --user enable --now appgroupd.socket")
    }

    deinit {
        process.kill(SIGKILL)
        _ = try? process.waitForEnd()
        removeControlGroups()
    }

    private static let repository = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    private static let script = "\(repository)/Tests/Fixtures/systemd/manager.sh"

    /// They can be removed once the last process of the namespace is gone.
    private func removeControlGroups() {
        let name = URL(filePath: directory.path).lastPathComponent
        let groups = "/sys/fs/cgroup/*/appgroup-tests/\(name) /sys/fs/cgroup/appgroup-tests/\(name)"
        let removal = "find \(groups) -depth -type d -exec rmdir {} + 2>&1 | grep -q busy"
        let script = "for i in $(seq 500); do \(removal) || break; sleep 0.02; done"
        _ = try? ChildProcess.run("/bin/sh", ["-c", script])
    }
}

// MARK: - In the namespace

extension UserManager {
    private var environment: [String: String] {
        [
            "HOME": directory.file("home"), "XDG_RUNTIME_DIR": directory.file("run"),
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8",
        ]
    }

    private var entrance: [String] { ["-t", inside, "-m", "-p", "/bin/bash", "-c"] }

    /// Runs a command of the shell as the user, whatever comes of it.
    func attempt(_ command: String) throws -> ChildProcess.Outcome {
        try ChildProcess.run("/usr/bin/nsenter", entrance + [command], environment: environment, inheriting: false)
    }

    /// The same where it must succeed.
    ///
    /// - Returns: what it wrote.
    @discardableResult
    func run(_ command: String) throws -> String {
        let outcome = try attempt(command)
        guard outcome.code == 0 else {
            throw Failure(description: "\(command): \(outcome.code) \(outcome.errors)\(outcome.output)\(journal)")
        }
        return outcome.output
    }

    /// Starts a command that goes on.
    func start(_ command: String) throws -> ChildProcess {
        try ChildProcess(
            "/usr/bin/nsenter", entrance + ["exec \(command)"], environment: environment, inheriting: false)
    }

    /// `make` in the project's directory with the programs of this build.
    func make(_ target: String, _ variables: String = "") throws {
        let programs = "DAEMON=\(builtProgram("appgroupd")) TOOL=\(builtProgram("appgroupctl"))"
        try run("make --no-print-directory -C \(Self.repository) \(target) \(programs) \(variables)")
    }

    func install() throws {
        try make("install")
        try run("systemctl --user daemon-reload")
    }

    /// A property of a unit as `systemctl show` has it.
    func property(_ name: String, of unit: String = service) throws -> String {
        try run("systemctl --user show --value -p \(name) \(unit)").trimmingCharacters(in: .newlines)
    }

    /// Settings added to a unit, as `systemctl --user edit` would.
    func edit(_ unit: String, _ lines: String...) throws {
        let place = "\(directory.file("home"))/.config/systemd/user/\(unit).d"
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: URL(filePath: "\(place)/test.conf"))
        try run("systemctl --user daemon-reload")
    }

    var mainProcess: Int {
        get throws { Int(try property("MainPID")) ?? 0 }
    }

    /// What the journal has, of the manager and of its services.
    var journal: String {
        (try? attempt("journalctl --no-pager -o cat _TRANSPORT=journal + _TRANSPORT=stdout"))?.output ?? ""
    }

    /// Waits until the property has one of these values.
    func wait(for name: String, of unit: String = service, toBe values: String...) throws -> Bool {
        try eventually { values.contains(try property(name, of: unit)) }
    }
}

// MARK: - The settings

extension UserManager {
    static let group = "group.com.example.app"

    /// The daemon's socket, as the test sees it.
    var settingsSocket: String { directory.file("run/appgroupd/io.appgroupd.Settings") }

    /// The group's property list, which the namespace and the test see alike.
    var plist: String {
        directory.file("home/.local/share/appgroups/\(Self.group)/Library/Preferences/\(Self.group).plist")
    }

    /// Runs the installed tool.
    @discardableResult
    func control(_ arguments: String) throws -> String {
        try run("appgroupctl \(arguments)").trimmingCharacters(in: .newlines)
    }

    /// Starts the installed tool on a watch of the group, and waits until it has begun.
    func startWatch(_ arguments: String = "") throws -> ChildProcess {
        try start("appgroupctl watch \(arguments) \(Self.group)")
    }
}
