import Foundation
import TestSupport
import Testing

/// The optimised programs under valgrind's callgrind, which counts instructions: a count is the same on a busy machine and
/// on an idle one.
struct MeasuredRun {
    /// Where `make guard` has built the optimised programs; nil where it is not `make guard` that runs this.
    static let programs = ProcessInfo.processInfo.environment["APPGROUP_GUARD"]

    let directory: TemporaryDirectory
    /// Copies without the debugging information, of which valgrind reads every byte before it begins.
    let daemon: String
    let bench: String
    var key: String { "group.guard.k000000" }
    var address: String { "unix:\(socket)" }
    var plist: String { directory.file("data/appgroups/group.guard/Library/Preferences/group.guard.plist") }
    private var socket: String { directory.file("run/appgroupd/io.appgroupd.Settings") }

    init() throws {
        directory = try TemporaryDirectory("guard")
        daemon = try Self.strippedCopy("appgroupd", in: directory)
        bench = try Self.strippedCopy("appgroup-bench", in: directory)
        try FileManager.default.createDirectory(
            atPath: directory.file("run/appgroupd"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    private static func strippedCopy(_ name: String, in directory: TemporaryDirectory) throws -> String {
        let programs = try #require(programs)
        let outcome = try ChildProcess.run(
            "/usr/bin/env", ["objcopy", "--strip-debug", "\(programs)/\(name)", directory.file(name)])
        try #require(outcome.code == 0, "objcopy: \(outcome.errors)")
        return directory.file(name)
    }

    /// The clients' environment and the daemon's: hash tables have the same order in each run.
    private var environment: [String: String] {
        [
            "HOME": directory.path, "XDG_RUNTIME_DIR": directory.file("run"), "XDG_DATA_HOME": directory.file("data"),
            "SWIFT_DETERMINISTIC_HASHING": "1",
        ]
    }

    // MARK: The daemon

    /// Instructions of the daemon's main thread, from its start to its end, with `body` in between.
    func instructionsOfDaemon(_ body: () throws -> Void) throws -> Int {
        try withDaemon(valgrind: ["--separate-threads=yes"], body)
        // The event loop's thread is the first one; the others rewrite files and watch.
        return try total(in: "counts-01")
    }

    /// The daemon as it is, for what only needs one.
    func withDaemon(_ body: () throws -> Void) throws { try withDaemon(valgrind: nil, body) }

    /// A group with one key, and something in the way of its plist: how often the plist is written depends on the clock.
    func prepareWithoutProjection() throws {
        try withDaemon {}
        try FileManager.default.removeItem(atPath: plist)
        try FileManager.default.createDirectory(atPath: plist, withIntermediateDirectories: false)
    }

    private func withDaemon(valgrind: [String]?, _ body: () throws -> Void) throws {
        let arguments = [
            "--root", directory.file("data/appgroups"), "--state", directory.file("state"), "--socket", socket,
        ]
        let process = try start(valgrind: valgrind, daemon, arguments)
        try client("probe", ["--key", key, "--prepare", "1"])
        try body()
        process.kill(SIGTERM)
        let outcome = try process.finish(seconds: 120)
        try #require(outcome.code == 0, "appgroupd: \(outcome.errors)")
    }

    // MARK: The clients

    func peer() throws -> RawPeer { try RawPeer(path: socket, timeoutSeconds: 120) }

    @discardableResult
    func client(_ role: String, _ arguments: [String]) throws -> String {
        let outcome = try ChildProcess.run(
            bench, [role, "--addr", address] + arguments, environment: environment, seconds: 120)
        try #require(outcome.code == 0, "appgroup-bench \(role): \(outcome.errors)")
        return outcome.output
    }

    /// So many sets of so many keys, 64 under way at a time.
    func load(_ count: Int, keys: Int) throws {
        let arguments = ["--prefix", "group.guard.k", "--keys", "\(keys)", "--conns", "1", "--depth", "64"]
        try client("load", arguments + ["--count", "\(count)"])
    }

    func startClient(_ role: String, _ arguments: [String]) throws -> ChildProcess {
        try ChildProcess(bench, [role, "--addr", address] + arguments, environment: environment)
    }

    /// Instructions of a role of the library's benchmark within the function whose mangled name has this pattern in it.
    func instructionsOfLibrary(_ arguments: [String], within function: String) throws -> Int {
        let process = try start(valgrind: ["--toggle-collect=*\(function)*"], bench, ["library"] + arguments)
        let outcome = try process.finish(seconds: 120)
        try #require(outcome.code == 0, "appgroup-bench library: \(outcome.errors)")
        return try total(in: "counts")
    }

    private func start(valgrind: [String]?, _ program: String, _ arguments: [String]) throws -> ChildProcess {
        guard let valgrind else { return try ChildProcess(program, arguments, environment: environment) }
        let options = ["valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=\(directory.file("counts"))"]
        return try ChildProcess(
            "/usr/bin/env", options + valgrind + [program] + arguments, environment: environment)
    }

    private func total(in file: String) throws -> Int {
        let lines = try directory.read(file).split(separator: "\n")
        let line = try #require(lines.last { $0.hasPrefix("totals: ") }, "no totals in callgrind's \(file)")
        return try #require(Int(line.dropFirst(8).prefix { $0.isNumber }))
    }
}
