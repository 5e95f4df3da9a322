import CShims
import Glibc

/// A program that is run to its end, while the calling thread waits. No state: a name for the functions.
package enum Subprocess {
    package enum Ending: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    /// `NAME=value` as this process was started with them: bytes, which need not be UTF-8. Empty where /proc is missing.
    package static func startEnvironment() -> [[UInt8]] {
        let bytes = (try? Files.open("/proc/self/environ", .readOnly).readAll(limit: 16 << 20)) ?? []
        return bytes.split(separator: 0).map(Array.init)
    }

    /// Runs a program with the standard output and error of this process. Its signals are as a new process has them.
    ///
    /// The program is a path, which is not looked for; one that cannot be run exits with 127. The environment is all that
    /// it gets. Either it has our standard input, or nothing to read.
    package static func run(
        _ program: String, _ arguments: [String], environment: [[UInt8]], readsInput: Bool
    ) throws(SystemError) -> Ending {
        let nothing = try Files.open("/dev/null", .readOnly)
        let input = readsInput ? 0 : nothing.rawValue
        let texts = CStrings(([program] + arguments).map { Array($0.utf8) })
        let variables = CStrings(environment)
        let pid = try systemCall("fork", checking: program) {
            unsafe cshim_spawn(program, texts.pointers, variables.pointers, input, 1, 2, 0)
        }
        withExtendedLifetime(nothing) {}
        var status: Int32 = 0
        _ = try systemCall("waitpid") { unsafe waitpid(pid, &status, 0) }
        let signal = status & 0x7F
        return signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
    }

    /// Runs the body with the standard output of this process going into a program, and waits for that program's end.
    /// Meanwhile SIGINT is the program's alone: that is who has the terminal.
    ///
    /// - Throws: what the body throws. Where the program cannot be started the body runs all the same.
    package static func withOutput<Failure: Error>(
        into program: String, _ arguments: [String], environment: [[UInt8]], _ body: () throws(Failure) -> Void
    ) throws(Failure) {
        guard let pid = try? redirectOutput(into: program, arguments, environment) else { return try body() }
        var set = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&set)
        unsafe sigaddset(&set, SIGINT)
        unsafe pthread_sigmask(SIG_BLOCK, &set, &before)
        defer {
            // The program reads to the end, which is there when nobody can write any more.
            dup2(2, 1)
            var status: Int32 = 0
            unsafe waitpid(pid, &status, 0)
            unsafe pthread_sigmask(SIG_SETMASK, &before, nil)
        }
        try body()
    }

    private static func redirectOutput(
        into program: String, _ arguments: [String], _ environment: [[UInt8]]
    ) throws(SystemError) -> Int32 {
        let ends = try FileDescriptor.makePipe()
        let reading = FileDescriptor(owning: ends.read)
        let writing = FileDescriptor(owning: ends.write)
        let texts = CStrings(([program] + arguments).map { Array($0.utf8) })
        let variables = CStrings(environment)
        let pid = try systemCall("fork", checking: program) {
            unsafe cshim_spawn(program, texts.pointers, variables.pointers, reading.rawValue, 1, 2, 0)
        }
        _ = try systemCall("dup2") { dup2(writing.rawValue, 1) }
        return pid
    }

    /// Runs the body with the signals that ask a program to end held back: they act when it is done. For what is to be
    /// done whole. Of the calling thread only.
    package static func withoutEnding<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var set = sigset_t()
        var before = sigset_t()
        unsafe sigemptyset(&set)
        for number in [SIGTERM, SIGINT, SIGHUP] { unsafe sigaddset(&set, number) }
        unsafe pthread_sigmask(SIG_BLOCK, &set, &before)
        defer { unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        return try body()
    }
}

/// Texts as C takes the arguments and the environment of a program. They live as long as the object.
@safe
private final class CStrings {
    let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>
    private let count: Int

    init(_ texts: [[UInt8]]) {
        count = texts.count
        unsafe pointers = .allocate(capacity: count + 1)
        for (index, text) in texts.enumerated() {
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: text.count + 1)
            for (offset, byte) in text.enumerated() { unsafe copy[offset] = CChar(bitPattern: byte) }
            unsafe copy[text.count] = 0
            unsafe pointers[index] = copy
        }
        unsafe pointers[count] = nil
    }

    deinit {
        for index in 0..<count { unsafe pointers[index]?.deallocate() }
        unsafe pointers.deallocate()
    }
}
