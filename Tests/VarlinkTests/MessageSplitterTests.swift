import Testing
import Varlink

@Suite struct MessageSplitterTests {
    private func drain(_ splitter: inout MessageSplitter) throws(ProtocolViolation) -> [String] {
        var messages: [String] = []
        while let message = try splitter.next() {
            messages.append(String(decoding: message, as: UTF8.self))
        }
        return messages
    }

    @Test func splitsAtEveryPosition() throws {
        let bytes = Array("{\"a\":1}\u{0}[]\u{0}third\u{0}".utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var splitter = MessageSplitter()
                var messages: [String] = []
                for piece in [bytes[..<first], bytes[first..<second], bytes[second...]] {
                    splitter.append(piece)
                    messages += try drain(&splitter)
                }
                #expect(messages == ["{\"a\":1}", "[]", "third"])
                #expect(splitter.bufferedByteCount == 0)
            }
        }
    }

    @Test func waitsForTheRestOfAMessage() throws {
        var splitter = MessageSplitter()
        #expect(try splitter.next() == nil)
        splitter.append(Array("ab".utf8))
        #expect(try splitter.next() == nil)
        #expect(splitter.bufferedByteCount == 2)
        splitter.append(Array("c\u{0}d".utf8))
        #expect(try drain(&splitter) == ["abc"])
        #expect(splitter.bufferedByteCount == 1)
    }

    @Test(arguments: ["\u{0}", "a\u{0}\u{0}b\u{0}"])
    func closesOnAnEmptyMessage(text: String) {
        var splitter = MessageSplitter()
        splitter.append(Array(text.utf8))
        #expect(throws: ProtocolViolation.emptyMessage) { try drain(&splitter) }
        // And stays closed.
        splitter.append(Array("x\u{0}".utf8))
        #expect(throws: ProtocolViolation.emptyMessage) { try splitter.next() }
        #expect(splitter.bufferedByteCount == 0)
    }

    @Test func takesAMessageOfExactlyTheLimit() throws {
        var splitter = MessageSplitter(limit: 4)
        splitter.append(Array("1234".utf8))
        #expect(try splitter.next() == nil)
        splitter.append([0])
        #expect(try drain(&splitter) == ["1234"])
    }

    @Test(arguments: ["12345", "12345\u{0}", "1\u{0}12345"])
    func closesAsSoonAsAMessageIsTooLong(text: String) {
        var splitter = MessageSplitter(limit: 4)
        splitter.append(Array(text.utf8))
        #expect(throws: ProtocolViolation.messageTooLong(limit: 4)) { try drain(&splitter) }
    }

    @Test func holdsNoMoreThanTheLimitAndOnePiece() {
        var splitter = MessageSplitter(limit: 1000)
        let piece = [UInt8](repeating: 120, count: 100)
        var violation: ProtocolViolation?
        for _ in 0..<1000 {
            splitter.append(piece)
            #expect(splitter.bufferedByteCount <= 1100)
            do { _ = try splitter.next() } catch { violation = error }
        }
        #expect(violation == .messageTooLong(limit: 1000))
    }

    @Test func randomPiecesGiveTheMessagesBack() throws {
        let seed = TestRandom.printedSeed()
        var random = TestRandom(seed: seed)
        for _ in 0..<100 {
            let messages = (0..<40).map { String(repeating: "m\($0)", count: Int.random(in: 1...500, using: &random)) }
            let bytes: [UInt8] = messages.flatMap { Array("\($0)\u{0}".utf8) }
            var splitter = MessageSplitter()
            var received: [String] = []
            var position = 0
            while position < bytes.count {
                let end = min(position + Int.random(in: 1...5000, using: &random), bytes.count)
                splitter.append(bytes[position..<end])
                position = end
                // A server that is busy with a stream does not always take all there is.
                if Bool.random(using: &random) { received += try drain(&splitter) }
                if let one = try splitter.next() { received.append(String(decoding: one, as: UTF8.self)) }
            }
            received += try drain(&splitter)
            #expect(received == messages, "seed \(seed)")
        }
    }
}
