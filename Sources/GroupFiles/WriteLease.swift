import Glibc
import LinuxIO

extension Files {
    /// How long a program that has a file open for writing is waited for, and how often we look.
    private static let patienceMicroseconds: Int64 = 1_000_000
    private static let stepMicroseconds: UInt32 = 1000

    /// Waits until nobody has the file open for writing, a second at most. For a file that has lost its name: whoever
    /// opened it before may still be writing.
    ///
    /// There are no events for it: only a read lease tells, which the kernel refuses while there is a writer. File
    /// systems without leases (and files of others) tell nothing; then there is no wait.
    static func waitForWriters(_ path: String) {
        guard let file = try? open(path, [.readOnly, .noFollow, .nonBlocking]) else { return }
        let deadline = ProcessFacts.monotonicMicroseconds() + patienceMicroseconds
        while file.hasWriter, ProcessFacts.monotonicMicroseconds() < deadline {
            usleep(stepMicroseconds)
        }
    }
}

extension FileDescriptor {
    // <fcntl.h> shows these with _GNU_SOURCE only; they are the kernel's interface and do not change.
    private static let setSignal: Int32 = 10
    private static let setLease: Int32 = 1024

    /// Whether some process has this file open for writing, as far as a read lease can tell.
    fileprivate var hasWriter: Bool {
        // One who opens it while we hold the lease would have us sent SIGIO, which kills. SIGURG is ignored by default.
        guard fcntl(rawValue, Self.setSignal, SIGURG) == 0 else { return false }
        if fcntl(rawValue, Self.setLease, F_RDLCK) == 0 {
            _ = fcntl(rawValue, Self.setLease, F_UNLCK)
            return false
        }
        return errno == EAGAIN
    }
}
