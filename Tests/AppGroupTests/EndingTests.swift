import Foundation
import TestSupport
import Testing

@testable import AppGroup

@Suite("The end of a process") struct EndingTests {
    @Test("a program that sets a value and ends has set it")
    func lastWrite() async throws {
        let daemon = try RunningDaemon(isAtStandardPlace: true)
        let run = daemon.directory.file("run")
        await #expect(processExitsWith: .success) { [run = run as String] in
            unsafe setenv("XDG_RUNTIME_DIR", run, 1)
            let settings = GroupDefaults(suiteName: "group.com.example.app")
            for number in 1...1000 { settings.set(number, forKey: "count") }
        }
        #expect(try daemon.control(["read", "group.com.example.app", "count"]).output == "1000\n")
    }

    @Test("a daemon that is not there holds nobody up")
    func absentDaemon() async throws {
        let run = try TemporaryDirectory()
        let path = run.path
        await #expect(processExitsWith: .success) { [path = path as String] in
            unsafe setenv("XDG_RUNTIME_DIR", path, 1)
            // Handlers run in the reverse order: this one after the library's, which comes with the first group.
            _ = EndingTests.start
            atexit { if ContinuousClock.now - EndingTests.start > .milliseconds(900) { _exit(1) } }
            GroupDefaults(suiteName: "group.com.example.app").set(1, forKey: "count")
        }
    }

    private static let start = ContinuousClock.now
}
