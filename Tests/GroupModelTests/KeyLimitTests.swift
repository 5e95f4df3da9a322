import GroupModel
import PropertyList
import Testing

@Suite struct KeyLimitTests {
    @Test func r69ComposedAndDecomposedAreTwoKeys() {
        let composed: Key = "caf\u{E9}"
        let decomposed: Key = "cafe\u{301}"
        #expect(composed.string == decomposed.string, "equal for Swift's String")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(decomposed < composed)
        #expect([composed: Value.integer(1), decomposed: .integer(2)].count == 2)
        let kelvin: Key = "\u{212A}"
        #expect(kelvin != "K")
    }

    @Test func r69CanonicallyEqualTextsAreTwoValues() {
        #expect(Value.string("caf\u{E9}") != Value.string("cafe\u{301}"))
    }

    @Test(arguments: [
        "", " ", ".", "a.b.c", "@", "/", "a/b", "\u{1F600}", "caf\u{E9}", "cafe\u{301}", "\t", "\n", "\r", "\u{85}",
        "*", "\\", "\"", "<&>]]>", "\u{7F}", String(repeating: "a", count: 1024), String(repeating: "é", count: 512),
    ])
    func isAnOrdinaryKey(text: String) throws {
        try Key(text).validate()
    }

    @Test(arguments: [
        (String(repeating: "a", count: 1025), "1024"), (String(repeating: "é", count: 512) + "a", "1024"),
        ("\u{0}", "control"), ("a\u{1}", "control"), ("\u{1B}[0m", "control"), ("\u{B}", "control"),
        ("\u{1F}", "control"), ("\u{FFFE}", "control"), ("\u{FFFF}", "control"),
    ])
    func isRefused(text: String, because fragment: String) {
        let error = #expect(throws: GroupError.self) { try Key(text).validate() }
        guard case .invalidKey(let key, let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(key == text)
        #expect(reason.contains(fragment))
    }

    @Test(
        arguments: [
            (.string(""), 1), (.string("é"), 3), (.integer(5), 9), (.unsignedInteger(.max), 9), (.real(0), 9),
            (.date(Timestamp(microseconds: 0)), 9), (.boolean(true), 2), (.data([1, 2]), 3), (.array([]), 1),
            (.array([.boolean(true), .string("a")]), 5), (.dictionary([:]), 1),
            (.dictionary(["ab": .integer(1), "": .boolean(false)]), 14),
        ] as [(Value, Int)])
    func encodedSize(value: Value, size: Int) {
        #expect(value.encodedSize == size)
    }
}
