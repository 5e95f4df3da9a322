package import PropertyList

/// A pattern over whole keys: `*` any run (dots included), `?` one Unicode scalar, `\` makes the next character ordinary.
package struct Glob: Sendable {
    enum Piece: Hashable, Sendable {
        case scalar(Unicode.Scalar)
        case anyScalar
        case anyRun
    }

    let pieces: [Piece]
    /// The key, where the pattern names exactly one.
    package let literal: Key?
    /// Nil where it does.
    private let matcher: GlobMatcher?

    /// Every text is a pattern; a `\` at its end stands for itself.
    package init(_ pattern: String) {
        var pieces: [Piece] = []
        var escaped = false
        for scalar in pattern.unicodeScalars {
            switch scalar {
            case _ where escaped:
                pieces.append(.scalar(scalar))
                escaped = false
            case "\\": escaped = true
            case "?": pieces.append(.anyScalar)
            case "*" where pieces.last == .anyRun: break
            case "*": pieces.append(.anyRun)
            default: pieces.append(.scalar(scalar))
            }
        }
        if escaped { pieces.append(.scalar("\\")) }
        self.pieces = pieces
        literal = Self.literal(pieces)
        matcher = literal == nil ? GlobMatcher([pieces]) : nil
    }

    private static func literal(_ pieces: [Piece]) -> Key? {
        var text = String.UnicodeScalarView()
        for piece in pieces {
            guard case .scalar(let scalar) = piece else { return nil }
            text.append(scalar)
        }
        return Key(String(text))
    }

    package func matches(_ key: Key) -> Bool { matcher?.matches(key) ?? (key == literal) }
}

extension Glob: Hashable {
    // The pieces say the rest.
    package static func == (left: Glob, right: Glob) -> Bool { left.pieces == right.pieces }
    package func hash(into hasher: inout Hasher) { hasher.combine(pieces) }
}

/// Which keys a reader asked for: all of them, or those that one of the patterns matches.
package enum KeyFilter: Hashable, Sendable {
    case all
    /// An empty list matches no key.
    case matching(KeyPatterns)

    package init(_ patterns: [String]?) {
        self = patterns.map { .matching(KeyPatterns($0.map(Glob.init))) } ?? .all
    }

    package func includes(_ key: Key) -> Bool {
        switch self {
        case .all: true
        case .matching(let patterns): patterns.match(key)
        }
    }

    /// The keys themselves, where no pattern has a wild card: they can be looked up instead of searched for.
    package var literals: [Key]? {
        guard case .matching(let patterns) = self, patterns.matcher == nil else { return nil }
        return patterns.globs.compactMap(\.literal)
    }

    /// The same filter, unless to hold every key against its wild cards could hold everybody else up.
    package func bounded() throws(GroupError) -> KeyFilter {
        guard case .matching(let patterns) = self, let size = patterns.matcher?.size, size > Limits.patternSize else {
            return self
        }
        throw .tooLarge(
            subject: "patterns with wild cards of one call", limit: Int64(Limits.patternSize), size: Int64(size))
    }
}

/// Patterns of which one must match: the keys among them are looked up, the others looked at together.
package struct KeyPatterns: Hashable, Sendable {
    fileprivate let globs: [Glob]
    private let keys: Set<Key>
    /// Nil where no pattern has a wild card.
    fileprivate let matcher: GlobMatcher?

    init(_ globs: [Glob]) {
        self.globs = globs
        keys = Set(globs.compactMap(\.literal))
        let wild = globs.filter { $0.literal == nil }.map(\.pieces)
        matcher = wild.isEmpty ? nil : GlobMatcher(wild)
    }

    fileprivate func match(_ key: Key) -> Bool { keys.contains(key) || matcher?.matches(key) == true }

    // The patterns say the rest.
    package static func == (left: KeyPatterns, right: KeyPatterns) -> Bool { left.globs == right.globs }
    package func hash(into hasher: inout Hasher) { hasher.combine(globs) }
}
