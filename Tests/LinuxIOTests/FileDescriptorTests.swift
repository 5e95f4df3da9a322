import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite("File descriptors")
struct FileDescriptorTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func writtenBytesAreReadBack() throws {
        let file = try Files.open(directory.file("a"), [.readWrite, .create, .exclusive])
        try file.writeAll([1, 2, 3])
        try file.pwriteAll([9], at: 1)
        try file.fsync()
        try file.fdatasync()
        try file.seek(to: 0)
        #expect(try file.readAll(limit: 3) == [1, 9, 3])
        #expect(try file.pread(count: 10, at: 1) == [9, 3])
        try file.truncate(to: 1)
        #expect(try file.status().size == 1)
    }

    @Test func aFileOverTheLimitIsRefused() throws {
        let path = try directory.write("a", "1234")
        #expect(try Files.read(path, limit: 4).bytes.count == 4)
        #expect(throws: SystemError(errno: .fileTooLarge, call: "read", path: path)) {
            try Files.read(path, limit: 3)
        }
    }

    @Test func aFileWithoutSizeIsReadToItsEnd() throws {
        let maps = try Files.open("/proc/self/maps", .readOnly)
        #expect(try maps.status().size == 0)
        #expect(try maps.readAll(limit: 1 << 24).count > 0)
    }

    @Test func aLargeFileIsReadAsItIs() throws {
        try SplitMix64.withSeed { random in
            let bytes = (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &random) }
            let file = try Files.open(directory.file("a"), [.readWrite, .create])
            try file.writeAll(bytes)
            #expect(try Files.read(directory.file("a"), limit: 1 << 20).bytes == bytes)
        }
    }

    @Test func takeGivesTheNumberAwayOpen() throws {
        let number = try Files.open(directory.path, [.readOnly, .directory]).take()
        #expect(fcntl(number, F_GETFD) == FD_CLOEXEC)
        Glibc.close(number)
    }

    @Test func theDescriptorIsClosedWithItsOwner() throws {
        let (read, write) = try FileDescriptor.makePipe()
        let reader = FileDescriptor(owning: read)
        do { _ = FileDescriptor(owning: write) }
        #expect(try reader.readAll(limit: 10) == [])
    }

    #if DEBUG
        @Test(arguments: ["write", "pwrite", "fsync", "fdatasync", "ftruncate", "read", "pread", "fchmod"])
        func aForcedErrorIsThrown(call: String) throws {
            let file = try Files.open(directory.file("a"), [.readWrite, .create])
            try file.writeAll([1, 2, 3])
            try file.seek(to: 0)
            #expect(throws: SystemError(errno: .noSpace, call: call)) {
                try FaultPlan.run([.init(call, .fail(.noSpace))]) { try perform(call, file) }
            }
            // The plan is over.
            try perform(call, file)
        }

        @Test(arguments: ["write", "pwrite", "fsync", "fdatasync", "ftruncate", "read", "pread", "fchmod"])
        func anInterruptedCallIsStartedAgain(call: String) throws {
            let file = try Files.open(directory.file("a"), [.readWrite, .create])
            try FaultPlan.run([.init(call, times: 3, .fail(.interrupted))]) { try perform(call, file) }
        }

        @Test func theNthCallIsHit() throws {
            let file = try Files.open(directory.file("a"), [.readWrite, .create])
            try FaultPlan.run([.init("write", at: 3, .fail(.noSpace))]) {
                try file.writeAll([1])
                try file.writeAll([2])
                #expect(throws: SystemError.self) { try file.writeAll([3]) }
                try file.writeAll([4])
            }
            #expect(try Files.read(directory.file("a"), limit: 9).bytes == [1, 2, 4])
        }

        @Test func shortTransfersLoseNothing() throws {
            let file = try Files.open(directory.file("a"), [.readWrite, .create])
            let bytes = (0..<100).map { UInt8($0) }
            let faults = ["write", "pwrite", "read", "pread"].map {
                FaultPlan.Fault($0, times: 1000, .short(7))
            }
            try FaultPlan.run(faults) {
                try file.writeAll(bytes)
                try file.pwriteAll(bytes, at: 100)
                #expect(try file.pread(count: 200, at: 0) == bytes + bytes)
                #expect(try Files.read(directory.file("a"), limit: 200).bytes == bytes + bytes)
            }
        }

        @Test func anActionRunsBeforeTheCall() throws {
            let (path, other) = (directory.file("a"), directory.file("b"))
            try directory.write("a", "1")
            FaultPlan.run([.init("rename", .run { try? Files.unlink(path) })]) {
                #expect(throws: SystemError(errno: .noSuchFile, call: "rename", path: path)) {
                    try Files.rename(path, to: other)
                }
            }
        }

        @Test func aPlanLeavesOtherThreadsAlone() throws {
            let path = directory.file("a")
            try FaultPlan.run([.init("open", .fail(.noSpace))]) {
                let thread = try WorkerThread(name: "other")
                thread.submit { _ = try? Files.open(path, [.writeOnly, .create]) }
                thread.stop()
            }
            #expect(directory.exists("a"))
        }

        @Test func aPlanForAllThreadsReachesTheOthers() async throws {
            // In a process of its own: it would reach the other tests too.
            await #expect(processExitsWith: .exitCode(7)) {
                try FaultPlan.run([.init("fsync", .fail(.noSpace))], scope: .allThreads) {
                    let thread = try WorkerThread(name: "other")
                    thread.submit {
                        do throws(SystemError) {
                            try Files.fsyncDirectory("/tmp")
                        } catch  where error.errno == .noSpace {
                            exit(7)
                        } catch {}
                    }
                    thread.stop()
                }
            }
        }

        @Test func aPlanCanEndTheProcess() async throws {
            await #expect(processExitsWith: .signal(SIGKILL)) {
                try FaultPlan.run([.init("fsync", at: 2, .die)]) {
                    try Files.fsyncDirectory("/tmp")
                    try Files.fsyncDirectory("/tmp")
                    exit(0)
                }
            }
        }

        private func perform(_ call: String, _ file: borrowing FileDescriptor) throws {
            switch call {
            case "write": try file.writeAll([1])
            case "pwrite": try file.pwriteAll([1], at: 0)
            case "fsync": try file.fsync()
            case "fdatasync": try file.fdatasync()
            case "ftruncate": try file.truncate(to: 1)
            case "read": _ = try file.readAll(limit: 100)
            case "pread": _ = try file.pread(count: 1, at: 0)
            default: try file.changeMode(0o600)
            }
        }
    #endif
}
