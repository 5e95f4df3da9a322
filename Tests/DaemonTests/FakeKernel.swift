import Foundation
import TestSupport

/// Another kernel for one daemon: its clock is set, its calls fail, when a test says so. `Fixtures/kernel/kernel.c` stands
/// between the daemon and the C library.
struct FakeKernel {
    private static let library: Result<TemporaryDirectory, NotMade> = Result { () throws(NotMade) in
        do {
            let directory = try TemporaryDirectory("appgroupd-kernel")
            // Tests/DaemonTests/FakeKernel.swift
            let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            let source = tests.appending(path: "Fixtures/kernel/kernel.c").path
            // Swift brings its compiler of C along, which need not be on the path.
            let outcome = try ChildProcess.run(
                "/bin/sh",
                [
                    "-ec", #""$(dirname "$(readlink -f "$(command -v swift)")")/clang" "$@""#, "sh",
                    "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", directory.file("kernel.so"), source,
                ])
            guard outcome.code == 0 else { throw NotMade(description: outcome.errors) }
            return directory
        } catch {
            throw NotMade(description: "kernel.c does not compile: \(error)")
        }
    }

    struct NotMade: Error, CustomStringConvertible {
        let description: String
    }

    private let directory: TemporaryDirectory
    /// For the daemon.
    let environment: [String: String]

    init() throws {
        directory = try TemporaryDirectory("appgroupd-rules")
        environment = [
            "LD_PRELOAD": try Self.library.get().file("kernel.so"), "APPGROUP_TEST_KERNEL": directory.file("rules"),
        ]
    }

    /// From now on these rules hold, and no others; none: it is the real kernel.
    func obey(_ rules: String...) throws {
        try directory.write("new", rules.map { $0 + "\n" }.joined())
        try Plist.move(directory.file("new"), to: directory.file("rules"))
    }

    /// The rules that hold.
    var rules: String {
        get throws { try directory.read("rules") }
    }

    /// From the call of this number on, so many calls on the daemon's files fail: changes, reads, openings.
    func fail(from number: Int, count: Int = 1, _ errno: Int32, in daemon: RunningDaemon) throws {
        try obey("nth \(number) \(count) \(errno) \(daemon.directory.path)/")
    }

    /// How many such calls there were, once the daemon has ended.
    var callCount: Int {
        get throws { Int(try directory.read("rules.count").filter(\.isNumber)) ?? 0 }
    }

    /// Whether a sync has come that the rule `hang` has wait.
    var hasHung: Bool { Plist.exists(directory.file("rules.hung")) }

    /// The clock is so many seconds later than the real one, or earlier.
    func setClock(by seconds: Int) throws { try obey("clock \(seconds)") }
}
