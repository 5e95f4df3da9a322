import Glibc
import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("Calls in line on one connection")
struct ProtocolStreamTests {
    static let group = #""group":"group.com.example.app""#

    static func write(_ key: String, _ number: Int, _ more: String = "") -> String {
        #"{"method":"io.appgroupd.Settings.Write","parameters":{\#(group),"edits":[{"key":"\#(key)","value":{"integer":\#(number)}}]\#(more)}}"#
            + "\0"
    }

    static func call(_ method: String, flags: String = "") -> String {
        #"{"method":"io.appgroupd.Settings.\#(method)","parameters":{\#(group)}\#(flags)}"# + "\0"
    }

    @Test("pipelined calls are answered in order, durable writes and Synchronize among them")
    func pipelined() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        var calls = ""
        for round in 0..<20 {
            calls += Self.write("a", round * 10) + Self.write("b", round * 10, #","durable":true"#)
            calls += Self.write("c", round * 10) + Self.call("Synchronize") + Self.write("a", round * 10 + 1)
            calls += Self.call("Read")
        }
        try peer.peer.send(Array(calls.utf8))
        for round in 0..<20 {
            let base = Int64(round * 4)
            var revisions: [Int64?] = []
            for _ in 0..<3 { revisions.append(try revision(of: peer.receive())) }
            #expect(try peer.receive() == Reply())
            revisions.append(try revision(of: peer.receive()))
            // Round 0 writes 0 into absent keys: each write changes something.
            #expect(revisions == [base + 1, base + 2, base + 3, base + 4])
            let read = try peer.checked(peer.receive())
            let values = try [Key: Value](wire: read["values"] ?? [:])
            let number = Int64(round * 10)
            #expect(values == ["a": .integer(number + 1), "b": .integer(number), "c": .integer(number)])
        }
    }

    private func revision(of reply: Reply) throws -> Int64? {
        #expect(reply.error == nil)
        return reply.parameters["position"].flatMap(Position.init(wire:))?.revision
    }

