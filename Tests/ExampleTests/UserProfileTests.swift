import TestSupport
import Testing

@Suite("user-profile") struct UserProfileTests {
    let daemon: RunningDaemon

    init() throws {
        daemon = try RunningDaemon(isAtStandardPlace: true)
    }

    @Test("what one view saves the other shows, member by member; what is not saved nobody sees")
    func saving() throws {
        let picture = try daemon.directory.write("picture", "abcd")
        let first = try RunningExample("user-profile", with: daemon)
        let second = try RunningExample("user-profile", with: daemon)
        for line in ["name Ada", "email ada@example.org", "bio first programmer", "avatar \(picture)"] {
            first.type(line)
        }
        first.type("show")
        try first.expect(["Profile (not saved)", "  Name    Ada"])
        second.type("show")
        try second.expect(["Profile", "  Name    "])
        first.type("save")
        try second.expect(["name:  → Ada", "email:  → ada@example.org", "bio:  → first programmer"])
        second.type("show")
        try second.expect(["  Name    Ada", "  Bio     first programmer", "  Avatar  4 bytes"])
    }

    @Test("load forgets the edits, reset the profile")
    func loadAndReset() throws {
        let first = try RunningExample("user-profile", with: daemon)
        let second = try RunningExample("user-profile", with: daemon)
        for line in ["name Ada", "save", "name Bob", "load", "show"] { first.type(line) }
        try first.expect(["name:  → Ada", "Profile", "  Name    Ada"])
        first.type("reset")
        try second.expect(["name:  → Ada", "name: Ada → "])
        second.type("show")
        try second.expect(["  Name    ", "  Avatar  none"])
    }

    @Test("an edit in the second process stands while the first saves another")
    func editingWhileAnotherSaves() throws {
        let first = try RunningExample("user-profile", with: daemon)
        let second = try RunningExample("user-profile", with: daemon)
        second.type("name Grace")
        first.type("name Ada")
        first.type("save")
        try second.expect("name:  → Ada")
        second.type("show")
        try second.expect(["Profile (not saved)", "  Name    Grace"])
    }

    @Test("the profile is structure that other programs can read")
    func structure() throws {
        let outcome = try run("user-profile", ["email", "ada@example.org"], with: daemon)
        #expect(outcome.output == "email:  → ada@example.org\n")
        #expect(outcome.code == 0 && outcome.errors.isEmpty, "\(outcome)")
        let text = try daemon.control(["read", "group.com.example.app", "userProfile", "--json"]).output
        #expect(text.contains("ada@example.org"), "\(text)")
    }

    @Test("what is no address is refused")
    func refused() throws {
        let outcome = try run("user-profile", ["email", "ada"], with: daemon)
        #expect(outcome.errors == "error: an e-mail address has an @\n")
        #expect(outcome.code == 1 && outcome.output.isEmpty, "\(outcome)")
    }
}
