import Glibc
import LinuxIO
import ServiceIO
import TestSupport
import Testing

@Suite("Unix sockets")
struct SocketTests {
    @Test func bytesPassBothWays() throws {
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        let far = RawPeer(owning: ends.1)
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(try near.receive(into: &buffer) == .wouldBlock)
        try far.send([1, 2, 3])
        #expect(try near.receive(into: &buffer) == .bytes(3))
        #expect(buffer.prefix(3) == [1, 2, 3])
        #expect(try near.send(Array("abc\0".utf8)) == .bytes(4))
        #expect(try far.readMessage() == "abc")
        far.close()
        #expect(try near.receive(into: &buffer) == .closed)
    }

    @Test func manyBuffersGoOutInOneCall() throws {
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        let far = RawPeer(owning: ends.1)
        let buffers = (0..<100).map { index in Array("\(index),".utf8) } + [[0]]
        // 64 buffers a call: 10 of two bytes, 54 of three, less the byte that was sent before.
        #expect(try near.send(buffers[...], skipping: 1) == .bytes(10 * 2 + 54 * 3 - 1))
        _ = try near.send(buffers[64...])
        #expect(try far.readMessage() == "," + (1..<100).map { "\($0)," }.joined())
    }

    @Test func aFullSocketTakesAPartAndThenNothing() throws {
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        let far = RawPeer(owning: ends.1)
        let bytes = [UInt8](repeating: 7, count: 4 << 20)
        guard case .bytes(var sent) = try near.send(bytes) else {
            Issue.record("nothing was sent")
            return
        }
        #expect(sent < bytes.count)
        while case .bytes(let more) = try near.send([1]) { sent += more }
        #expect(try near.send([1]) == .wouldBlock)
        near.shutdown()
        #expect(try far.readToEnd().count == sent)
    }

    @Test func aPeerThatIsGoneIsNoSignal() throws {
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        RawPeer(owning: ends.1).close()
        #expect(try near.send([1]) == .closed)
        #expect(try near.send([[1], [2]]) == .closed)
    }

    @Test func thePeerIsKnown() throws {
        let ends = try UnixSocket.makePair()
        let near = UnixSocket(owning: ends.0)
        let far = UnixSocket(owning: ends.1)
        let peer = try near.peerCredentials()
        #expect(peer == PeerCredentials(pid: getpid(), uid: geteuid(), gid: getegid()))
        #expect(try far.peerCredentials() == peer)
    }

    #if DEBUG
        @Test func shortAndInterruptedTransfersAreHandled() throws {
            let ends = try UnixSocket.makePair()
            let near = UnixSocket(owning: ends.0)
            let far = RawPeer(owning: ends.1)
            try FaultPlan.run([.init("send", .fail(.interrupted)), .init("send", .short(2))]) {
                let sent = try near.send([1, 2, 3])
                #expect(sent == .bytes(2))
            }
            var buffer = [UInt8](repeating: 0, count: 16)
            try far.send([1, 2, 3])
            try FaultPlan.run([.init("recv", .fail(.interrupted)), .init("recv", .short(2))]) {
                let first = try near.receive(into: &buffer)
                let second = try near.receive(into: &buffer)
                #expect(first == .bytes(2))
                #expect(second == .bytes(1))
            }
            let reset = try FaultPlan.run([.init("recv", .fail(.connectionReset))]) {
                try near.receive(into: &buffer)
            }
            #expect(reset == .closed)
        }
    #endif
}

