import GroupModel
import TestSupport
import Testing

@Suite struct EpochTests {
    @Test(
        arguments: [
            (0, 0, "00000000000000000000000000000000"),
            (0, 1, "00000000000000000000000000000001"),
            (UInt64.max, 0, "ffffffffffffffff0000000000000000"),
            (0x0123_4567_89AB_CDEF, 0xFEDC_BA98_7654_3210, "0123456789abcdeffedcba9876543210"),
        ] as [(UInt64, UInt64, String)])
    func hasThirtyTwoDigits(high: UInt64, low: UInt64, text: String) {
        #expect(Epoch(high: high, low: low).description == text)
        #expect(Epoch(text) == Epoch(high: high, low: low))
    }

    @Test(arguments: [
        "", "0", "0000000000000000000000000000000", "000000000000000000000000000000000",
        "0123456789ABCDEFFEDCBA9876543210", "0123456789abcdeffedcba987654321g", "+123456789abcdeffedcba9876543210",
        "0123456789abcdef+edcba9876543210", "0123456789abcdef-edcba9876543210", " 0123456789abcdeffedcba987654321",
        "０123456789abcdeffedcba98765432", "01234567-89ab-cdef-fedc-ba9876543210",
    ])
    func nothingElseIsOne(text: String) {
        #expect(Epoch(text) == nil)
    }

    @Test func readsItsOwnText() {
        SplitMix64.withSeed { random in
            for _ in 0..<2000 {
                // Small numbers too: leading zeros are kept.
                let shift = UInt64.random(in: 0..<64, using: &random)
                let epoch = Epoch(high: random.next() >> shift, low: random.next() >> shift)
                #expect(Epoch(epoch.description) == epoch)
            }
        }
    }
}
