import GroupModel
import Testing

@testable import GroupServer

@Suite struct DirectoryTableTests {
    private let group: GroupIdentifier

    init() throws { group = try GroupIdentifier("group.com.example.app") }

    @Test("a directory that is not there is asked for when it is seen, and not before")
    func absence() {
        var table = DirectoryTable()
        let first = table.set(["/a", "/a/b"], for: group).added
        #expect(first == ["/a", "/a/b"])
        _ = table.answered("/a", .watched)
        _ = table.answered("/a/b", .absent)
        // What is needed is set again after every look.
        let again = table.set(["/a", "/a/b"], for: group).added
        #expect(again == [])
        #expect(table.isWatched(group))
        table.isThere("/a")
        table.isThere("/a/b")
        let seen = table.set(["/a", "/a/b"], for: group).added
        #expect(seen == ["/a/b"])
    }

    @Test("with a directory those below it are lost, and no others")
    func below() throws {
        var table = DirectoryTable()
        let other = try GroupIdentifier("group.com.example.other")
        _ = table.set(["/a", "/a/b", "/a/b/c", "/ab", "/x"], for: group)
        _ = table.set(["/x", "/x/a"], for: other)
        table.lost("/a")
        let again = table.set(["/a", "/a/b", "/a/b/c", "/ab", "/x"], for: group).added
        #expect(again == ["/a", "/a/b", "/a/b/c"])
        table.allLost()
        let all = table.set(["/x", "/x/a"], for: other).added
        #expect(all == ["/x", "/x/a"])
    }

    @Test("one that is given up is unknown, also where it was not there")
    func removal() {
        var table = DirectoryTable()
        _ = table.set(["/a"], for: group)
        _ = table.answered("/a", .absent)
        let dropped = table.remove(group)
        #expect(dropped == ["/a"])
        let isNeeded = table.answered("/a", .watched)
        #expect(!isNeeded)
        let again = table.set(["/a"], for: group).added
        #expect(again == ["/a"])
    }
}
