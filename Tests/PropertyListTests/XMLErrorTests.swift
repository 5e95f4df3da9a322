import PropertyList
import TestSupport
import Testing

@Suite("A text that is no XML property list is refused with the place")
struct XMLErrorTests {
    typealias Bad = (text: String, reason: PropertyListError.Reason, line: Int, column: Int)

    static let badStructures: [Bad] = [
        ("", .empty, 1, 1),
        (" \n\t\r\n", .empty, 1, 1),
        ("\u{FEFF}\n", .empty, 1, 1),
        ("\0\0\0\0", .zeroByte, 1, 1),
        ("{ a = b; }", .notXML, 1, 1),
        ("\n  bplist00", .notXML, 2, 3),
        ("<plist>\n<dict>\n<key>a</key>\n", .unclosedElement("dict", line: 2), 4, 1),
        ("<plist>\n<dict/>\n", .unclosedElement("plist", line: 1), 3, 1),
        ("<plist>\n", .unclosedElement("plist", line: 1), 2, 1),
        ("<dict>\n<key>a", .unclosedElement("key", line: 2), 2, 7),
        ("<dict><key>a</key><string>é</str", .unclosedElement("string", line: 1), 1, 33),
        ("<dict><key>a</key><string>&lt;", .unclosedElement("string", line: 1), 1, 31),
        ("<dict><key>a</key>\n<array>\n<true/>", .unclosedElement("array", line: 2), 3, 8),
        ("<dict><ke", .unclosedMarkup("<"), 1, 7),
        ("<dict a=\"", .unclosedMarkup("<"), 1, 1),
        ("<dict>\n<!-- a", .unclosedMarkup("<!--"), 2, 1),
        ("<?xml", .unclosedMarkup("<?"), 1, 1),
        ("<!DOCTYPE plist [ >", .unclosedMarkup("<!DOCTYPE"), 1, 1),
        ("<dict><key>a</key><string><![CDATA[x", .unclosedMarkup("<![CDATA["), 1, 27),
        ("<plist/>", .noValue, 1, 1),
        ("<plist>\n</plist>", .noValue, 2, 1),
        ("<?xml version=\"1.0\"?>", .noValue, 1, 22),
        ("<plist><array/></plist>", .rootIsNoDictionary("array"), 1, 8),
        ("<string>a</string>", .rootIsNoDictionary("string"), 1, 1),
        ("<plist><dict/>\n<dict/></plist>", .unexpectedElement("dict"), 2, 1),
        ("<plist><dict/></plist>\n x", .contentAfterEnd, 2, 2),
        ("<plist><dict/></plist><plist/>", .contentAfterEnd, 1, 23),
        ("<dict/></dict>", .contentAfterEnd, 1, 8),
        ("<dict>\n  x</dict>", .unexpectedText, 2, 3),
        ("<plist>x<dict/></plist>", .unexpectedText, 1, 8),
        ("<dict><![CDATA[ ]]></dict>", .unexpectedText, 1, 7),
        ("<dict><true>x</true></dict>", .valueWithoutKey, 1, 7),
        ("<dict>\n<key>a</key>\n</dict>", .keyWithoutValue, 2, 1),
        ("<dict><key>a</key><key>b</key><true/></dict>", .keyWithoutValue, 1, 7),
        ("<dict><key>é😀</key><!-- ü -->\r\n\t<true/>\r\n\t<false/></dict>", .valueWithoutKey, 3, 2),
        ("<dict><key>a</key><true/>\r\r<false/></dict>", .valueWithoutKey, 3, 1),
        ("<dict><key>a</key><dict></array></dict>", .wrongEndTag(expected: "dict", found: "array"), 1, 25),
        ("<dict><key>a</key><string>x</String></dict>", .wrongEndTag(expected: "string", found: "String"), 1, 28),
        ("<dict><key>a</key><string>x<b/></string></dict>", .unknownElement("b"), 1, 28),
        ("<dict><key>a</key><string>x<true/></string></dict>", .unexpectedElement("true"), 1, 28),
        ("<dict><key>a</key><plist/></dict>", .unexpectedElement("plist"), 1, 19),
        ("<dict><key>a</key><array><key>b</key></array></dict>", .unexpectedElement("key"), 1, 26),
        ("<dict><key>a</key><ustring/></dict>", .unknownElement("ustring"), 1, 19),
        ("<dict><key>a</key><DICT/></dict>", .unknownElement("DICT"), 1, 19),
        ("<dict><key>a</key><integers>1</integers></dict>", .unknownElement("integers"), 1, 19),
        ("<html><body/></html>", .unknownElement("html"), 1, 1),
        ("<dict a></dict>", .malformedTag, 1, 1),
        ("<dict a=b></dict>", .malformedTag, 1, 1),
        ("<dict / ></dict>", .malformedTag, 1, 1),
        ("<dict>< key>a</key></dict>", .malformedTag, 1, 7),
        ("<dict></dict x>", .malformedTag, 1, 7),
        ("</dict>", .malformedTag, 1, 1),
        ("<dict><key>a</key><string>a\0b</string></dict>", .zeroByte, 1, 28),
        ("<dict>\0</dict>", .zeroByte, 1, 7),
    ]