@Suite("Listening socket")
struct ListeningSocketTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test func clientsAreAccepted() throws {
        let path = directory.file("new/socket")
        let listener = try ListeningSocket.bind(path)
        #expect(try listener.accept() == nil)
        let client = try RawPeer(path: path)
        guard let server = try listener.accept() else {
            Issue.record("nobody was there")
            return
        }
        #expect(try server.send(Array("hello\0".utf8)) == .bytes(6))
        #expect(try client.readMessage() == "hello")
        #expect(try server.peerCredentials().pid == getpid())
    }

    @Test func fileAndDirectoryAreOursAlone() throws {
        let path = directory.file("new/socket")
        let listener = try ListeningSocket.bind(path)
        #expect(try Files.status(path).mode == 0o600)
        #expect(try Files.status(path + ".lock").mode & 0o077 == 0)
        #expect(try Files.status(directory.file("new")).mode == 0o700)
        withExtendedLifetime(listener) {}
    }

    @Test func theFileGoesWithTheListener() throws {
        let path = directory.file("socket")
        do {
            let listener = try ListeningSocket.bind(path)
            #expect(directory.exists("socket"))
            withExtendedLifetime(listener) {}
        }
        #expect(!directory.exists("socket"))
        _ = try ListeningSocket.bind(path)
    }

    @Test func whatReplacedTheFileStays() throws {
        let path = directory.file("socket")
        do {
            let listener = try ListeningSocket.bind(path)
            try Files.unlink(path)
            try directory.write("socket", "mine")
            withExtendedLifetime(listener) {}
        }
        #expect(try directory.read("socket") == "mine")
    }

    @Test(arguments: [100, 107, 108, 200, 600])
    func pathsMayBeLong(length: Int) throws {
        var path = directory.path
        while path.utf8.count + 60 < length { path += "/" + String(repeating: "d", count: 50) }
        path += "/" + String(repeating: "s", count: length - path.utf8.count - 1)
        let listener = try ListeningSocket.bind(path)
        let client = try RawPeer(path: path)
        #expect(try listener.accept() != nil)
        withExtendedLifetime(client) {}
    }

    @Test func aStaleSocketIsReplaced() throws {
        let path = directory.file("socket")
        try leaveStaleSocket(path)
        #expect(throws: RawPeer.Failure.connect(errno: ECONNREFUSED)) { try RawPeer(path: path) }
        let listener = try ListeningSocket.bind(path)
        _ = try RawPeer(path: path)
        withExtendedLifetime(listener) {}
    }

    @Test func whatIsNoSocketIsLeftAlone() throws {
        let path = try directory.write("socket", "precious")
        #expect(throws: ListeningSocket.Failure.notASocket(path: path)) { try ListeningSocket.bind(path) }
        #expect(try directory.read("socket") == "precious")
    }

    @Test func aSecondBinderIsToldWhoHasIt() throws {
        let path = directory.file("socket")
        let listener = try ListeningSocket.bind(path)
        #expect(throws: ListeningSocket.Failure.inUse(by: "process \(getpid())", path: path)) {
            try ListeningSocket.bind(path)
        }
        _ = try RawPeer(path: path)
        withExtendedLifetime(listener) {}
    }

    @Test func aListenerWithoutALockIsRespected() throws {
        let path = directory.file("socket")
        let listener = try ListeningSocket.bind(path)
        try Files.unlink(path + ".lock")
        #expect(throws: ListeningSocket.Failure.inUse(by: "an unknown process", path: path)) {
            try ListeningSocket.bind(path)
        }
        withExtendedLifetime(listener) {}
    }

    @Test func aForeignDirectoryIsRefused() throws {
        // /proc/1 belongs to root; as root, to somebody else there is nothing that we could not own.
        guard geteuid() != 0 else { return try expectRefusalAsRoot() }
        #expect(throws: ListeningSocket.Failure.foreignDirectory(path: "/proc/1")) {
            try ListeningSocket.bind("/proc/1/socket")
        }
    }

    private func expectRefusalAsRoot() throws {
        let path = directory.file("foreign")
        try Files.makeDirectory(path)
        try Files.openDirectory(path).changeOwner(uid: 12345, gid: nil)
        #expect(throws: ListeningSocket.Failure.foreignDirectory(path: path)) {
            try ListeningSocket.bind(path + "/socket")
        }
    }

    @Test func ofManyBindersExactlyOneWinsEachRound() throws {
        let path = directory.file("socket")
        let threads = try (0..<4).map { try WorkerThread(name: "binder \($0)") }
        for _ in 0..<100 {
            try leaveStaleSocket(path)
            let won = Winners()
            for thread in threads {
                thread.submit {
                    if let listener = try? ListeningSocket.bind(path) { won.add(listener) }
                }
            }
            for thread in threads {
                let done = Winners.Gate()
                thread.submit { done.open() }
                done.wait()
            }
            #expect(won.count == 1)
            _ = try RawPeer(path: path)
        }
        for thread in threads { thread.stop() }
    }

    @Test func aPassedSocketIsAdopted() throws {
        let path = directory.file("socket")
        let listener = try ListeningSocket.bind(path)
        let passed = FileDescriptor(owning: fcntl(listener.raw.rawValue, F_DUPFD_CLOEXEC, 3))
        let adopted = try ListeningSocket.adopt(passed)
        let client = try RawPeer(path: path)
        #expect(try adopted.accept() != nil)
        withExtendedLifetime((listener, client)) {}
        let ends = try FileDescriptor.makePipe()
        Glibc.close(ends.write)
        #expect(throws: ListeningSocket.Failure.self) {
            try ListeningSocket.adopt(FileDescriptor(owning: ends.read))
        }
    }

    #if DEBUG
        @Test(arguments: [Errno.tooManyFiles, .tooManySystemFiles])
        func aShortageOfDescriptorsIsTold(errno: Errno) throws {
            let path = directory.file("socket")
            let listener = try ListeningSocket.bind(path)
            let client = try RawPeer(path: path)
            FaultPlan.run([.init("accept4", .fail(errno))]) {
                let error = #expect(throws: SystemError.self) { _ = try listener.accept() }
                #expect(error?.errno.isShortageOfDescriptors == true)
            }
            let accepted = try FaultPlan.run([.init("accept4", .fail(.connectionAborted))]) {
                try listener.accept() != nil
            }
            #expect(accepted)
            withExtendedLifetime(client) {}
        }
    #endif

    /// The file of a listener that died without a chance to clean up.
    private func leaveStaleSocket(_ path: String) throws {
        let other = path + ".other"
        do {
            let listener = try ListeningSocket.bind(other)
            // Under another name the file outlives its listener.
            try Files.rename(other, to: path)
            withExtendedLifetime(listener) {}
        }
        try Files.unlinkIfPresent(other)
    }
}

@Suite("Lock file")
struct LockFileTests {
    @Test func theHolderIsNamed() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("lock")
        do {
            let lock = try LockFile(path)
            let failure = #expect(throws: LockFile.Failure.self) { _ = try LockFile(path) }
            #expect(failure == .held(by: "\(getpid())", path: path))
            #expect(failure?.description == "\(path) is locked by process \(getpid())")
            #expect(lock.path == path)
        }
        _ = try LockFile(path)
    }

    @Test func aLinkIsNotFollowed() throws {
        let directory = try TemporaryDirectory()
        try directory.write("precious", "text")
        try Files.symlink("precious", at: directory.file("lock"))
        #expect(throws: LockFile.Failure.self) { _ = try LockFile(directory.file("lock")) }
        #expect(try directory.read("precious") == "text")
    }
}
