import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

/// The short way from the bytes of a `Write` to its request comes to the same as the long one, or leaves it to that.
@Suite struct OrdinaryWriteTests {
    /// The long way: a tree, then the fields. Nil where the message is refused or is no single call of `Write`.
    private func slowly(_ message: [UInt8]) -> WriteRequest? {
        guard let call = try? Call(parsing: message), call.mode == .single,
            call.method == "io.appgroupd.Settings.Write",
            case .write(let request)? = try? Request(.write, call.parameters)
        else { return nil }
        return request
    }

    private func fast(_ message: [UInt8], probably group: GroupIdentifier? = nil) -> WriteRequest? {
        WriteRequest(ordinaryCall: message.span, probably: group)
    }

    private func call(_ parameters: String) -> [UInt8] {
        Array(#"{"method":"io.appgroupd.Settings.Write","parameters":\#(parameters)}"#.utf8)
    }

    @Test(
        arguments: [
            #"{"group":"a","edits":[{"key":"k","value":{"string":"v"}}]}"#,
            #"{"group":"a","edits":[{"key":"","value":{"string":""}}]}"#,
            #"{"group":"a","edits":[{"key":"é😀","value":{"integer":-9223372036854775808}}]}"#,
            #"{"group":"a","edits":[{"key":"k","value":{"real":1}},{"key":"k","value":{"real":-0.0}}]}"#,
            #"{"group":"a","edits":[{"key":"k"}],"tag":"t"}"#,
            #"{"group":"a","edits":[{"value":{"boolean":true},"operation":"set","key":"k"}]}"#,
            #"{"group":"a","edits":[{"key":"k","operation":"toggle"}],"durable":false,"ifUnchangedSince":7}"#,
            " { \"edits\" : [ { \"key\" : \"k\" , \"value\" :\t{ \"integer\" : 1 } } ] ,\r\n \"group\" : \"a.b\" } ",
        ])
    func `ordinary writes are taken, and mean what they mean as a tree`(parameters: String) throws {
        let message = call(parameters)
        let request = try #require(fast(message))
        #expect(request == slowly(message))
        let other = try GroupIdentifier("a.bc")
        for group in [request.group, other] { #expect(fast(message, probably: group) == request) }
    }

    @Test(
        arguments: [
            "{}", "[]", "null", #"{"group":"a"}"#, #"{"group":"a","edits":[]}"#, #"{"group":"a","edits":[{}]}"#,
            #"{"group":"..","edits":[{"key":"k"}]}"#, #"{"group":"a","edits":[{"key":"k"}],"x":1}"#,
            #"{"group":"a","edits":[{"key":"k"}],"tag":null}"#, #"{"group":"a","edits":[{"key":"k","key":"k"}]}"#,
            #"{"group":"a","group":"a","edits":[{"key":"k"}]}"#, #"{"group":"a","edits":[{"key":"k"}],"edits":[]}"#,
            #"{"group":"a","edits":[{"key":"\n"}]}"#, #"{"group":"a","edits":[{"key":"k","value":{}}]}"#,
            #"{"group":"a","edits":[{"key":"k","value":{"integer":1.0}}]}"#,
            #"{"group":"a","edits":[{"key":"k","value":{"integer":1,"real":1.0}}]}"#,
            #"{"group":"a","edits":[{"key":"k","value":{"array":[]}}]}"#,
            #"{"group":"a","edits":[{"key":"k","operation":"Set"}]}"#,
            #"{"group":"a","edits":[{"key":"k","operation":"merge","otherwise":{"integer":1}}]}"#,
            #"{"group":"a","edits":[{"key":"k"},]}"#, #"{"group":"a","edits":[{"key":"k"}]"#,
            #"{"group":"a","edits":[{"key":"k"}],"durable":tru}"#,
            #"{"group":"a","edits":[{"key":"k"}],"ifUnchangedSince":01}"#,
        ])
    func `everything else is left to the tree`(parameters: String) {
        #expect(fast(call(parameters)) == nil)
    }

    @Test(
        arguments: [
            "", "{", "{}", "1", #"{"method":"io.appgroupd.Settings.Write"}"#,
            #"{"parameters":{"group":"a","edits":[{"key":"k"}]}}"#,
            #"{"method":"io.appgroupd.Settings.Read","parameters":{"group":"a","edits":[{"key":"k"}]}}"#,
            #"{"method":"io.appgroupd.Settings.Write","parameters":{"group":"a","edits":[{"key":"k"}]},"oneway":true}"#,
            #"{"method":"io.appgroupd.Settings.Write","parameters":{"group":"a","edits":[{"key":"k"}]}}x"#,
        ])
    func `so is every other envelope`(message: String) {
        #expect(fast(Array(message.utf8)) == nil)
    }

    /// The shortest way: a set of a string.
    private func shortly(_ message: [UInt8], of group: GroupIdentifier) -> WriteRequest? {
        guard let set = OrdinarySet(message.span, like: OrdinarySet.Pattern(group)), set.isSound(in: message.span),
            set.end == message.count
        else { return nil }
        let key = String(decoding: message[set.key], as: UTF8.self)
        let text = String(decoding: message[set.text], as: UTF8.self)
        return WriteRequest(group: group, edits: [.set(Key(key), .string(text))], tag: set.tag(in: message.span))
    }

    @Test(arguments: ["", "v", "a longer text than fits a word", "é😀", "\u{7F}", "a/b"], [nil, "", "tag 1"])
    func `a set of a string has its parts where they are`(text: String, tag: String?) throws {
        let group = try GroupIdentifier("group.com.example.app")
        let request = WriteRequest(group: group, edits: [.set("k.1", .string(text))], tag: tag)
        let message: [UInt8] = Request.write(request).callBytes.dropLast()
        #expect(shortly(message, of: group) == request)
        #expect(shortly(message, of: try GroupIdentifier("group.com.example.ap")) == nil)
        for end in message.indices { #expect(shortly(Array(message[..<end]), of: group) == nil) }
    }

    @Test func `a string in the place of another one reads as the commit's parts say`() throws {
        let group = try GroupIdentifier("group.a")
        var text = GroupText(group, Epoch(high: 1, low: 2))
        let origins = ["one", "two"].map { OriginText(Origin(kind: .client, client: $0, processId: 7)) }
        var random = SplitMix64(seed: 7)
        var time = Timestamp(microseconds: 1_000_000 * 998 - 40)
        for revision in Int64(1)...2100 {
            // Times that come again, that go on within the second, and that leave it.
            time.microseconds += random.pick([0, 0, 1, 7, 900_000])
            let origin = random.pick(origins + [origins[0], origins[0]])
            let (old, new, tag) = (random.text(), random.pick(["x", "é", "some more"]), random.pick([nil, "t"]))
            let request = WriteRequest(group: group, edits: [.set("k", .string(new))], tag: tag)
            let message: [UInt8] = Request.write(request).callBytes.dropLast()
            let found = OrdinarySet(message.span, like: OrdinarySet.Pattern(group))
            let set = try #require(found)
            var author = origin.origin
            author.tag = tag
            let change = Change(key: "k", old: .string(old), new: .string(new))
            let commit = Commit(group: group, revision: revision, time: time, origin: author, changes: [change])
            var bytes: [UInt8] = [7]
            let key = text.write(
                set, of: message.span, old: old.utf8.span, revision: revision, time: time, origin: origin, to: &bytes)
            #expect(bytes == [7] + commit.encoded)
            #expect(Array(bytes[key]) == Array(#""k""#.utf8))
            var reply: [UInt8] = []
            text.writeReply(revision, changedKey: bytes.span.extracting(key), to: &reply)
            var other: [UInt8] = []
            text.writeReply(revision, changed: [change], to: &other)
            #expect(reply == other)
        }
    }

    /// Where both take a message they agree, and what the fast one takes the slow one takes.
    private func check(_ message: [UInt8], _ random: inout SplitMix64) -> Bool {
        let result = fast(message, probably: random.maybe { $0.group() })
        if let result { #expect(result == slowly(message), "\(String(decoding: message, as: UTF8.self))") }
        let short = result.flatMap { shortly(message, of: $0.group) }
        if let short { #expect(short == result, "\(String(decoding: message, as: UTF8.self))") }
        return result != nil
    }

    @Test func `random messages mean the same to both, mutated ones too`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed: \(seed)")
        var random = SplitMix64(seed: seed)
        var taken = 0
        for _ in 0..<4000 {
            var message: [UInt8] = random.request(.write).callBytes.dropLast()
            if check(message, &random) { taken += 1 }
            for _ in 0..<4 {
                random.mutate(&message)
                if check(message, &random) { taken += 1 }
            }
        }
        #expect(taken > 400)
    }

    @Test func `what a group's text says of commits is what their parts say`() {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed: \(seed)")
        var random = SplitMix64(seed: seed)
        let epoch = Epoch(high: random.next(), low: random.next())
        var text = GroupText(random.group(), epoch)
        var commit = random.commit()
        commit.group = text.group
        for _ in 0..<2000 {
            let time = random.pick([commit.time, random.timestamp()])
            commit = random.commit()
            (commit.group, commit.time) = (text.group, time)
            var writer = JSONWriter()
            writer.bytes = [7]
            text.write(
                commit.changes, revision: commit.revision, time: commit.time, origin: OriginText(commit.origin),
                tag: commit.origin.tag, to: &writer)
            #expect(writer.bytes == [7] + commit.encoded)
            writer.bytes = [7]
            text.writeReply(commit.revision, changed: commit.changes, to: &writer.bytes)
            let reply = Reply.bytes {
                $0.member("position")
                $0.write(Position(epoch: epoch, revision: commit.revision))
                $0.member("changed", strings: commit.changes.map(\.key.string))
            }
            #expect(writer.bytes == [7] + reply)
        }
    }
}

extension SplitMix64 {
    /// Changes, removes, doubles or inserts a byte, one that means something to JSON often.
    fileprivate mutating func mutate(_ message: inout [UInt8]) {
        guard let index = message.indices.randomElement(using: &self) else { return }
        let any = UInt8.random(in: 0...255, using: &self)
        let byte = pick(Array(#"{}[],:"\ tfn01-.eE"#.utf8) + [0, 0x1F, 0x7F, 0xC3, any])
        switch Int.random(in: 0..<4, using: &self) {
        case 0: message[index] = byte
        case 1: message.remove(at: index)
        case 2: message.insert(message[index], at: index)
        default: message.insert(byte, at: index)
        }
    }
}
