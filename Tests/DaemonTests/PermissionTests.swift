import Foundation
import GroupModel
import GroupProtocol
import TestSupport
import Testing
import Varlink

/// Other users: only root can play them.
@Suite("Nobody else gets in", .enabled(if: geteuid() == 0, "only root can act for another user"))
struct PermissionTests {
    static let group = "group.com.example.app"

    @Test("a peer of another user is disconnected without a word, even where the socket would let it in")
    func foreignPeer() throws {
        let daemon = try RunningDaemon()
        for path in [daemon.directory.path, daemon.directory.file("run")] {
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: daemon.socket)
        let script = """
            $SIG{PIPE} = "IGNORE";
            my $socket = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "no socket: $!";
            syswrite($socket, "{\\"method\\":\\"org.varlink.service.GetInfo\\"}\\0");
            my $count = sysread($socket, my $text, 100);
            print $count ? "served" : "refused";
            """
        for (user, answer) in [("0", "served"), ("65534", "refused")] {
            let outcome = try ChildProcess.run(
                "/usr/bin/setpriv",
                ["--reuid", user, "--clear-groups", "/usr/bin/perl", "-MIO::Socket::UNIX", "-e", script, daemon.socket])
            #expect(outcome.output == answer, "\(outcome)")
        }
        #expect(try daemon.stop().errors.contains("another user"))
    }

    @Test("R77: a directory that belongs to another user is NotPermitted, with what to do")
    func foreignContainer() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let documents = "\(daemon.root)/\(Self.group)/Documents"
        try FileManager.default.setAttributes([.ownerAccountID: 65534], ofItemAtPath: documents)
        try peer.send(.createGroup(.example))
        let reply = try peer.receive()
        #expect(reply.error == "io.appgroupd.Settings.NotPermitted")
        #expect(settingsInterface.matches(parameters: reply.parameters, error: "NotPermitted"))
        #expect(reply.parameters["reason"]?.stringValue?.contains("chown") == true)
        #expect(reply.parameters["reason"]?.stringValue?.contains(documents) == true)
        // What is there goes on.
        #expect(try peer.read(.example).values.isEmpty)
    }
}
