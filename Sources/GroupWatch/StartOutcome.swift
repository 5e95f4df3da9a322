import LinuxIO
import Synchronization

/// How the start of the watcher's thread went: reported once by it, waited for by the thread that started it.
final class StartOutcome: Sendable {
    private let result = Mutex<Result<Int32, SystemError>?>(nil)
    private let readEnd: FileDescriptor
    private let writeEnd: FileDescriptor

    init() throws(SystemError) {
        let ends = try FileDescriptor.makePipe()
        readEnd = FileDescriptor(owning: ends.read)
        writeEnd = FileDescriptor(owning: ends.write)
    }

    func report(_ outcome: Result<Int32, SystemError>) {
        result.withLock { $0 = outcome }
        // A byte always fits into an empty pipe whose other end we hold.
        try? writeEnd.writeAll([0])
    }

    func wait() throws(SystemError) -> Int32 {
        var byte: [UInt8] = []
        _ = try readEnd.append(upTo: 1, to: &byte)
        guard let outcome = result.withLock({ $0 }) else { throw SystemError(errno: .inputOutput, call: "pipe") }
        return try outcome.get()
    }
}
