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
