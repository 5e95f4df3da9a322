import Testing

@testable import GroupServer

@Suite("What a rewritten journal must catch up with before it takes the old one's place")
struct CompactionTrackingTests {
    private static let tail: [(payload: [UInt8], isCommit: Bool)] = [([0x7B, 0x7D], true)]

    @Test("nothing, where nothing came since")
    func empty() {
        var tracking = CompactionTracking(horizon: 0)
        #expect(!tracking.needsCatchUp(syncedSize: 4096))
        tracking.catchUpStart = 1024
        #expect(!tracking.needsCatchUp(syncedSize: 4096))
    }

    @Test("what came while it was written: a sync of the old one may have been told of")
    func first() {
        #expect(CompactionTracking(tail: Self.tail, horizon: 0).needsCatchUp(syncedSize: 0))
    }

    @Test(
        "what came during that only where a sync of the old one went further", arguments: [(1024, false), (1025, true)])
    func second(_ synced: UInt64, _ needs: Bool) {
        let tracking = CompactionTracking(tail: Self.tail, catchUpStart: 1024, horizon: 0)
        #expect(tracking.needsCatchUp(syncedSize: synced) == needs)
    }
}
