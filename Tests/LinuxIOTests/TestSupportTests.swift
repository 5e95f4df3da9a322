import Glibc
import LinuxIO
import TestSupport
import Testing

@Suite("Test support")
struct TestSupportTests {
    @Test func aChildRunsToItsEnd() throws {
        let outcome = try ChildProcess.run(
            "/bin/sh",
            ["-c", "read line; echo \"$line $WORD\"; echo bad >&2; exit 3"],
            environment: ["WORD": "there"],
            input: "hello\n"
        )
        #expect(outcome.output == "hello there\n")
        #expect(outcome.errors == "bad\n")
        #expect(outcome.ending == .exited(3))
    }

    @Test func aChildIsTalkedToAndKilled() throws {
        let child = try ChildProcess("/bin/sh", ["-c", "echo ready; echo note >&2; exec cat"])
        #expect(try child.readLine() == "ready")
        #expect(try child.readErrorLine() == "note")
        child.write("more\n")
        #expect(try child.readLine() == "more")
        child.kill(SIGTERM)
        #expect(try child.waitForEnd() == .signalled(SIGTERM))
        #expect(try child.readLine() == nil)
    }

    @Test func aChildGoesWithItsObject() throws {
        let pid = try ChildProcess("/bin/sleep", ["1000"]).pid
        #expect(kill(pid, 0) == -1)
    }

    @Test func aProgramThatIsNotThereExitsWith127() throws {
        #expect(try ChildProcess.run("/no/such/program").ending == .exited(127))
    }

    @Test func aChildInheritsNothingUnasked() throws {
        let outcome = try ChildProcess.run("/usr/bin/env", environment: ["A": "1"], inheriting: false)
        #expect(outcome.output == "A=1\n")
        #expect(try ChildProcess.run("/bin/ls", ["/proc/self/fd"]).output == "0\n1\n2\n3\n")
    }

    @Test func aPeerSeesTheEndInsideAMessage() throws {
        let ends = try UnixSocket.makePair()
        let peer = RawPeer(owning: ends.0)
        do {
            let other = RawPeer(owning: ends.1)
            try other.sendMessage("one")
            try other.send(Array("tw".utf8))
            #expect(try peer.readMessage() == "one")
        }
        #expect(throws: RawPeer.Failure.closed(rest: Array("tw".utf8))) { try peer.readMessage() }
    }

    @Test func aPeerWaitsNoLongerThanItsDeadline() throws {
        let ends = try UnixSocket.makePair()
        let other = UnixSocket(owning: ends.1)
        let peer = RawPeer(owning: ends.0, timeoutSeconds: 0.01)
        #expect(peer.isQuiet(milliseconds: 1))
        #expect(throws: RawPeer.Failure.timedOut) { try peer.readMessage() }
        other.shutdown()
        #expect(try peer.readToEnd() == [])
    }

    @Test func theSameSeedGivesTheSameNumbers() {
        var (one, two) = (SplitMix64(seed: 1), SplitMix64(seed: 1))
        #expect((0..<10).map { _ in one.next() } == (0..<10).map { _ in two.next() })
    }

    @Test func theProductsAreWhereTheTestsAre() throws {
        #expect(try Files.list(productsDirectory).contains { $0.hasSuffix(".xctest") })
    }

    @Test func aDirectoryGoesWithItsObject() throws {
        var path = ""
        do {
            let directory = try TemporaryDirectory()
            try directory.write("a", "1")
            path = directory.path
            #expect(try Files.status(path).mode == 0o700)
        }
        #expect(try Files.statusIfPresent(path) == nil)
    }
}
