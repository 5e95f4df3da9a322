import Testing

/// A rule that is blind passes everything, so that the reading of sources is tested as well.
@Suite("Reading of sources")
struct SwiftTokensTests {
    @Test(
        "code is told from text",
        arguments: [
            ("a // b\nc", ["a", "c"]),
            ("a /* b /* c */ d */ e", ["a", "e"]),
            (#"f("try! \"x\" // y") // z"#, ["f", "(", "try! x // y", ")"]),
            (#"f("a\(g("b)") as! C)d") e"#, ["f", "(", "ad", "g", "(", "b)", ")", "as", "!", "C", ")", "e"]),
            (##"#"a"\(b)"# c"##, [#"a"\(b)"#, "c"]),
            ("\"\"\"\na \"b\" /* c\n\"\"\" d", ["\na \"b\" /* c\n", "d"]),
            (#""" x"#, ["", "x"]),
            ("#if os(Linux)", ["#", "if", "os", "(", "Linux", ")"]),
        ])
    func tokens(source: String, expected: [String]) {
        #expect(SwiftTokens.of(source).map(\.text) == expected)
    }

    @Test(
        "import lines of every form are found",
        arguments: [
            ("import A", ["A"]),
            ("public import A\npackage import B // import C", ["A", "B"]),
            ("@testable import A", ["A"]),
            ("@_spi(X) import struct A.B", ["A"]),
            ("#if canImport(A)\n    import A\n#endif", ["A"]),
            ("import A; import B\nlet a = 1; import C", ["A", "B", "C"]),
            ("@preconcurrency\nimport\n    A", ["A"]),
            ("case .import: break", []),
            ("\"import A\"", []),
        ])
    func imports(source: String, expected: [String]) {
        #expect(SwiftSource(path: "Sources/M/F.swift", text: source).imports.map(\.module) == expected)
    }

    @Test("a token's line is the source's")
    func lines() {
        let source = SwiftSource(path: "Sources/M/F.swift", text: "/*\n\n*/ \"\"\"\n\"\"\"\nlet a = try! b()\n")
        #expect(source.lines(of: ["try", "!"]) == [5])
    }

    @Test("a try of a negation is no forced try")
    func attachment() {
        let source = SwiftSource(path: "Sources/M/F.swift", text: "if try !a() { x = \"\\(try! b())\" }\ntry\n!c")
        #expect(source.lines(of: ["try", "!"]) == [1])
    }

    @Test("targets and dependencies of a manifest are found")
    func manifest() {
        let text = """
            let package = Package(name: "p", targets: [
                .target(name: "A"),  // .target(name: "No")
                .testTarget(
                    name: "ATests", dependencies: ["A", "B"], resources: [.copy("c")]),
            ])
            for target in package.targets where target.name != "A" {}
            """
        let targets = PackageManifest(text: text).targets
        #expect(targets.map(\.name) == ["A", "ATests"])
        #expect(targets.map(\.kind) == ["target", "testTarget"])
        #expect(targets.map(\.dependencies) == [[], ["A", "B"]])
    }
}
