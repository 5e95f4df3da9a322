package import PropertyList

/// A pattern over whole keys: `*` any run (dots included), `?` one Unicode scalar, `\` makes the next character ordinary.
package struct Glob: Hashable, Sendable {
    private enum Piece: Hashable, Sendable {
        case scalar(Unicode.Scalar)
        case anyScalar
        case anyRun
    }

    private let pieces: [Piece]

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
    }

    /// The key, where the pattern names exactly one.
    package var literal: Key? {
        var text = String.UnicodeScalarView()
        for piece in pieces {
            guard case .scalar(let scalar) = piece else { return nil }
            text.append(scalar)
        }
        return Key(String(text))
    }

    /// O(pattern × key) at worst: on a mismatch only the last `*` takes one scalar more.
    package func matches(_ key: Key) -> Bool {
        let scalars = key.string.unicodeScalars
        var position = scalars.startIndex
        var piece = 0
        var retry: (piece: Int, position: String.Index)?
        while position < scalars.endIndex {
            if piece < pieces.count, pieces[piece] == .anyRun {
                retry = (piece, position)
                piece += 1
            } else if piece < pieces.count, accepts(pieces[piece], scalars[position]) {
                piece += 1
                position = scalars.index(after: position)
            } else if let last = retry {
                let next = scalars.index(after: last.position)
                retry = (last.piece, next)
                piece = last.piece + 1
                position = next
            } else {
                return false
            }
        }
        return pieces[piece...].allSatisfy { $0 == .anyRun }
    }

    private func accepts(_ piece: Piece, _ scalar: Unicode.Scalar) -> Bool {
        piece == .anyScalar || piece == .scalar(scalar)
    }
}

/// Which keys a reader asked for: all of them, or those that one of the patterns matches.
package enum KeyFilter: Hashable, Sendable {
    case all
    /// An empty list matches no key.
    case matching([Glob])

    package init(_ patterns: [String]?) {
        self = patterns.map { .matching($0.map(Glob.init)) } ?? .all
    }

    package func includes(_ key: Key) -> Bool {
        switch self {
        case .all: true
        case .matching(let globs): globs.contains { $0.matches(key) }
        }
    }

    /// The keys themselves, where no pattern has a wild card: they can be looked up instead of searched for.
    package var literals: [Key]? {
        guard case .matching(let globs) = self else { return nil }
        let literals = globs.compactMap(\.literal)
        return literals.count == globs.count ? literals : nil
    }
}
