import Foundation
import LinuxIO

/// The real `appgroupd` of this build, in directories of its own. It ends with the object, by SIGKILL if nothing else was
/// asked for. Used by one test at a time.
package final class RunningDaemon {
    /// Everything of this daemon is below; also its HOME.
    package let directory: TemporaryDirectory
    package let root: String
    package let state: String
    package let socket: String
    private var arguments: [String]
    private let environment: [String: String]
    /// Nil while it is not running.
    package private(set) var process: ChildProcess?

    /// Starts the daemon and waits until it serves. `configuration` are lines for the section `[Daemon]` of its file,
    /// `environment` is added to a small one of its own, and `prepare` may lay out its directories before it starts.
    /// `isAtStandardPlace` is for clients that find the socket on their own, by ``clientEnvironment``.
    package init(
        configuration: [String] = [], environment: [String: String] = [:], starts: Bool = true,
        isAtStandardPlace: Bool = false, prepare: (RunningDaemon) throws -> Void = { _ in }
    ) throws {
        directory = try TemporaryDirectory("appgroupd")
        root = directory.file(isAtStandardPlace ? "data/appgroups" : "root")
        state = directory.file("state")
        socket = directory.file("run/\(isAtStandardPlace ? "appgroupd/" : "")io.appgroupd.Settings")
        let file = try directory.write("appgroupd.conf", (["[Daemon]"] + configuration).joined(separator: "\n") + "\n")
        let configurationDirectories = [Administrator.user, .administrator].map(\.rawValue).map(directory.file)
        arguments = [
            "--config", file, "--root", root, "--state", state, "--socket", socket,
            // What this machine's administrator has set is none of the tests' business.
            "--config-dirs", configurationDirectories.joined(separator: ":"),
        ]
        self.environment = [
            "HOME": directory.path, "XDG_CONFIG_HOME": directory.file("config"), "PATH": "/usr/bin:/bin",
        ].merging(environment) { $1 }
        try prepare(self)
        if starts { try start() }
    }

    /// Whose configuration stands in a directory.
    package enum Administrator: String {
        case user = "config/appgroupd"
        case administrator = "etc/appgroupd"
    }

    /// Where appgroupd.conf and administrators' settings are looked for. Not made before it is wanted.
    package func configurationDirectory(_ whose: Administrator) -> String { directory.file(whose.rawValue) }

    deinit {
        process?.kill(SIGKILL)
        _ = try? process?.waitForEnd()
    }

    package struct NotServing: Error, CustomStringConvertible {
        package let description: String
    }

    /// Starts it (again) on the same store.
    package func start() throws {
        try launch()
        try awaitService()
    }

    /// Starts it without waiting for anything.
    package func launch() throws {
        process = try ChildProcess(daemonProgram, arguments, environment: environment)
    }

    package func awaitService() throws {
        guard let process else { throw NotServing(description: "appgroupd is not running") }
        var isServing = false
        // It binds before it reads its groups, and answers after: the answer is the event.
        _ = eventually(seconds: 60) {
            guard let peer = try? RawPeer(path: socket, timeoutSeconds: 60) else { return false }
            isServing = (try? peer.call(#"{"method":"org.varlink.service.GetInfo"}"#)) != nil
            return isServing
        }
        guard isServing else {
            process.kill(SIGKILL)
            throw NotServing(description: "appgroupd does not serve: \((try? process.finish())?.errors ?? "")")
        }
    }

    /// SIGKILL, and waits until it is gone.
    package func kill() throws {
        process?.kill(SIGKILL)
        _ = try process?.waitForEnd()
        process = nil
    }

    /// SIGTERM; gives its exit status and what it wrote.
    @discardableResult
    package func stop() throws -> ChildProcess.Outcome {
        guard let process else { throw NotServing(description: "appgroupd is not running") }
        process.kill(SIGTERM)
        self.process = nil
        return try process.finish(seconds: 30)
    }

    package func peer() throws -> RawPeer {
        try RawPeer(path: socket, timeoutSeconds: 60)
    }

    /// What leads a program that uses the library to this daemon and to its files, if it is at the standard place.
    package var clientEnvironment: [String: String] {
        [
            "HOME": directory.path, "XDG_RUNTIME_DIR": directory.file("run"),
            "XDG_DATA_HOME": directory.file("data"), "PATH": "/usr/bin:/bin",
        ]
    }

    /// What it is started with, for who starts it in another way.
    package var commandLine: [String] { arguments }

    /// Where the group's settings are for everybody else.
    package func plist(_ group: String) -> String {
        "\(root)/\(group)/Library/Preferences/\(group).plist"
    }

    package func journal(_ group: String) -> String { "\(state)/\(group).journal" }

    /// Runs `appgroupctl` against this daemon, to its end.
    package func control(_ arguments: [String], environment more: [String: String] = [:]) throws -> ChildProcess.Outcome
    {
        try ChildProcess.run(
            builtProgram("appgroupctl"), ["--socket", socket] + arguments,
            environment: environment.merging(more) { $1 })
    }

    /// Starts `appgroupctl` against this daemon, for what goes on for a while.
    package func startControl(_ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(builtProgram("appgroupctl"), ["--socket", socket] + arguments, environment: environment)
    }
}