    @Test("oneway gets nothing, not even an error, and does the work")
    func oneway() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let oneway = #","oneway":true"#
        let write = String(Self.write("k", 7).dropLast(2)) + oneway + "}\0"
        let calls =
            write + Self.call("Read", flags: oneway) + Self.call("Nope", flags: oneway)
            + Self.call("Watch", flags: oneway) + Self.call("Synchronize", flags: oneway)
            + #"{"method":"no.such.Method","oneway":true}"# + "\0" + Self.call("Read")
        try peer.peer.send(Array(calls.utf8))
        let read = try peer.checked(peer.receive())
        #expect(try [Key: Value](wire: read["values"] ?? [:]) == ["k": .integer(7)])
        #expect(peer.peer.isQuiet(milliseconds: 50))
    }

    @Test("a oneway that is refused is in the log, whatever is wrong with it, without the value")
    func refusedOneway() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let parameters = [
            #""group":5"#, #""group":"group.none""#,
            #"\#(Self.group),"edits":[{"key":"k","value":{"string":"secret\u0001"}}]"#,
        ]
        for parameters in parameters {
            try peer.peer.sendMessage(
                #"{"method":"io.appgroupd.Settings.Write","parameters":{\#(parameters)},"oneway":true}"#)
        }
        var lines: [String] = []
        while lines.count < 3, let line = try daemon.process?.readErrorLine() {
            if line.contains("a one-way Write of process") { lines.append(line) }
        }
        #expect(lines.first?.contains("InvalidParameter") ?? false, "\(lines)")
        #expect(lines.last?.contains("the value of k is refused") ?? false, "\(lines)")
        #expect(!lines.contains { $0.contains("secret") })
    }

    @Test("oneway of a process that has ended before it was seen: refused, since nothing tells its sandbox, and logged")
    func onewayOfTheGone() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let call = String(Self.write("k", 7).dropLast(2)) + #","oneway":true}"#
        let script = """
            import socket, sys
            peer = socket.socket(socket.AF_UNIX)
            peer.connect(sys.argv[1])
            peer.sendall(sys.argv[2].encode() + bytes(1))
            """
        daemon.process?.kill(SIGSTOP)
        let gone = try ChildProcess("/usr/bin/python3", ["-c", script, daemon.socket, call])
        #expect(try gone.finish().code == 0)
        daemon.process?.kill(SIGCONT)
        var line = try daemon.process?.readErrorLine()
        while let text = line, !text.contains("one-way") { line = try daemon.process?.readErrorLine() }
        let text = try #require(line)
        #expect(text.contains("a one-way Write of process"))
        #expect(text.contains("not permitted: a process of which nothing is known"), "\(text)")
        #expect(try peer.read(.example).values == [:])
    }

    @Test("calls behind a stream are not served")
    func behindAStream() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let watcher = try SettingsPeer(daemon)
        try watcher.watch([WatchedGroup(group: .example)])
        try watcher.peer.send(Array((Self.write("never", 1) + Self.call("DeleteGroup")).utf8))
        _ = try watcher.snapshot()
        try peer.write(.example, [.set("k", .integer(1))])
        #expect(try watcher.nextCommit().keys == ["k"])
        #expect(try peer.read(.example).values == ["k": .integer(1)])
    }

    @Test("a watch behind calls that wait begins after their replies")
    func watchBehindWaitingCalls() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let watch = #"{"method":"io.appgroupd.Settings.Watch","more":true,"parameters":{"watches":[{\#(Self.group)}]}}"#
        let calls =
            Self.write("a", 1, #","durable":true"#) + Self.call("Synchronize") + Self.write("b", 2) + watch + "\0"
        try peer.peer.send(Array(calls.utf8))
        #expect(try revision(of: peer.receive()) == 1)
        #expect(try peer.receive() == Reply())
        #expect(try revision(of: peer.receive()) == 2)
        #expect(try peer.snapshot().values == ["a": .integer(1), "b": .integer(2)])
    }

    @Test("a client that has ended its side still gets its replies")
    func halfClosed() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let calls =
            Self.write("a", 1) + Self.write("b", 1, #","durable":true"#) + Self.call("Synchronize") + Self.call("Read")
        try peer.peer.send(Array(calls.utf8))
        peer.peer.endSending()
        #expect(try revision(of: peer.receive()) == 1)
        #expect(try revision(of: peer.receive()) == 2)
        #expect(try peer.receive() == Reply())
        #expect(try peer.checked(peer.receive())["values"] != nil)
        #expect(try peer.peer.readToEnd() == [])
    }

    @Test("a watcher that has ended its side still gets the news")
    func halfClosedWatcher() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let watcher = try daemon.watcher(of: .example)
        watcher.peer.endSending()
        for number in 1...3 {
            try peer.write(.example, [.set("k", .integer(Int64(number)))])
            #expect(try watcher.nextCommit().revision == Int64(number))
        }
    }

    @Test("the work of a client that is gone already is done")
    func gone() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let watcher = try daemon.watcher(of: .example)
        try peer.peer.send(Array((Self.write("a", 1) + Self.write("b", 2)).utf8))
        peer.peer.close()
        #expect(try watcher.nextCommit().keys == ["a"])
        #expect(try watcher.nextCommit().keys == ["b"])
    }

    @Test("messages may come in any pieces")
    func pieces() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        let bytes = Array((Self.write("é", 1) + Self.call("Read") + Self.write("x", 2)).utf8)
        for byte in bytes { try peer.peer.send([byte]) }
        #expect(try revision(of: peer.receive()) == 1)
        #expect(try peer.checked(peer.receive())["values"] != nil)
        #expect(try revision(of: peer.receive()) == 2)
        try SplitMix64.withSeed { random in
            for _ in 0..<50 {
                var rest = Array((Self.call("Read") + Self.call("Synchronize") + Self.call("Status2")).utf8)[...]
                while !rest.isEmpty {
                    let count = Int.random(in: 1...rest.count, using: &random)
                    try peer.peer.send(Array(rest.prefix(count)))
                    rest = rest.dropFirst(count)
                }
                #expect(try peer.receive().error == nil)
                #expect(try peer.receive() == Reply())
                #expect(try peer.receive().error == "org.varlink.service.MethodNotFound")
            }
        }
    }

    @Test("a message of 8 MiB is taken, one byte more ends the connection; a reply above it is TooLarge")
    func largeMessages() throws {
        let limit = 8 << 20
        let daemon = try RunningDaemon(configuration: ["MaxValueSize=16M", "MaxGroupSize=64M"])
        let peer = try daemon.peer(with: .example)
        let frame =
            #"{"method":"io.appgroupd.Settings.Write","parameters":{\#(Self.group),"edits":[{"key":"k","value":{"string":"@"}}]}}"#
        let parts = frame.split(separator: "@")
        let room = limit - frame.utf8.count + 1
        func message(_ count: Int) -> [UInt8] {
            Array(parts[0].utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: count) + Array(parts[1].utf8) + [0]
        }
        try peer.peer.send(message(room))
        #expect(try revision(of: peer.receive()) == 1)
        #expect(try peer.status(of: .example)?.bytes == room + 1)
        let second = try SettingsPeer(daemon)
        try? second.peer.send(message(room + 1))
        #expect(try second.peer.readToEnd() == [])
        try peer.write(.example, [.set("l", .string("more"))])
        guard case .tooLarge(_, let size, let given)? = try peer.refusal(of: .read(.example, keys: nil)) else {
            Issue.record("not refused")
            return
        }
        #expect(size == limit)
        #expect(given > limit)
        // To be had in parts.
        #expect(try peer.read(.example, keys: ["l"]).values == ["l": .string("more")])
    }

    @Test("random bytes harm nobody")
    func garbage() throws {
        let daemon = try RunningDaemon()
        let peer = try daemon.peer(with: .example)
        try SplitMix64.withSeed { random in
            for _ in 0..<200 {
                let victim = try daemon.peer()
                let count = Int.random(in: 1...300, using: &random)
                var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                if Bool.random(using: &random) {
                    // Nearly right is worse than wrong.
                    bytes = Array(Self.write("g", 1).utf8)
                    bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                try? victim.send(bytes)
                victim.close()
            }
        }
        try peer.write(.example, [.set("k", .integer(1))])
        #expect(try peer.read(.example, keys: ["k"]).values == ["k": .integer(1)])
        #expect(try eventually { try peer.status()?.clients == 1 })
    }
}