    static let badScalars: [(String, PropertyListError.Reason)] = [
        ("<integer/>", .malformedInteger), ("<integer> </integer>", .malformedInteger),
        ("<integer>-</integer>", .malformedInteger),
        ("<integer>1.0</integer>", .malformedInteger), ("<integer>0x</integer>", .malformedInteger),
        ("<integer>1 2</integer>", .malformedInteger), ("<integer>--1</integer>", .malformedInteger),
        ("<integer>a</integer>", .malformedInteger), ("<integer>١</integer>", .malformedInteger),
        ("<integer>18446744073709551616</integer>", .integerOutOfRange),
        ("<integer>-9223372036854775809</integer>", .integerOutOfRange),
        ("<integer>0x10000000000000000</integer>", .integerOutOfRange),
        ("<integer>99999999999999999999999999999999999999999</integer>", .integerOutOfRange),
        ("<real/>", .malformedReal), ("<real>x</real>", .malformedReal), ("<real>1,5</real>", .malformedReal),
        ("<real>0x1p3</real>", .malformedReal), ("<real>1e</real>", .malformedReal),
        ("<real>nan(1)</real>", .malformedReal),
        ("<real>1 2</real>", .malformedReal),
        ("<date/>", .malformedDate), ("<date>2026-11-30</date>", .malformedDate),
        ("<date>2026-11-30T09:00:00.5Z</date>", .malformedDate), ("<date>2026-02-29T09:00:00Z</date>", .malformedDate),
        ("<date>0000-01-01T00:00:00Z</date>", .malformedDate), ("<date>10000-01-01T00:00:00Z</date>", .malformedDate),
        ("<data>?</data>", .malformedData), ("<data>Zg</data>", .malformedData),
        ("<data>Zg==Zg==</data>", .malformedData),
    ]

    static let badReferences: [(String, PropertyListError.Reason)] = [
        ("&bomb;", .unknownEntity("bomb")), ("&nbsp;", .unknownEntity("nbsp")), ("& ", .malformedReference),
        ("&", .malformedReference), ("&;", .malformedReference), ("&#;", .malformedReference),
        ("&#x;", .malformedReference),
        ("&#0;", .malformedReference), ("&#xD800;", .malformedReference), ("&#x110000;", .malformedReference),
        ("&#-1;", .malformedReference), ("&#+65;", .malformedReference), ("&a b;", .malformedReference),
        ("&amp", .malformedReference), ("&verylongentityname;", .malformedReference),
    ]

    private func error(_ bytes: [UInt8]) -> PropertyListError? {
        do throws(PropertyListError) {
            _ = try XMLPropertyList(parsing: bytes)
            return nil
        } catch {
            return error
        }
    }

