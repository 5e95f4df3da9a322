import Foundation
import TestSupport
import Testing

/// `make` as people who build from source use it, with the programs of this build.
@Suite("Installing from source")
struct InstallTests {
    private static let root = URL(filePath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path()

    /// What an outer make has in its environment is not for this one.
    private func make(_ arguments: [String]) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            "/usr/bin/env", ["make", "--no-print-directory", "-C", Self.root] + arguments,
            environment: ["MAKEFLAGS": "", "MAKELEVEL": "0"])
    }

    private func files(in directory: TemporaryDirectory) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.path).filter { path in
            var isDirectory: ObjCBool = false
            _ = unsafe FileManager.default.fileExists(atPath: directory.file(path), isDirectory: &isDirectory)
            return !isDirectory.boolValue
        }
    }

    @Test("install puts everything under DESTDIR and PREFIX, whatever their names, and uninstall takes it away again")
    func install() throws {
        let scratch = try TemporaryDirectory("scratch")
        try FileManager.default.createDirectory(atPath: scratch.file("release"), withIntermediateDirectories: false)
        for program in ["appgroupd", "appgroupctl"] {
            try FileManager.default.createSymbolicLink(
                atPath: scratch.file("release/\(program)"), withDestinationPath: builtProgram(program))
        }
        let destination = try TemporaryDirectory("dest dir")
        let options = ["SCRATCH=\(scratch.path)", "DESTDIR=\(destination.path)", "PREFIX=/opt/a b"]
        let outcome = try make(["install"] + options)
        #expect(outcome.code == 0, "\(outcome.errors)")
        let installed = try files(in: destination)
        for name in [
            "opt/a b/libexec/appgroupd", "opt/a b/bin/appgroupctl", "etc/appgroupd/appgroupd.conf",
            "opt/a b/share/man/man1/appgroupctl.1", "opt/a b/share/zsh/site-functions/_appgroupctl",
            "opt/a b/lib/systemd/user/appgroupd.socket",
        ] {
            #expect(installed.contains(name), "\(name)")
        }
        #expect(installed.allSatisfy { $0.hasPrefix("opt/a b/") || $0.hasPrefix("etc/") })
        // What an administrator changed stays, over another install too.
        try destination.write("etc/appgroupd/appgroupd.conf", "# mine\n")
        #expect(try make(["install"] + options).code == 0)
        #expect(try make(["uninstall"] + options).code == 0)
        #expect(try files(in: destination) == ["etc/appgroupd/appgroupd.conf"])
        #expect(try destination.read("etc/appgroupd/appgroupd.conf") == "# mine\n")
    }

    @Test("the toolchain that is looked at is the one that builds: absent, too old or unknown it is named")
    func toolchain() throws {
        let directory = try TemporaryDirectory("toolchain")
        func fake(_ says: String) throws -> String {
            let path = try directory.write("swift", "#!/bin/sh\necho '\(says)'\n")
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
            return path
        }
        let cases = [
            (directory.file("none"), "'\(directory.file("none"))' is not there; Swift 6.2 or later is needed"),
            (try fake("Swift version 5.10.1 (x)"), "Swift 5.10 at \(directory.file("swift")) is too old: 6.2 or later"),
        ]
        for (swift, message) in cases {
            let outcome = try make(["deps-build", "SWIFT=\(swift)"])
            #expect(outcome.code != 0)
            #expect(outcome.errors.contains(message), "\(outcome.errors)")
            #expect(outcome.errors.contains("https://www.swift.org/install/linux/"))
        }
        #expect(
            try make(["deps-build", "SWIFT=\(try fake("a swift bird"))"]).errors.contains(
                "does not say a Swift version"))
    }
}
