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

    /// Where both take a message they agree, and what the fast one takes the slow one takes.
    private func check(_ message: [UInt8], _ random: inout SplitMix64) -> Bool {
        let result = fast(message, probably: random.maybe { $0.group() })
        if let result { #expect(result == slowly(message), "\(String(decoding: message, as: UTF8.self))") }
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
        let text = GroupText(random.group(), epoch)
        var commit = random.commit()
        commit.group = text.group
        for _ in 0..<2000 {
            let time = random.pick([commit.time, random.timestamp()])
            commit = random.commit()
            (commit.group, commit.time) = (text.group, time)
            #expect(text.encoded(commit, from: OriginText(commit.origin)) == commit.encoded)
            var writer = JSONWriter()
            writer.bytes = [7]
            text.writeReply(commit.revision, changed: commit.changes, to: &writer)
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