    @Test("of the structure", arguments: badStructures)
    func structure(bad: Bad) {
        let expected = PropertyListError(reason: bad.reason, line: bad.line, column: bad.column)
        #expect(error([UInt8](bad.text)) == expected)
        #expect(!expected.description.isEmpty)
    }

    @Test("of a value", arguments: badScalars)
    func scalars(element: String, reason: PropertyListError.Reason) {
        let text = "<plist>\n<dict>\n\t<key>é</key> \(element)</dict></plist>"
        #expect(error([UInt8](text)) == PropertyListError(reason: reason, line: 3, column: 15))
    }

    @Test("of a reference", arguments: badReferences)
    func references(text: String, reason: PropertyListError.Reason) {
        let text = "<dict>\n<key>a</key><string>é\(text)</string></dict>"
        #expect(error([UInt8](text)) == PropertyListError(reason: reason, line: 2, column: 22))
    }

    @Test(
        "of a declared entity, used or not",
        arguments: [
            "<!DOCTYPE plist [\n<!ENTITY a \"b\">]><dict/>",
            "<!DOCTYPE plist [\n<!ENTITY % a SYSTEM \"file:///etc/passwd\">]><dict/>",
        ])
    func entities(text: String) {
        #expect(error([UInt8](text)) == PropertyListError(reason: .entityDeclaration, line: 2, column: 1))
    }

    @Test("of another encoding")
    func encodings() {
        let wide: [([UInt8], String)] = [
            ([0xFF, 0xFE, 0x3C, 0], "UTF-16"), ([0xFE, 0xFF, 0, 0x3C], "UTF-16"), ([0x3C, 0, 0x70, 0], "UTF-16"),
            ([0, 0x3C, 0, 0x70], "UTF-16"), ([0xFF, 0xFE, 0, 0], "UTF-32"), ([0, 0, 0xFE, 0xFF], "UTF-32"),
            ([0x3C, 0, 0, 0], "UTF-32"), ([0, 0, 0, 0x3C], "UTF-32"),
        ]
        for (bytes, name) in wide {
            #expect(error(bytes) == PropertyListError(reason: .unsupportedEncoding(name), line: 1, column: 1))
        }
    }

    @Test(
        "of bytes that are not UTF-8",
        arguments: [
            [0xFF], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE9],
        ] as [[UInt8]])
    func invalidText(bytes: [UInt8]) {
        let text = [UInt8]("<dict>\n<key>é") + bytes + [UInt8]("</key><true/></dict>")
        #expect(error(text) == PropertyListError(reason: .invalidUTF8, line: 2, column: 7))
    }

    @Test("of every prefix of a good file, without a trap")
    func prefixes() throws {
        let bytes = XMLPropertyList.document([
            "a": .string("é&<\r"), "b": .array([.integer(1), .real(1.5)]), "c": .dictionary(["d": .data([1, 2, 3])]),
        ])
        _ = try XMLPropertyList(parsing: bytes)
        for end in 0..<bytes.count - 1 { #expect(error([UInt8](bytes[..<end])) != nil) }
    }

    @Test("or read, but never trapped on, when bytes of a good file are changed")
    func mutations() {
        SplitMix64.withSeed { generator in
            var random = RandomPropertyList(generator: generator)
            let alphabet = [UInt8]("<>/&;!?-[]\"'= \r\n\tkeydict0x")
            for _ in 0..<3000 {
                var bytes = XMLPropertyList.document(random.entries())
                for _ in 0...random.count(4) {
                    let at = Int.random(in: 0..<bytes.count, using: &random.generator)
                    switch random.count(3) {
                    case 0: bytes.remove(at: at)
                    case 1: bytes[at] = random.pick(alphabet)
                    case 2: bytes.insert(random.pick(alphabet), at: at)
                    default: bytes.replaceSubrange(at..<min(bytes.count, at + 20), with: [])
                    }
                }
                guard let list = try? XMLPropertyList(parsing: bytes) else { continue }
                let wanted = random.entries()
                #expect((try? XMLPropertyList(parsing: list.edited(to: wanted)))?.entries == wanted)
            }
            generator = random.generator
        }
    }
}
