import CShims
import Foundation
import LinuxIO
import Synchronization

/// A program that a test runs: own pipes, own environment, and dead when the object or the test program goes.
/// Used by one thread at a time.
package final class ChildProcess {
    package enum Failure: Error, Equatable {
        case notStarted(String)
        case timedOut(waitingFor: String)
    }

    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// What a program that ran to its end left.
    package struct Outcome: Equatable, Sendable {
        package let ending: Ending
        package let output: String
        package let errors: String

        /// The exit code; 128 and the number for a signal, as a shell has it.
        package var code: Int32 {
            switch ending {
            case .exited(let code): code
            case .signalled(let number): 128 + number
            }
        }
    }

    package let pid: Int32
    private let input: Int32
    private let output: Int32
    private let errors: Int32
    private var isInputOpen = true
    private var outputBuffer: [UInt8] = []
    private var errorBuffer: [UInt8] = []
    private var ending: Ending?

    /// The death signal of a child belongs to the *thread* that forked it: so one that lasts.
    private static let forker = try? WorkerThread(name: "forker")

    /// What a sanitizer run sets for all processes (Tests/Fixtures/sanitizers).
    private static let sanitizerVariables: Set<String> = [
        "LD_PRELOAD", "TSAN_OPTIONS", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS",
    ]

    /// `environment` is all that it gets, besides what a sanitizer run sets; `inheriting` adds what this process has.
    package init(
        _ program: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        inheriting: Bool = true
    ) throws {
        // A child that is gone must cost a failed write and not the test program.
        _ = Foundation.signal(SIGPIPE, SIG_IGN)
        let own = ProcessInfo.processInfo.environment
        let inherited = inheriting ? own : own.filter { Self.sanitizerVariables.contains($0.key) }
        let variables = inherited.merging(environment) { $1 }.map { "\($0)=\($1)" }
        let (inRead, inWrite) = try FileDescriptor.makePipe()
        let (outRead, outWrite) = try FileDescriptor.makePipe()
        let (errorRead, errorWrite) = try FileDescriptor.makePipe()
        (input, output, errors) = (inWrite, outRead, errorRead)
        pid = Self.spawn(program, [program] + arguments, variables, (inRead, outWrite, errorWrite))
        for descriptor in [inRead, outWrite, errorWrite] { _ = cshim_close(descriptor) }
        if pid < 0 { throw Failure.notStarted(program) }
    }

    deinit {
        if ending == nil {
            kill(SIGKILL)
            _ = try? waitForEnd()
        }
        closeInput()
        _ = cshim_close(output)
        _ = cshim_close(errors)
    }

    /// Runs a program to its end.
    package static func run(
        _ program: String,
        _ arguments: [String] = [],
        environment: [String: String] = [:],
        inheriting: Bool = true,
        input: String = "",
        seconds: Double = 60
    ) throws -> Outcome {
        let child = try ChildProcess(program, arguments, environment: environment, inheriting: inheriting)
        child.write(input)
        child.closeInput()
        return try child.finish(seconds: seconds)
    }

    private static func spawn(
        _ program: String,
        _ arguments: [String],
        _ variables: [String],
        _ descriptors: (Int32, Int32, Int32)
    ) -> Int32 {
        let done = DispatchSemaphore(value: 0)
        guard let forker else { return -1 }
        let outcome = ForkOutcome()
        forker.submit {
            let pid = Forks.keptOut { fork(program, arguments, variables, descriptors) }
            outcome.pid.withLock { $0 = pid }
            done.signal()
        }
        done.wait()
        return outcome.pid.withLock { $0 }
    }

    private final class ForkOutcome: Sendable {
        let pid = Mutex<Int32>(-1)
    }

    private static func fork(
        _ program: String,
        _ arguments: [String],
        _ variables: [String],
        _ descriptors: (Int32, Int32, Int32)
    ) -> Int32 {
        var argumentPointers = unsafe arguments.map { unsafe strdup($0) } + [nil]
        var variablePointers = unsafe variables.map { unsafe strdup($0) } + [nil]
        defer {
            let all = unsafe argumentPointers + variablePointers
            for index in unsafe all.indices { unsafe free(all[index]) }
        }
        return unsafe cshim_spawn(
            program,
            &argumentPointers,
            &variablePointers,
            descriptors.0,
            descriptors.1,
            descriptors.2,
            SIGKILL
        )
    }
}

