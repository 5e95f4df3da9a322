import GroupModel
import GroupProtocol
import PropertyList
import TestSupport
import Testing
import Varlink

@Suite("What values take in a message")
struct MessageSizeTests {
    private func bytes(_ value: Value) -> Int {
        var writer = JSONWriter()
        writer.write(value)
        return writer.bytes.count
    }

    @Test("is never underestimated, and hardly overestimated")
    func values() throws {
        try SplitMix64.withSeed { random throws in
            for _ in 0..<5000 {
                let value = random.value()
                let size = bytes(value)
                #expect(value.messageSize >= size, "\(value)")
                // A number of one digit is counted with all that it may have, and its commas.
                #expect(value.messageSize <= 3 * size + 1, "\(value)")
            }
        }
    }

    static let growing: [Value] = [
        .array(Array(repeating: .array([]), count: 1000)), .array(Array(repeating: .dictionary([:]), count: 1000)),
        .array(Array(repeating: .boolean(false), count: 1000)), .array(Array(repeating: .string(""), count: 1000)),
        .string(String(repeating: "\n", count: 1000)), .string(String(repeating: "\"", count: 1000)),
        .array(Array(repeating: .dictionary(["": .dictionary([:])]), count: 1000)),
        .array(Array(repeating: .dictionary(["\n": .array([])]), count: 1000)),
        .data([UInt8](repeating: 0, count: 998)),
    ]

    @Test("is exact for what is much larger there than the caps count", arguments: growing)
    func growth(value: Value) {
        let size = bytes(value)
        #expect((size...size + 1001).contains(value.messageSize))
        // What is passed at first sight must fit.
        #expect(size <= value.encodedSize * 24)
    }

    @Test("a value is refused that no message has room for, and one that just fits is not")
    func fits() {
        // Six bytes each, and thirteen around them.
        let count = (Limits.valueMessageSize - 13) / 6
        #expect(Value.string(String(repeating: "\n", count: count)).fitsMessage)
        #expect(!Value.string(String(repeating: "\n", count: count + 1)).fitsMessage)
        #expect(Value.string(String(repeating: "x", count: 8_000_000)).fitsMessage)
    }

    @Test("of a commit neither")
    func commits() throws {
        let group = try GroupIdentifier("group.test")
        try SplitMix64.withSeed { random throws in
            for _ in 0..<500 {
                let changes = (0..<Int.random(in: 1...5, using: &random)).map { number in
                    Change(
                        key: Key(random.text() + "\(number)"), old: random.maybe { $0.value() },
                        new: random.maybe { $0.value() }, layer: random.pick(Layer.allCases))
                }
                let origin = Origin(kind: .client, client: "program", processId: 1, tag: random.text())
                let commit = Commit(
                    group: group, revision: .max, time: Timestamp(microseconds: 0), origin: origin, changes: changes)
                #expect(commit.messageSize >= commit.encoded.count)
            }
        }
    }
}
