import PropertyList
import Testing

@Suite("An edit in place")
struct XMLEditingTests {
    /// What was there, what is changed in it, what is there then.
    struct Edit: Sendable, CustomTestStringConvertible {
        var name: String
        var before: String
        var changes: [(key: Key, value: Value?)]
        var after: String

        var testDescription: String { name }
    }

    static let edits: [Edit] = [
        Edit(
            name: "replaces only the bytes of the value",
            before:
                "<dict>\n  <!-- a -->\n  <key>a</key>   <string>x</string> <!-- about a -->\n  <key>b</key>\n<true/>\n</dict>",
            changes: [("a", .string("<y>"))],
            after:
                "<dict>\n  <!-- a -->\n  <key>a</key>   <string>&lt;y&gt;</string> <!-- about a -->\n  <key>b</key>\n<true/>\n</dict>"
        ),
        Edit(
            name: "leaves all as it is where nothing changes",
            before: "<dict ><key>a</key><integer> 0x10 </integer><key>b</key><date>2026-11-30T09:00:00Z</date></dict>",
            changes: [("a", .integer(16)), ("b", .date(Timestamp(microseconds: 1_796_029_200_999_999))), ("c", nil)],
            after: "<dict ><key>a</key><integer> 0x10 </integer><key>b</key><date>2026-11-30T09:00:00Z</date></dict>"),
        Edit(
            name: "changes the type",
            before: "<dict>\n\t<key>a</key>\n\t<integer>1</integer>\n</dict>",
            changes: [("a", .real(1))],
            after: "<dict>\n\t<key>a</key>\n\t<real>1.0</real>\n</dict>"),
        Edit(
            name: "adds keys at the end in the file's own indentation",
            before: "<plist>\n  <dict>\n    <key>a</key>\n    <true/>\n    <!-- the end -->\n  </dict>\n</plist>\n",
            changes: [("c", .array([.integer(1)])), ("b", .dictionary(["x": .data([UInt8]("foo"))]))],
            after: """
                <plist>
                  <dict>
                    <key>a</key>
                    <true/>
                    <!-- the end -->
                    <key>c</key>
                    <array>
                      <integer>1</integer>
                    </array>
                    <key>b</key>
                    <dict>
                      <key>x</key>
                      <data>
                      Zm9v
                      </data>
                    </dict>
                  </dict>
                </plist>

                """),
        Edit(
            name: "adds a key with its value on the same line where the file has it so",
            before: "<plist><dict>\r\n  <key>a</key> <true/>\r\n</dict></plist>\r\n",
            changes: [("b", .array([.string("x")]))],
            after:
                "<plist><dict>\r\n  <key>a</key> <true/>\r\n  <key>b</key> <array>\r\n  \t<string>x</string>\r\n  </array>\r\n</dict></plist>\r\n"
        ),
        Edit(
            name: "keeps a one-line file one line",
            before: "<plist><dict><key>a</key><true/></dict></plist>",
            changes: [("b", .array([.data([1]), .dictionary(["c": .false])]))],
            after:
                "<plist><dict><key>a</key><true/><key>b</key><array><data>AQ==</data><dict><key>c</key><false/></dict></array></dict></plist>"
        ),
        Edit(
            name: "keeps the blanks of a one-line file",
            before: "<dict> <key>a</key> <true/> <key>b</key> <true/> </dict>",
            changes: [("a", nil), ("c", .false)],
            after: "<dict> <key>b</key> <true/> <key>c</key> <false/> </dict>"),
        Edit(
            name: "expands an empty root that is one tag",
            before: "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n<dict/>\n</plist>\n",
            changes: [("a", .false)],
            after:
                "<?xml version=\"1.0\"?>\n<plist version=\"1.0\">\n<dict>\n\t<key>a</key>\n\t<false/>\n</dict>\n</plist>\n"
        ),
        Edit(
            name: "expands an empty root with attributes",
            before: "<plist>\n<dict x='/>' />\n</plist>",
            changes: [("a", .false)],
            after: "<plist>\n<dict x='/>'>\n\t<key>a</key>\n\t<false/>\n</dict>\n</plist>"),
        Edit(
            name: "expands an empty root on one line",
            before: "<plist><dict/></plist>",
            changes: [("a", .false), ("b", .false)],
            after: "<plist><dict><key>a</key><false/><key>b</key><false/></dict></plist>"),
        Edit(
            name: "fills an empty root of two tags",
            before: "<plist>\n<dict></dict>\n</plist>",
            changes: [("a", .false)],
            after: "<plist>\n<dict>\n\t<key>a</key>\n\t<false/>\n</dict>\n</plist>"),
        Edit(
            name: "fills a root of two lines, and one with a comment alone",
            before: "<dict>\n  <!-- nothing yet -->\n</dict>\n",
            changes: [("a", .false)],
            after: "<dict>\n  <!-- nothing yet -->\n  <key>a</key>\n  <false/>\n</dict>\n"),
        Edit(
            name: "takes a removed key's own lines away, not the comments around it",
            before:
                "<dict>\n\t<!-- a -->\n\t<key>a</key>\n\t<true/>\n\n\t<!-- b -->\n\t<key>b</key>\n\t<true/> <!-- b too -->\n\t<key>c</key>\n\t<true/>\n</dict>",
            changes: [("a", nil), ("b", nil)],
            after: "<dict>\n\t<!-- a -->\n\n\t<!-- b -->\n\t<!-- b too -->\n\t<key>c</key>\n\t<true/>\n</dict>"),
        Edit(
            name: "removes neighbours together and leaves no hole",
            before: "<dict>\r\n\t<key>a</key><true/> <key>b</key><true/>\r\n\t<key>c</key>\r\n\t<true/>\r\n</dict>",
            changes: [("b", nil), ("a", nil)],
            after: "<dict>\r\n\t<key>c</key>\r\n\t<true/>\r\n</dict>"),
        Edit(
            name: "removes the first of a line and the last of a line",
            before: "<dict>\n\t<key>a</key><true/> <key>b</key><true/>  <key>c</key><true/> \n</dict>",
            changes: [("a", nil), ("c", nil)],
            after: "<dict>\n\t<key>b</key><true/> \n</dict>"),
        Edit(
            name: "removes the last key and adds another in its place",
            before: "<dict>\n    <key>a</key>\n    <true/>\n    <key>b</key>\n    <true/>\n</dict>\n",
            changes: [("b", nil), ("a", nil), ("c", .false)],
            after: "<dict>\n    <key>c</key>\n    <false/>\n</dict>\n"),
        Edit(
            name: "removes everything",
            before: "<dict>\n\t<key>a</key>\n\t<true/>\n</dict>\n",
            changes: [("a", nil)],
            after: "<dict>\n</dict>\n"),
        Edit(
            name: "goes into nested dictionaries",
            before:
                "<dict>\n  <key>d</key>\n  <dict>\n    <!-- x --> <key>x</key> <integer>0x1</integer>\n    <key>y</key><true/>\n    <key>e</key>\n    <dict/>\n  </dict>\n</dict>",
            changes: [("d", .dictionary(["x": .integer(1), "e": .dictionary(["f": .true]), "z": .array([])]))],
            after:
                "<dict>\n  <key>d</key>\n  <dict>\n    <!-- x --> <key>x</key> <integer>0x1</integer>\n    <key>e</key>\n    <dict>\n      <key>f</key>\n      <true/>\n    </dict>\n    <key>z</key>\n    <array/>\n  </dict>\n</dict>"
        ),
        Edit(
            name: "sets the last of two equal keys",
            before: "<dict><key>a</key><integer>1</integer><key>a</key><integer>2</integer></dict>",
            changes: [("a", .integer(3))],
            after: "<dict><key>a</key><integer>1</integer><key>a</key><integer>3</integer></dict>"),
        Edit(
            name: "removes both of two equal keys",
            before: "<dict>\n<key>a</key>\n<true/>\n<key>b</key>\n<true/>\n<key>a</key>\n<true/>\n</dict>",
            changes: [("a", nil)],
            after: "<dict>\n<key>b</key>\n<true/>\n</dict>"),
        Edit(
            name: "takes the last of two changes of a key",
            before: "<dict><key>a</key><integer>1</integer></dict>",
            changes: [("a", nil), ("b", .true), ("a", .integer(2)), ("b", nil)],
            after: "<dict><key>a</key><integer>2</integer></dict>"),
        Edit(
            name: "is not deceived by markup within comments, CDATA and attributes",
            before:
                "<dict><!-- <key>a</key><true/> --><key>b</key><array x='/array>'><string><![CDATA[</string></array>]]></string><!-- </array> --></array><key>a</key><true/></dict>",
            changes: [("a", .false)],
            after:
                "<dict><!-- <key>a</key><true/> --><key>b</key><array x='/array>'><string><![CDATA[</string></array>]]></string><!-- </array> --></array><key>a</key><false/></dict>"
        ),
        Edit(
            name: "follows a file without indentation",
            before: "<plist>\n<dict>\n<key>a</key>\n<true/>\n</dict>\n</plist>",
            changes: [("b", .array([.true]))],
            after: "<plist>\n<dict>\n<key>a</key>\n<true/>\n<key>b</key>\n<array>\n<true/>\n</array>\n</dict>\n</plist>"
        ),
        Edit(
            name: "leaves a byte order mark, a doctype and an odd encoding declaration",
            before:
                "\u{FEFF}<?xml version='1.0' encoding='x-unknown'?><!DOCTYPE plist [<!ELEMENT a ANY>]><plist><dict/></plist>\n\n<!-- end -->",
            changes: [("a", .true)],
            after:
                "\u{FEFF}<?xml version='1.0' encoding='x-unknown'?><!DOCTYPE plist [<!ELEMENT a ANY>]><plist><dict><key>a</key><true/></dict></plist>\n\n<!-- end -->"
        ),
        Edit(
            name: "says what is not ASCII by its number where the file says another encoding",
            before: "<?xml version=\"1.0\" encoding = 'ISO-8859-1'?>\n<plist><dict><key>a</key><true/></dict></plist>",
            changes: [("a", .string("\u{E9}&\u{1F600}")), ("\u{FC}", .dictionary(["\u{20AC}": .true]))],
            after:
                "<?xml version=\"1.0\" encoding = 'ISO-8859-1'?>\n<plist><dict><key>a</key><string>&#233;&amp;&#128512;</string><key>&#252;</key><dict><key>&#8364;</key><true/></dict></dict></plist>"
        ),
        Edit(
            name: "writes UTF-8 where the file says UTF-8, or nothing",
            before: "\u{FEFF}<?xml version='1.0' encoding='utf-8' standalone='no'?><plist><dict/></plist>",
            changes: [("a", .string("\u{E9}"))],
            after:
                "\u{FEFF}<?xml version='1.0' encoding='utf-8' standalone='no'?><plist><dict><key>a</key><string>\u{E9}</string></dict></plist>"
        ),
        Edit(
            name: "takes no comment for the declaration",
            before: "<!-- encoding='ISO-8859-1' --><?x encoding='ASCII'?><dict/>", changes: [("a", .string("\u{E9}"))],
            after:
                "<!-- encoding='ISO-8859-1' --><?x encoding='ASCII'?><dict><key>a</key><string>\u{E9}</string></dict>"),
    ]

