import Foundation

/// The package's own files, found from where this test was compiled.
enum SourceTree {
    static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    static func text(_ path: String) throws -> String {
        try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The files below a folder with one of the endings, by their paths from the root, sorted.
    static func files(below folder: String, endings: Set<String> = ["swift"]) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: root.appendingPathComponent(folder).path)
            .filter { endings.contains(($0 as NSString).pathExtension) && !$0.contains(".build/") }
            .map { "\(folder)/\($0)" }
            .sorted()
    }

    /// The folders directly below a folder.
    static func folders(below folder: String) throws -> Set<String> {
        let directory = root.appendingPathComponent(folder)
        let children = try FileManager.default.contentsOfDirectory(
            at: directory, includingPropertiesForKeys: [.isDirectoryKey])
        return Set(
            try children.filter { try $0.resourceValues(forKeys: [.isDirectoryKey]).isDirectory == true }
                .map(\.lastPathComponent))
    }

    /// All of `Sources`, read once.
    static func swiftSources() throws -> [SwiftSource] {
        try readSources.get()
    }

    private static let readSources = Result {
        try files(below: "Sources").map { SwiftSource(path: $0, text: try text($0)) }
    }
}

/// A Swift file of the package.
struct SwiftSource {
    /// From the root: `Sources/GroupCore/GroupState.swift`.
    let path: String
    let tokens: [Token]

    init(path: String, text: String) {
        self.path = path
        tokens = SwiftTokens.of(text)
    }

    /// The folder below `Sources`, which is the module but for `Examples`, where each folder is one.
    var module: String { String(path.split(separator: "/")[1]) }

    struct Import: Equatable {
        var module: String
        var line: Int
    }

    /// The modules of the imports: `import M`, `package import M`, `@testable import struct M.S` …
    var imports: [Import] {
        tokens.indices.compactMap { place in
            let token = tokens[place]
            guard token.kind == .word, token.text == "import", beginsStatement(place) else { return nil }
            let module = tokens[(place + 1)...].first { !Self.importedKinds.contains($0.text) }
            return module.map { Import(module: $0.text, line: token.line) }
        }
    }

    private static let importedKinds: Set = ["struct", "class", "enum", "protocol", "func", "var", "let", "typealias"]
    private static let access: Set = ["public", "package", "internal", "private", "fileprivate"]

    /// Whether only attributes and access levels stand before this word in its statement.
    private func beginsStatement(_ place: Int) -> Bool {
        let line = tokens[place].line
        let before = tokens[..<place].reversed().prefix { $0.line == line && $0.text != ";" }.reversed()
        let words = before.map(\.text).filter { !Self.access.contains($0) }
        return words.isEmpty || words.first == "@"
    }

    /// The lines where these tokens follow one another without a blank.
    func lines(of words: [String]) -> [Int] {
        guard tokens.count >= words.count else { return [] }
        return (0...(tokens.count - words.count)).filter { start in
            tokens[start...].dropFirst().prefix(words.count - 1).allSatisfy(\.isAttached)
                && zip(tokens[start...], words).allSatisfy { $0.kind != .string && $0.text == $1 }
        }.map { tokens[$0].line }
    }

    /// The lines with a word for which the condition holds; it is given the word before it as well.
    func lines(where condition: (_ word: String, _ previous: String) -> Bool) -> [Int] {
        zip(tokens, [Token(kind: .mark, text: "", line: 0, isAttached: false)] + tokens)
            .filter { $0.kind == .word && condition($0.text, $1.text) }
            .map(\.0.line)
    }
}
