import GroupModel
import PropertyList
import TestSupport
import Testing

@Suite struct GlobTests {
    @Test(arguments: [
        ("theme", "theme"), ("", ""), ("*", ""), ("*", "a.b.c"), ("**", "x"), ("a*", "a"), ("a*", "a.b.c"),
        ("*.c", "a.b.c"), ("a.*.c", "a.b.x.c"), ("a*c", "ac"), ("?", "a"), ("?", "é"), ("?", "\u{1F600}"),
        ("??", "e\u{301}"), ("?", "\n"), ("a?c", "abc"), ("\\*", "*"), ("\\?", "?"), ("\\\\", "\\"), ("\\a", "a"),
        ("\\", "\\"), ("a\\", "a\\"), ("*\\", "x\\"), ("\\**", "*"), ("\\**", "*abc"), ("*?", "a"), ("?*", "a"),
        ("*a*b*", "xxaxxbxx"), ("*ab", "aab"), ("*aab", "aaab"), ("[a]", "[a]"), ("{a,b}", "{a,b}"), (".", "."),
        ("*e\u{301}", "cafe\u{301}"), ("a*b*c", "abbc"), ("/", "/"), ("*/*", "a/b/c"), ("@*", "@"),
    ])
    func matches(pattern: String, key: String) {
        #expect(Glob(pattern).matches(Key(key)))
    }

    @Test(arguments: [
        ("theme", "Theme"), ("theme", "themes"), ("theme", "them"), ("", "a"), ("?", ""), ("?", "ab"),
        ("?", "e\u{301}"), ("a*", "ba"), ("*a", "ab"), ("\\*", "a"), ("\\?", "a"), ("\\\\", "\\\\"), ("\\a", "\\a"),
        ("\\", ""), ("*\\", "x"), ("\\**", "a*"), ("a.c", "abc"), ("[a]", "a"), ("*?", ""), ("a*c", "ab"),
        ("*a*b*", "ba"), ("?*?", "a"), ("a?", "a"),
    ])
    func doesNotMatch(pattern: String, key: String) {
        #expect(!Glob(pattern).matches(Key(key)))
    }

    /// R69: patterns compare texts as keys do.
    @Test func composedAndDecomposedAreTwoTexts() {
        #expect(!Glob("caf\u{E9}").matches("cafe\u{301}"))
        #expect(!Glob("*\u{E9}").matches("cafe\u{301}"))
        #expect(Glob("caf?").matches("caf\u{E9}"))
        #expect(!Glob("caf?").matches("cafe\u{301}"))
    }

    @Test(
        arguments: [
            ("theme", "theme"), ("", ""), ("\\*", "*"), ("a\\?b", "a?b"), ("\\\\", "\\"), ("a\\", "a\\"), ("\\a", "a"),
            ("*", nil), ("a?", nil), ("\\\\*", nil), ("cafe\u{301}", "cafe\u{301}"),
        ] as [(String, String?)])
    func literal(pattern: String, key: String?) {
        #expect(Glob(pattern).literal == key.map { Key($0) })
    }

    /// A matcher that backtracks over every star would need more than the age of the world for these.
    @Test(.timeLimit(.minutes(1)))
    func manyStarsOnALongKeyTakeNoLongTime() {
        let key = Key(String(repeating: "a", count: 1024))
        let pattern = String(repeating: "*a", count: 300)
        #expect(!Glob(pattern + "*b").matches(key))
        #expect(!Glob(pattern + "b").matches(key))
        #expect(Glob(pattern).matches(key))
        #expect(!Glob(String(repeating: "*?", count: 1025)).matches(key))
        #expect(Glob(String(repeating: "*?", count: 1024)).matches(key))
    }

    @Test func agreesWithANaiveMatcher() {
        SplitMix64.withSeed { random in
            var hits = 0
            for _ in 0..<30_000 {
                let pattern = random.text(of: ["a", "b", "*", "?", "\\", ".", "e", "\u{301}"], upTo: 8)
                let key = random.text(of: ["a", "b", "*", "\\", ".", "e", "\u{301}"], upTo: 8)
                let expected = NaiveGlob.matches(Array(pattern.unicodeScalars)[...], Array(key.unicodeScalars)[...])
                if expected { hits += 1 }
                #expect(Glob(pattern).matches(Key(key)) == expected, "pattern \(pattern), key \(key)")
            }
            #expect(hits > 1000)
        }
    }

    /// Patterns longer than a machine word, alone and side by side.
    @Test func longPatternsAgreeWithATable() {
        SplitMix64.withSeed { random in
            var hits = 0
            for _ in 0..<2_000 {
                let key = random.text(of: ["a", "b"], upTo: 200)
                let patterns = (0..<3).map { _ in random.pattern(near: key) }
                let expected = patterns.map { TableGlob.matches(Array($0.unicodeScalars), Array(key.unicodeScalars)) }
                if expected.contains(true) { hits += 1 }
                #expect(KeyFilter(patterns).includes(Key(key)) == expected.contains(true), "\(patterns), key \(key)")
                #expect(patterns.map { Glob($0).matches(Key(key)) } == expected, "\(patterns), key \(key)")
            }
            #expect(hits > 500)
        }
    }

