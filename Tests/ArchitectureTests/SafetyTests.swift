import Testing

@Suite("What the compiler does not check")
struct SafetyTests {
    /// Ways to end the process that outside input must never reach.
    static let traps = [["try", "!"], ["as", "!"], ["fatalError", "("]]

    @Test("no source traps", arguments: traps)
    func noTraps(_ words: [String]) throws {
        let violations = try SourceTree.swiftSources().flatMap { source in
            source.lines(of: words).map { "\(source.path):\($0): \(words.joined())" }
        }
        #expect(violations == [])
    }

    @Test("pointers and the mark `unsafe` stay at the edge")
    func unsafeStaysAtTheEdge() throws {
        let violations = try SourceTree.swiftSources().filter { source in
            Exceptions.unsafeModules[source.module] == nil && Exceptions.unsafeFiles[source.path] == nil
        }.flatMap { source in
            source.lines(where: Self.isUnsafe).map { "\(source.path):\($0): unsafe" }
        }
        #expect(violations == [])
    }

    /// `nonisolated(unsafe)` is counted below.
    private static func isUnsafe(_ word: String, previous: String) -> Bool {
        (word == "unsafe" && previous != "(") || word.hasPrefix("Unsafe") || word.hasPrefix("withUnsafe")
            || word == "OpaquePointer" || word == "CVaListPointer" || word == "unsafeBitCast"
    }

    @Test("each `@unchecked Sendable` is listed with what protects it")
    func uncheckedSendable() throws {
        try check(["@", "unchecked"], against: Exceptions.uncheckedSendable)
    }

    @Test("each `nonisolated(unsafe)` is listed with what protects it")
    func nonisolatedUnsafe() throws {
        try check(["nonisolated", "(", "unsafe", ")"], against: Exceptions.nonisolatedUnsafe)
    }

    private func check(_ words: [String], against list: [Exceptions.Unchecked]) throws {
        #expect(list.allSatisfy { !$0.reason.isEmpty })
        let expected = Dictionary(list.map { ($0.file, $0.count) }, uniquingKeysWith: +)
        let counts = try SourceTree.swiftSources().map { ($0.path, $0.lines(of: words).count) }.filter { $0.1 > 0 }
        #expect(Dictionary(counts, uniquingKeysWith: +) == expected)
    }
}

@Suite("Size")
struct SizeTests {
    static let lineLimit = 400

    @Test("files have at most 400 lines, or a reason")
    func files() throws {
        let endings: Set = ["swift", "c", "h"]
        let paths =
            try SourceTree.files(below: "Sources", endings: endings)
            + SourceTree.files(below: "Tests", endings: endings)
        let long = try paths.filter {
            try SourceTree.text($0).split(separator: "\n", omittingEmptySubsequences: false).count - 1 > Self.lineLimit
        }
        #expect(Set(long).subtracting(Exceptions.longFiles.keys) == [], "more than \(Self.lineLimit) lines")
        #expect(Set(Exceptions.longFiles.keys).subtracting(long) == [], "no exception any more")
    }
}