// MARK: - Talking to it

extension ChildProcess {
    package func kill(_ signal: Int32) {
        if ending == nil { _ = Foundation.kill(pid, signal) }
    }

    /// Not more than a pipe holds (64 KB) before its output is read.
    package func write(_ text: String) {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = unsafe bytes.withUnsafeBytes {
                unsafe Foundation.write(input, $0.baseAddress?.advanced(by: done), $0.count - done)
            }
            if count <= 0 { return }
            done += count
        }
    }

    package func closeInput() {
        guard isInputOpen else { return }
        isInputOpen = false
        _ = cshim_close(input)
    }

    /// The next line of its output, without the line break; nil at the end.
    package func readLine(seconds: Double = 60) throws -> String? {
        try Self.readLine(output, &outputBuffer, seconds)
    }

    /// The next line of its error output.
    package func readErrorLine(seconds: Double = 60) throws -> String? {
        try Self.readLine(errors, &errorBuffer, seconds)
    }

    /// Waits for its end and takes all output that was not read yet.
    package func finish(seconds: Double = 60) throws -> Outcome {
        let deadline = ContinuousClock.now + .seconds(seconds * timeoutScale)
        var (outputEnded, errorsEnded) = (false, false)
        while !(outputEnded && errorsEnded) {
            guard ContinuousClock.now < deadline else { throw Failure.timedOut(waitingFor: "the end of output") }
            // Whichever has something: the other one as "wake" descriptor.
            let first = outputEnded ? -1 : output
            let second = errorsEnded ? -1 : errors
            let ready = cshim_poll(first, CSHIM_POLLIN, second, 100)
            if ready > 0, ready & ~CSHIM_WAKE != 0 { outputEnded = !Self.fill(output, &outputBuffer) }
            if ready > 0, ready & CSHIM_WAKE != 0 { errorsEnded = !Self.fill(errors, &errorBuffer) }
        }
        let ending = try waitForEnd(seconds: seconds)
        return Outcome(
            ending: ending,
            output: String(decoding: outputBuffer, as: UTF8.self),
            errors: String(decoding: errorBuffer, as: UTF8.self)
        )
    }

    @discardableResult
    package func waitForEnd(seconds: Double = 60) throws -> Ending {
        if let ending { return ending }
        var status: Int32 = 0
        let ended = eventually(seconds: seconds) { unsafe waitpid(pid, &status, WNOHANG) == pid }
        guard ended else { throw Failure.timedOut(waitingFor: "the end of process \(pid)") }
        let signal = status & 0x7F
        let ending: Ending = signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
        self.ending = ending
        return ending
    }

    private static func readLine(_ descriptor: Int32, _ buffer: inout [UInt8], _ seconds: Double) throws -> String? {
        let deadline = ContinuousClock.now + .seconds(seconds * timeoutScale)
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer.removeFirst(end + 1)
                return line
            }
            guard ContinuousClock.now < deadline else { throw Failure.timedOut(waitingFor: "a line") }
            guard cshim_poll(descriptor, CSHIM_POLLIN, -1, 100) != 0 else { continue }
            if !fill(descriptor, &buffer) { return nil }
        }
    }

    /// False at the end.
    private static func fill(_ descriptor: Int32, _ buffer: inout [UInt8]) -> Bool {
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        let count = unsafe chunk.withUnsafeMutableBytes { unsafe read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 { buffer += chunk.prefix(count) }
        return count > 0
    }
}
