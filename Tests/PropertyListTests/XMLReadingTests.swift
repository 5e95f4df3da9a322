import PropertyList
import Testing

@Suite("An XML property list is read")
struct XMLReadingTests {
    /// The value of the key `k` in a document around it.
    private func value(_ element: String) throws -> Value? {
        try XMLPropertyList(parsing: [UInt8]("<plist><dict><key>k</key>\(element)</dict></plist>")).entries["k"]
    }

    static let scalars: [(String, Value)] = [
        ("<string/>", .string("")),
        ("<string></string>", .string("")),
        ("<string > a </string >", .string(" a ")),
        ("<string xml:space='preserve' a=\"x>y\">a</string>", .string("a")),
        ("<string>\n a\tb\n</string>", .string("\n a\tb\n")),
        ("<string>a\r\nb\rc\n</string>", .string("a\nb\nc\n")),
        ("<string>a&#13;&#10;b&#xD;</string>", .string("a\r\nb\r")),
        ("<string>&lt;&gt;&amp;&quot;&apos;&#65;&#x42;&#x1F600;</string>", .string("<>&\"'AB😀")),
        ("<string>a<![CDATA[<b>&amp;\r\n]] >]]>c</string>", .string("a<b>&amp;\n]] >c")),
        ("<string><![CDATA[]]></string>", .string("")),
        ("<string>a<!-- no --><?no no?>b</string>", .string("ab")),
        ("<string>e\u{301}é😀\u{85}\u{2028}</string>", .string("e\u{301}é😀\u{85}\u{2028}")),
        ("<string>\u{1}\u{FFFE}</string>", .string("\u{1}\u{FFFE}")),
        ("<true/>", .boolean(true)), ("<true />", .boolean(true)), ("<true></true>", .boolean(true)),
        ("<false/>", .boolean(false)), ("<false> \n</false>", .boolean(false)),
        ("<integer>1</integer>", .integer(1)), ("<integer>+1</integer>", .integer(1)),
        ("<integer>-1</integer>", .integer(-1)), ("<integer> \n007\t</integer>", .integer(7)),
        ("<integer>- 5</integer>", .integer(-5)), ("<integer>-0</integer>", .integer(0)),
        ("<integer>0x1F</integer>", .integer(31)), ("<integer>0XfF</integer>", .integer(255)),
        ("<integer>-0x8000000000000000</integer>", .integer(.min)),
        ("<integer>9223372036854775807</integer>", .integer(.max)),
        ("<integer>-9223372036854775808</integer>", .integer(.min)),
        ("<integer>9223372036854775808</integer>", .unsignedInteger(9_223_372_036_854_775_808)),
        ("<integer>18446744073709551615</integer>", .unsignedInteger(.max)),
        ("<integer>0xffffffffffffffff</integer>", .unsignedInteger(.max)),
        ("<integer>&#49;<![CDATA[2]]></integer>", .integer(12)),
        ("<real>1</real>", .real(1)), ("<real>1.0</real>", .real(1)), ("<real> -1.5e3\n</real>", .real(-1500)),
        ("<real>.5</real>", .real(0.5)), ("<real>1.</real>", .real(1)), ("<real>+2E-2</real>", .real(0.02)),
        ("<real>-0.0</real>", .real(-0.0)), ("<real>0.1</real>", .real(0.1)),
        ("<real>5e-324</real>", .real(.leastNonzeroMagnitude)),
        ("<real>nan</real>", .real(.nan)), ("<real>NaN</real>", .real(.nan)),
        ("<real>inf</real>", .real(.infinity)), ("<real>+infinity</real>", .real(.infinity)),
        ("<real>Infinity</real>", .real(.infinity)), ("<real>infinity</real>", .real(.infinity)),
        ("<real>-infinity</real>", .real(-.infinity)), ("<real>-inf</real>", .real(-.infinity)),
        ("<date>2026-11-30T09:00:00Z</date>", .date(Timestamp(microseconds: 1_796_029_200_000_000))),
        ("<date>\n0001-01-01T00:00:00Z </date>", .date(.representable.lowerBound)),
        ("<data/>", .data([])), ("<data>\n\t</data>", .data([])),
        ("<data>\n\tZm9v\n\tYg==\n\t</data>", .data([UInt8]("foob"))),
        ("<array/>", .array([])), ("<array></array>", .array([])),
        (
            "<array><!-- a --><integer>1</integer><?b?><array><true/></array> </array>",
            .array([.integer(1), .array([.boolean(true)])])
        ),
        ("<dict/>", .dictionary([:])), ("<dict><!-- a --></dict>", .dictionary([:])),
        (
            "<dict><key/><true/><key> a </key><!-- x --><dict/></dict>",
            .dictionary(["": .boolean(true), " a ": .dictionary([:])])
        ),
    ]

