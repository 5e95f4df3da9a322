import GroupModel
import GroupProtocol
import PropertyList
import Testing

@testable import GroupServer

/// What an observer of documents has not been told yet.
@Suite struct DocumentQueueTests {
    typealias Kind = DocumentChange.Kind

    private func queue(path: String? = nil, limit: Int = 10_000) -> DocumentQueue {
        var queue = DocumentQueue(path: path.flatMap(DocumentPath.init), limit: limit)
        queue.isReady = true
        return queue
    }

    private func offer(_ kind: Kind, _ path: String, to queue: inout DocumentQueue) throws -> Bool {
        let change = DocumentChange(path: path, kind: kind, time: Timestamp(microseconds: 0))
        return queue.offer(change, of: try #require(DocumentPath(path)))
    }

    private func drain(_ queue: inout DocumentQueue) -> [String] {
        var lines: [String] = []
        while let event = queue.next() {
            switch event {
            case .change(let change): lines.append("\(change.kind.rawValue) \(change.path)")
            case .rescan: lines.append("rescan")
            case .established: lines.append("established")
            }
        }
        return lines
    }

    @Test(
        arguments: [
            ([.created, .changed], .created), ([.created, .deleted], nil), ([.changed, .deleted], .deleted),
            ([.deleted, .created], .changed), ([.changed, .changed], .changed),
            ([.deleted, .created, .deleted], .deleted),
            ([.created, .deleted, .created], .created),
        ] as [([Kind], Kind?)])
    func changesOfOneFileAreOne(kinds: [Kind], result: Kind?) throws {
        var queue = queue()
        for kind in kinds { _ = try offer(kind, "a", to: &queue) }
        #expect(drain(&queue) == (result.map { ["\($0.rawValue) a"] } ?? []))
        #expect(queue.waitingSize == 0)
    }

    @Test func filesComeInTheOrderOfTheirFirstChange() throws {
        var queue = queue()
        for path in ["b", "a", "b", "c", "e\u{301}", "\u{e9}"] { _ = try offer(.changed, path, to: &queue) }
        #expect(drain(&queue) == ["changed b", "changed a", "changed c", "changed e\u{301}", "changed \u{e9}"])
    }

    @Test func pastTheBoundThereIsARescanAndThenWhatFollows() throws {
        var queue = queue(limit: 1000)
        for number in 0..<10_000 { _ = try offer(.created, "file\(number)", to: &queue) }
        #expect(queue.waitingSize <= 1000)
        #expect(drain(&queue) == ["rescan"])
        _ = try offer(.changed, "a", to: &queue)
        #expect(drain(&queue) == ["changed a"])
    }

    @Test func aFileThatComesAndGoesForEverCostsNothing() throws {
        var queue = queue()
        for _ in 0..<100_000 {
            _ = try offer(.created, "a", to: &queue)
            _ = try offer(.deleted, "a", to: &queue)
        }
        #expect(queue.waitingSize == 0)
        #expect(drain(&queue) == [])
    }

    @Test func onlyTheFileOfInterestAndNothingBeforeTheWatchStands() throws {
        var queue = DocumentQueue(path: DocumentPath("a"), limit: 1000)
        #expect(try !offer(.changed, "b", to: &queue))
        #expect(try offer(.changed, "a", to: &queue))
        #expect(queue.next() == nil)
        queue.isReady = true
        #expect(drain(&queue) == ["changed a"])
    }
}
