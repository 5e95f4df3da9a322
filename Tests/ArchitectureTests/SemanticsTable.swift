import Foundation

/// `Tests/SEMANTICS.md`, and the names of the tests that it speaks of.
struct SemanticsTable {
    struct Row {
        var id: String
        var here: String
        /// `all`, `some` or `none`.
        var backEnds: String
        /// Suites by the names of their files.
        var suites: [String]
        /// Why not against all back ends.
        var reason: String
    }

    static let path = "Tests/SEMANTICS.md"
    let rows: [Row]

    static func read() throws -> SemanticsTable {
        SemanticsTable(text: try SourceTree.text(path))
    }

    init(text: String) {
        rows = text.split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count >= 6, cells[1].wholeMatch(of: #/[A-Z]\d\d/#) != nil else { return nil }
            let tests = cells[4].split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let suites = tests.first.map { $0.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) } }
            return Row(
                id: cells[1], here: cells[2], backEnds: cells[3], suites: suites ?? [],
                reason: tests.count == 2 ? tests[1] : "")
        }
    }
}

/// A test by its name.
struct NamedTest {
    /// The name of its file.
    var suite: String
    var name: String
    var hasAllBackEnds: Bool

    /// The rows that its name says it shows.
    var ids: Set<String> { Set(name.matches(of: #/\b[A-Z]\d\d\b/#).map { String($0.output) }) }

    /// All of `Tests`, read once.
    static func all() throws -> [NamedTest] { try read.get() }

    private static let read = Result {
        try SourceTree.files(below: "Tests").flatMap { path in
            let suite = URL(filePath: path).deletingPathExtension().lastPathComponent
            return tests(of: try SourceTree.text(path), suite: suite)
        }
    }

    /// Of `@Test … func name` and of `@Test("name" …`.
    static func tests(of text: String, suite: String) -> [NamedTest] {
        text.components(separatedBy: "@Test").dropFirst().compactMap { piece in
            if let title = piece.prefix(400).prefixMatch(of: #/\(\s*"(?<name>[^"]+)"/#) {
                return NamedTest(suite: suite, name: String(title.output.name), hasAllBackEnds: false)
            }
            guard let start = piece.range(of: "func ") else { return nil }
            let attribute = piece[..<start.lowerBound].trimmingCharacters(in: .whitespacesAndNewlines)
            let name = piece[start.upperBound...].split(separator: piece[start.upperBound] == "`" ? "`" : "(").first
            return NamedTest(
                suite: suite, name: name.map(String.init) ?? "",
                hasAllBackEnds: attribute == "(arguments: BackEnd.allCases)")
        }
    }
}
