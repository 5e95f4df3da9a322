import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing

/// Clients that mean harm or know no better, in processes of their own, while others work: those lose nothing, wait for
/// nobody, and nothing stays behind.
@Suite(.serialized) struct TortureHostileTests {
    private let group = GroupIdentifier.example

    /// Python, with `connect()` and `sys.argv[2]`, the group; each is run so many times (short, long form).
    struct Client: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var short: Int
        var long: Int
        var script: String
    }

    static let clients = [
        Client(
            testDescription: "passes descriptors with every message", short: 20, long: 500,
            script: """
                peer = connect()
                files = [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]
                text = b'{"method":"org.varlink.service.GetInfo"}\\0'
                socket.send_fds(peer, [text[:10]], files)
                socket.send_fds(peer, [text[10:]], files)
                peer.recv(10)
                for file in files: os.close(file)
                """),
        Client(
            testDescription: "sends a message byte by byte, and never ends it", short: 5, long: 100,
            script: """
                peers = [connect() for _ in range(20)]
                for byte in b'{"method":"io.appgroupd.Settings.Write","parameters":{"group":"':
                    for peer in peers: peer.send(bytes([byte]))
                """),
        Client(
            testDescription: "sends eight megabytes without an end", short: 2, long: 40,
            script: """
                peer = connect()
                try:
                    for _ in range(129): peer.sendall(b"[" * 65536)
                except OSError: pass
                """),
        Client(
            testDescription: "asks for much and never reads", short: 3, long: 60,
            script: """
                peer = connect()
                peer.settimeout(0.3)
                text = b'{"method":"io.appgroupd.Settings.Read","parameters":{"group":"%s"}}\\0' % sys.argv[2].encode()
                try:
                    for _ in range(20000): peer.sendall(text)
                except OSError: pass
                """),
        Client(
            testDescription: "watches, and closes one half", short: 20, long: 500,
            script: """
                peer = connect()
                text = b'{"method":"io.appgroupd.Settings.Watch","more":true,"parameters":{"watches":[{"group":"%s"}]}}\\0'
                peer.sendall(text % sys.argv[2].encode())
                peer.shutdown(random.choice([socket.SHUT_RD, socket.SHUT_WR]))
                """),
        Client(
            testDescription: "sends noise", short: 20, long: 1000,
            script: """
                peer = connect()
                try:
                    peer.sendall(os.urandom(random.randrange(1, 5000)))
                    peer.sendall(b'{"method":"' + b'\\xff\\xfe' * random.randrange(100) + b'"}\\0')
                    peer.recv(1)
                except OSError: pass
                """),
    ]

    private static let prelude = """
        import os, random, socket, sys
        def connect():
            peer = socket.socket(socket.AF_UNIX)
            peer.connect(sys.argv[1])
            return peer
        def once():
        """

    @Test("the others lose nothing, wait for nobody, and nothing stays behind", arguments: clients)
    func hostile(_ client: Client) throws {
        let daemon = try RunningDaemon()
        let pid = try #require(daemon.process?.pid)
        let peer = try daemon.peer(with: group)
        try peer.write(group, [.set("large", .string(String(repeating: "x", count: 20_000)))])
        let follower = Follower(socket: daemon.socket, group: group)
        let observer = Background { try follower.run() }
        #expect(try eventually { try peer.status(of: group)?.watchers == 1 })
        let before = try descriptors(pid)
        let stop = Flag()
        let writer = Writer(socket: daemon.socket, group: group, name: "w", depth: 4, stop: stop)
        let writes = Background { try writer.run().count }
        let count = Torture.isLong ? client.long : client.short
        let body = client.script.split(separator: "\n").map { "    \($0)" }.joined(separator: "\n")
        let outcome = try ChildProcess.run(
            "/usr/bin/python3",
            ["-c", "\(Self.prelude)\n\(body)\nfor _ in range(\(count)): once()\n", daemon.socket, group.string],
            seconds: 300)
        #expect(outcome.code == 0, "\(outcome.errors)")
        stop.raise()
        let written = try writes.value()
        #expect(written > 0)
        try peer.write(group, [.set(Follower.end, .boolean(true))])
        let trace = try observer.value()
        #expect(trace.problems == [])
        #expect(try eventually { try descriptors(pid) <= before }, "more descriptors than the \(before) before")
        Torture.report(
            "a client that \(client.testDescription)", tried: "\(count) times, \(written) writes of another meanwhile",
            found: trace.problems.isEmpty ? "no harm" : "BROKEN: \(trace.problems)")
    }

    private func descriptors(_ pid: Int32) throws -> Int {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }
}