    @Test("in the text", arguments: edits)
    func editing(edit: Edit) throws {
        let list = try XMLPropertyList(parsing: [UInt8](edit.before))
        let after = list.edited(edit.changes).text
        #expect(after.isIdentical(to: edit.after), "\(after)")
        var wanted = list.entries
        for (key, value) in edit.changes { wanted[key] = value?.inWholeSeconds }
        let again = try XMLPropertyList(parsing: [UInt8](after))
        #expect(again.entries == wanted)
        #expect(again.edited(to: wanted).text.isIdentical(to: after))
    }

    @Test("makes a new file in Apple's form")
    func newFile() {
        let header = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        #expect(XMLPropertyList.document([:]).text == header + "<dict/>\n</plist>\n")
        let entries: [Key: Value] = [
            "b": .array([.string(""), .array([])]), "a": .dictionary(["x": .real(-0.0), "": .true]),
            "date": .date(Timestamp(microseconds: -1)), "data": .data([UInt8](repeating: 0, count: 58)),
            "é": .string("\r]]>\n"),
        ]
        let zeros = String(repeating: "A", count: 76)
        #expect(
            XMLPropertyList.document(entries).text == header + """
                <dict>
                \t<key>a</key>
                \t<dict>
                \t\t<key></key>
                \t\t<true/>
                \t\t<key>x</key>
                \t\t<real>-0.0</real>
                \t</dict>
                \t<key>b</key>
                \t<array>
                \t\t<string></string>
                \t\t<array/>
                \t</array>
                \t<key>data</key>
                \t<data>
                \t\(zeros)
                \tAA==
                \t</data>
                \t<key>date</key>
                \t<date>1969-12-31T23:59:59Z</date>
                \t<key>é</key>
                \t<string>&#13;]]&gt;
                </string>
                </dict>
                </plist>

                """)
        #expect(XMLPropertyList.fragment(.array([.true])).text == "<array>\n\t<true/>\n</array>")
    }

    @Test("is possible for what XML can carry")
    func carried() {
        for text in ["", "\t\n\r", " a ", "\u{7F}\u{85}\u{FFFD}😀\u{FEFF}\u{E000}\u{EFBF}"] {
            #expect(XMLPropertyList.carries(text))
            #expect(Value.dictionary([Key(text): .string(text)]).firstUncarriable == nil)
        }
        for text in ["\0", "\u{1}", "a\u{B}", "\u{1F}", "é\u{FFFE}", "\u{FFFF}"] {
            let scalar = text.unicodeScalars.last ?? "a"
            #expect(!XMLPropertyList.carries(text))
            #expect(Value.array([.true, .string(text)]).firstUncarriable == .character(scalar))
            #expect(Value.array([.dictionary([Key(text): .true])]).firstUncarriable == .character(scalar))
        }
        let late = Timestamp(microseconds: Timestamp.representable.upperBound.microseconds + 1)
        #expect(Value.array([.date(late)]).firstUncarriable == .date(late))
        var value = Value.true
        for _ in 0..<Value.depthLimit { value = .array([value]) }
        #expect(value.firstUncarriable == nil)
        #expect(Value.array([value]).firstUncarriable == .depth)
        #expect(Value.Uncarriable.character("\u{1}").description == "the character U+0001")
    }
}

extension Value {
    static let `true` = Value.boolean(true)
    static let `false` = Value.boolean(false)
}
