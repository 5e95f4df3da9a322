import GroupModel
import Testing

@Suite struct TimeSpanTests {
    @Test(
        arguments: [
            ("30", 30_000_000), ("500ms", 500_000), ("1min 30s", 90_000_000), ("2h", 7_200_000_000), ("0.5s", 500_000),
            ("1us", 1),
        ] as [(String, Int64)])
    func `numbers with units add up`(_ text: String, _ microseconds: Int64) {
        #expect(TimeSpan.microseconds(text) == microseconds)
    }

    @Test(arguments: ["", "soon", "-1s", "1x", "0s", "9999999999y", "1..5s"])
    func `anything else is none`(_ text: String) {
        #expect(TimeSpan.microseconds(text) == nil)
    }
}