    @Test("value by value", arguments: scalars)
    func values(element: String, expected: Value) throws {
        #expect(try value(element) == expected)
        // Inside a comment-laden array too, where nothing but the element's own end can end it.
        #expect(try value("<array><!--<a>-->\(element)<!--</array>--></array>") == .array([expected]))
    }

    static let surroundings: [String] = [
        "<plist><dict>*</dict></plist>",
        "<dict>*</dict>",
        "\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-8\"?>\r\n<plist version='1.0'>\r\n<dict>*</dict>\r\n</plist>\r\n",
        "<?xml version=\"1.0\" encoding=\"latin-99\"?><plist><dict>*</dict></plist>",
        "\n\n <!-- a <dict> --> <?pi <dict> ?> <plist>\n<!-- b --><dict>*</dict><!-- c --></plist>\n<!-- d --><?e?>\n",
        """
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist><dict>*</dict></plist>
        """,
        """
        <!DOCTYPE plist SYSTEM "a>b" [ <!-- ]> ' --> <!ELEMENT plist (dict)> <?x ]> ?>
        <!ATTLIST plist version CDATA "1.0 ]>"> ]>
        <plist><dict>*</dict></plist>
        """,
    ]

    @Test("whatever stands around the root", arguments: surroundings)
    func frames(frame: String) throws {
        let parts = frame.split(separator: "*", omittingEmptySubsequences: false)
        let text = parts.joined(separator: "<key>a</key>\n<string>b</string>")
        let list = try XMLPropertyList(parsing: [UInt8](text))
        #expect(list.entries == ["a": .string("b")])
        #expect(list.edited(to: list.entries).text.isIdentical(to: text))
        let edited = list.edited(to: ["a": .string("c")])
        #expect(edited.text.isIdentical(to: parts.joined(separator: "<key>a</key>\n<string>c</string>")))
    }

    @Test("with the last of two equal keys, and canonically equal keys apart")
    func keys() throws {
        let text =
            "<dict><key>a</key><true/><key>é</key><integer>1</integer><key>e\u{301}</key><integer>2</integer>"
            + "<key>a</key><false/></dict>"
        let list = try XMLPropertyList(parsing: [UInt8](text))
        #expect(list.entries == ["a": .boolean(false), "é": .integer(1), "e\u{301}": .integer(2)])
    }

    @Test("down to the depth limit and no further")
    func depth() throws {
        func nested(_ levels: Int, _ open: String, _ close: String) -> [UInt8] {
            [UInt8](
                "<dict><key>a</key>" + String(repeating: open, count: levels)
                    + String(repeating: close, count: levels) + "</dict>")
        }
        for (open, close) in [("<array>", "</array>"), ("<dict><key>a</key>", "</dict>")] {
            let levels = Value.depthLimit
            let inner = open == "<array>" ? "" : "<true/>"
            let list = try XMLPropertyList(
                parsing: nested(levels, open, close).text.replacingFirst("</", by: inner + "</", after: open))
            #expect(list.entries["a"]?.depth == levels)
            #expect(throws: PropertyListError.self) { try XMLPropertyList(parsing: nested(levels + 1, open, close)) }
            // Deep enough to break a stack, were there no limit.
            #expect(throws: PropertyListError.self) { try XMLPropertyList(parsing: nested(200_000, open, close)) }
        }
    }

    @Test("up to the byte limit of the caller")
    func byteLimit() throws {
        let bytes = [UInt8]("<plist><dict/></plist>")
        #expect(try XMLPropertyList(parsing: bytes, byteLimit: bytes.count).entries == [:])
        #expect(throws: PropertyListError(reason: .tooLarge(byteLimit: 3), line: 1, column: 1)) {
            try XMLPropertyList(parsing: bytes, byteLimit: 3)
        }
    }
}

extension String {
    /// The innermost place of a nest: after the last `after`.
    fileprivate func replacingFirst(_ text: String, by new: String, after: String) -> [UInt8] {
        let parts = components(after: after)
        return [UInt8](parts.head + new.dropLast(2) + parts.tail)
    }

    private func components(after text: String) -> (head: String, tail: String) {
        var end = startIndex
        while let range = self[end...].firstRange(of: text) { end = range.upperBound }
        return (String(self[..<end]), String(self[end...]))
    }
}
