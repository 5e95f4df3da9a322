import Foundation
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("What the log says")
struct LogTests {
    private static let group = "group.com.example.app"
    private static let secret = "s3cr3t"

    /// A value with the secret, and some more.
    private func value(_ count: Int = 0) -> Value { .string(Self.secret + String(repeating: "x", count: count)) }

    @Test("a log that nobody reads holds nobody up for long, and what was lost is told when there is room again")
    func unread() throws {
        let daemon = try RunningDaemon(starts: false)
        // All that a pipe holds is in it before the first line.
        let fill = "{ head -c 65535 /dev/zero | tr '\\0' x; echo; } >&2; exec \"$0\" \"$@\""
        let process = try ChildProcess(
            "/bin/sh", ["-c", fill, builtProgram("appgroupd")] + daemon.commandLine,
            environment: ["HOME": daemon.directory.path])
        #expect(eventually { (try? SettingsPeer(daemon).groups()) != nil })
        let (noisy, other) = (try SettingsPeer(daemon), try SettingsPeer(daemon))
        for _ in 0..<20 {
            try noisy.peer.sendMessage(
                #"{"method":"io.appgroupd.Settings.Read","parameters":{"group":"none"},"oneway":true}"#)
        }
        let start = ContinuousClock.now
        _ = try noisy.groups()
        _ = try other.groups()
        // Waiting for each of the lines would take two seconds at least.
        #expect(.now - start < .seconds(1))
        #expect(try process.readErrorLine()?.utf8.count == 65535)
        process.kill(SIGHUP)
        #expect(try process.readErrorLine()?.contains("log lines were lost, because nobody read them") == true)
        #expect(try process.readErrorLine()?.contains("the configuration was read again") == true)
    }

    @Test("it names the group, and never says what a setting holds, whatever goes wrong")
    func secrecy() throws {
        let kernel = try FakeKernel()
        let daemon = try RunningDaemon(
            configuration: ["LogLevel=debug", "MaxValueSize=1000", "PollIntervalSec=50ms", "HistoryCommits=5"],
            environment: kernel.environment)
        let peer = try daemon.peer(with: .example)
        for number in 0..<20 { try peer.write(.example, [.set("a", value(number))]) }
        try peer.synchronize()
        try refusals(daemon, peer)
        try files(daemon, peer)
        try disk(kernel, peer)
        try peer.call(.deleteGroup(.example))
        let log = try daemon.stop().errors
        #expect(!log.contains(Self.secret), "\(log.split(separator: "\n").filter { $0.contains(Self.secret) })")
        for line in log.split(separator: "\n") where line.contains("property list") || line.contains("journal") {
            #expect(line.contains(Self.group), "\(line)")
        }
        #expect(log.contains("No space left") && log.contains("Input/output error"), "\(log)")
    }

    /// Calls that are refused, also those that nobody is answered.
    private func refusals(_ daemon: RunningDaemon, _ peer: SettingsPeer) throws {
        let edits: [Edit] = [
            .set("a", value(2000)), Edit(key: "a", operation: .increment, value: value()),
            Edit(key: "a", operation: .merge, value: .dictionary(["k": value()])),
            .set("a", .string("\(Self.secret)\u{1}")),
        ]
        for edit in edits {
            let request = Request.write(WriteRequest(group: .example, edits: [edit]))
            #expect(try peer.refusal(of: request) != nil)
        }
        let secret = Self.secret
        let calls = [
            #""method":"io.appgroupd.Settings.Write","oneway":true,"parameters":{"group":"group.com.example.app","edits":[{"key":"a","operation":"increment","value":{"string":"\#(secret)"}}]}"#,
            #""method":"io.appgroupd.Settings.Write","oneway":true,"parameters":{"group":"group.com.example.app","edits":[{"key":"a","value":{"date":"\#(secret)"}}]}"#,
            #""method":"io.appgroupd.Settings.Write","oneway":true,"parameters":{"group":"group.com.example.app","edits":"\#(secret)"}"#,
            #""method":"io.appgroupd.Settings.Write","parameters":{"value":"\#(secret)}"#,
        ]
        for call in calls {
            let other = try SettingsPeer(daemon)
            try other.peer.sendMessage("{\(call)}")
            other.peer.endSending()
            _ = try other.peer.readToEnd()
        }
    }

    /// Files that cannot be read, are too large, or are in the way.
    private func files(_ daemon: RunningDaemon, _ peer: SettingsPeer) throws {
        let path = daemon.plist(Self.group)
        let texts = [
            "<plist><dict><key>a</key><string>\(Self.secret)</dict>", Self.secret,
            Plist.text(["a": "<string>\(Self.secret)\(String(repeating: "x", count: 2000))</string>"]),
            Plist.text(["a": "<integer>\(Self.secret)</integer>"]), Plist.text(["a": "<date>\(Self.secret)</date>"]),
            Plist.text(["a": "<data>\(Self.secret)!</data>"]), Plist.text(["a": "<string>x&\(Self.secret);</string>"]),
            Plist.text(["a": "<string>x<\(Self.secret)></string>"]), Plist.text(["a": "<\(Self.secret)/>"]),
            Plist.text(["a": "<string>x</\(Self.secret)></string>"]), Plist.text(["a": "<!-- --\(Self.secret) -->"]),
            Plist.text(["a": "<string>x<?\(Self.secret)?></string>\(Self.secret)"]),
        ]
        for text in texts {
            try Plist.replace(path, with: text)
            #expect(try peer.refusal(of: .synchronize(.example)) != nil)
            #expect(try peer.status(of: .example)?.plist == .damaged)
        }
        try Plist.replace(path, with: Plist.text(["a": "<string>\(Self.secret)</string>"]))
        try peer.synchronize()
    }

    private func disk(_ kernel: FakeKernel, _ peer: SettingsPeer) throws {
        try kernel.obey("pwrite \(ENOSPC)")
        #expect(try peer.refusal(of: .example, [.set("a", value(1))]) != nil)
        try kernel.obey("fsync \(EIO)", "fdatasync \(EIO)")
        let write = WriteRequest(group: .example, edits: [.set("a", value(2))], isDurable: true)
        #expect(try peer.refusal(of: .write(write)) != nil)
        #expect(try peer.refusal(of: .synchronize(.example)) != nil)
        try kernel.obey("unlink \(EIO) .appgroupd-swap")
        try peer.write(.example, [.set("a", value(3))])
        _ = try peer.refusal(of: .synchronize(.example))
        try kernel.obey()
        #expect(try eventually { try peer.refusal(of: .synchronize(.example)) == nil })
    }
}
