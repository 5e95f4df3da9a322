import Foundation

/// By how much all time-outs of tests are stretched: `APPGROUP_TEST_TIMEOUT_SCALE`, 1 when it is not set.
package let timeoutScale: Double = {
    let text = ProcessInfo.processInfo.environment["APPGROUP_TEST_TIMEOUT_SCALE"]
    return text.flatMap(Double.init).flatMap { $0 > 0 ? $0 : nil } ?? 1
}()

/// So many seconds times the scale, as milliseconds.
package func scaledMilliseconds(_ seconds: Double) -> Int32 {
    Int32(clamping: Int(seconds * timeoutScale * 1000))
}

/// Looks again and again whether something has come true, for what tells us nothing: another process. Where there is an
/// event, wait for the event.
package func eventually(seconds: Double = 60, _ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds * timeoutScale)
    while true {
        if try condition() { return true }
        if ContinuousClock.now > deadline { return false }
        Thread.sleep(forTimeInterval: 0.002)
    }
}

/// The directory in which the programs of this build stand: that of the running test program.
package let productsDirectory: String = {
    let program = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
    // On Linux the bundle of `swift test` is itself the program that runs.
    return URL(filePath: program).deletingLastPathComponent().path
}()

/// The path of a program of this build.
package func builtProgram(_ name: String) -> String {
    "\(productsDirectory)/\(name)"
}

/// The daemon that the tests run: of this build, or the one that `APPGROUP_TEST_DAEMON` names, which may be built otherwise.
package let daemonProgram = ProcessInfo.processInfo.environment["APPGROUP_TEST_DAEMON"] ?? builtProgram("appgroupd")
