import Testing

@testable import Varlink

/// Bytes looked for eight at a time are found where a search one by one finds them.
@Suite struct SpanWordsTests {
    private func isSpecial(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x22 || byte == 0x5C }

    @Test func `every byte at every place of two words and a rest`() {
        for filling in [0x20, 0x21, 0x23, 0x5B, 0x5D, 0x7F, 0x80, 0xA2, 0xDC, 0xFF] as [UInt8] {
            for place in 0..<19 {
                for byte in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: filling, count: 19)
                    bytes[place] = byte
                    for start in [0, 3] {
                        let special = bytes[start...].firstIndex(where: isSpecial) ?? 19
                        #expect(bytes.span.nextSpecial(from: start) == special)
                        #expect(bytes.span.nextZero(from: start) == bytes[start...].firstIndex(of: 0) ?? 19)
                    }
                }
            }
        }
    }

    @Test func `several at once`() {
        var random = TestRandom(seed: TestRandom.printedSeed())
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0..<40, using: &random)).map { _ in
                [0, 0x1F, 0x20, 0x22, 0x5C, 0x80, 0x9F, 0xA2, 0xDC, 0xFF, 0x61, 0x61][
                    Int.random(in: 0..<12, using: &random)] as UInt8
            }
            #expect(bytes.span.nextSpecial(from: 0) == bytes.firstIndex(where: isSpecial) ?? bytes.count)
            #expect(bytes.span.nextZero(from: 0) == bytes.firstIndex(of: 0) ?? bytes.count)
        }
    }
}
