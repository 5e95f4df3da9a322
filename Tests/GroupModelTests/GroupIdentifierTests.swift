import GroupModel
import Testing

@Suite struct GroupIdentifierTests {
    @Test(arguments: [
        "group.com.example.app", "a", "A", "0", "_", "a-b", "a.", "a-", "_.-", "x.y.z", "trash.journal",
        String(repeating: "a", count: 200), "Group.Com.Example.App",
    ])
    func isTaken(text: String) throws {
        let group = try GroupIdentifier(text)
        #expect(group.string == text)
        #expect(group.description == text)
    }

    @Test(arguments: [
        ("", "empty"), (".", "begin"), ("..", "begin"), (".trash", "begin"), ("-a", "begin"), ("-", "begin"),
        ("a..b", ".."), ("a..", ".."), ("a...b", ".."), ("a/b", "consists"), ("../etc/passwd", "consists"),
        ("/", "consists"), ("a b", "consists"), ("a\u{0}b", "consists"), ("a\n", "consists"), ("café", "consists"),
        ("cafe\u{301}", "consists"), ("a*", "consists"), ("a?", "consists"), ("a\\b", "consists"), ("~", "consists"),
        ("\u{212A}elvin", "consists"), (String(repeating: "a", count: 201), "200"),
        (String(repeating: "é", count: 101), "200"),
    ])
    func isRefused(text: String, because fragment: String) {
        let error = #expect(throws: GroupError.self) { try GroupIdentifier(text) }
        guard case .invalidGroup(let group, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(group == text)
        #expect(reason.contains(fragment))
    }

    @Test func identifiersThatDifferInCaseAreDifferentGroups() throws {
        let lower = try GroupIdentifier("group.example")
        let upper = try GroupIdentifier("Group.Example")
        #expect(lower != upper)
        #expect(Set([lower, upper]).count == 2)
        #expect(upper < lower)
    }
}