    /// So many that to try one after the other, and each at all places, would take minutes.
    @Test(.timeLimit(.minutes(1)))
    func asManyPatternsAsACallMayHaveTakeNoLongTime() throws {
        let pattern = "*" + String(repeating: "a", count: 62) + "b*"
        let filter = try KeyFilter(Array(repeating: pattern, count: 128)).bounded()
        for _ in 0..<100 { #expect(!filter.includes(Key(String(repeating: "a", count: 1024)))) }
        #expect(filter.includes(Key(String(repeating: "a", count: 100) + "b")))
    }

    @Test func moreIsRefusedButAnyNumberOfKeysIsNot() throws {
        let wild = String(repeating: "a", count: Limits.patternSize)
        #expect(throws: GroupError.self) { try KeyFilter([wild + "*"]).bounded() }
        let keys = (0..<10_000).map { "key number \($0)" }
        #expect(try KeyFilter(keys + ["*b"]).bounded().includes("key number 9999"))
    }

    /// A pattern that has a literal matches this key and no other.
    @Test func literalsAndGlobsAgree() {
        SplitMix64.withSeed { random in
            var compared = 0
            for _ in 0..<10_000 {
                let patterns = (0..<Int.random(in: 0...3, using: &random)).map { _ in
                    random.text(of: ["a", "b", "\\", ".", "\\*"], upTo: 3)
                }
                let filter = KeyFilter(patterns)
                // A backslash before `\\*` leaves the star wild.
                guard let literals = filter.literals else { continue }
                compared += 1
                let key = Key(random.text(of: ["a", "b", "\\", ".", "*"], upTo: 3))
                #expect(filter.includes(key) == literals.contains(key), "patterns \(patterns), key \(key)")
                for literal in literals { #expect(filter.includes(literal)) }
            }
            #expect(compared > 5000)
        }
    }
}

@Suite struct KeyFilterTests {
    @Test func noPatternsMeanEveryKey() {
        #expect(KeyFilter(nil) == .all)
        #expect(KeyFilter(nil).includes("a"))
        #expect(KeyFilter(nil).literals == nil)
    }

    @Test func anEmptyListMeansNone() {
        #expect(!KeyFilter([]).includes("a"))
        #expect(!KeyFilter([]).includes(""))
        #expect(KeyFilter([]).literals == [])
    }

    @Test func oneMatchingPatternIsEnough() {
        let filter = KeyFilter(["a", "b*"])
        #expect(filter.includes("a"))
        #expect(filter.includes("bc"))
        #expect(!filter.includes("ab"))
        #expect(filter.literals == nil)
    }
}

extension SplitMix64 {
    /// Made of a text, so that it matches it more often than not: some of it replaced by wild cards.
    fileprivate mutating func pattern(near text: String) -> String {
        var pattern = ""
        for character in text {
            switch Int.random(in: 0..<60, using: &self) {
            case 0: pattern += "*"
            case 1: pattern += "?"
            case 2 where text.count < 100: break
            default: pattern.append(character)
            }
        }
        return Bool.random(using: &self) ? pattern + "*" : pattern
    }
}

/// The same for long texts without backslashes: whether the first so many of one match the first so many of the other.
private enum TableGlob {
    static func matches(_ pattern: [Unicode.Scalar], _ key: [Unicode.Scalar]) -> Bool {
        var row = [true] + [Bool](repeating: false, count: key.count)
        for piece in pattern {
            var next = [piece == "*" && row[0]]
            for (place, scalar) in key.enumerated() {
                next.append(
                    piece == "*" ? next[place] || row[place + 1] : row[place] && (piece == "?" || piece == scalar))
            }
            row = next
        }
        return row[key.count]
    }
}

/// The definition of a glob, word for word, at exponential cost.
private enum NaiveGlob {
    static func matches(_ pattern: ArraySlice<Unicode.Scalar>, _ key: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = pattern.first else { return key.isEmpty }
        let rest = pattern.dropFirst()
        switch first {
        case "*": return matches(rest, key) || (!key.isEmpty && matches(pattern, key.dropFirst()))
        case "?": return !key.isEmpty && matches(rest, key.dropFirst())
        case "\\" where !rest.isEmpty:
            return key.first == rest.first && matches(rest.dropFirst(), key.dropFirst())
        default: return key.first == first && matches(rest, key.dropFirst())
        }
    }
}

extension SplitMix64 {
    fileprivate mutating func text(of pieces: [String], upTo count: Int) -> String {
        (0..<Int.random(in: 0...count, using: &self)).map { _ in
            pieces[Int.random(in: pieces.indices, using: &self)]
        }.joined()
    }
}
