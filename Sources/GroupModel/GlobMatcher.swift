import PropertyList

/// Patterns, all held against a key at once: for each scalar of the key one step, whatever the patterns are. A matcher that
/// goes back on a mismatch takes seconds for patterns that are made for it, in which nobody else would be served.
///
/// An automaton with a bit for each place in a pattern, the end included: a place is live where the scalars so far have led
/// to it. A plain value, made once for its patterns.
struct GlobMatcher: Sendable {
    /// The places at which the patterns begin, and those at which they end.
    private var starts: [UInt64]
    private var ends: [UInt64]
    /// Places that stay live whatever comes: a `*` stands there.
    private var runs: [UInt64]
    /// Places from which any scalar leads to the next.
    private var anyScalar: [UInt64]
    /// The same for each scalar that a pattern has, one behind the other.
    private var masks: [UInt64] = []
    private var maskStarts: [Unicode.Scalar: Int] = [:]

    /// How many places there are: what a step costs grows with it.
    let size: Int

    init(_ patterns: [[Glob.Piece]]) {
        size = patterns.reduce(0) { $0 + $1.count { $0 != .anyRun } + 1 }
        let none = [UInt64](repeating: 0, count: (size + 63) / 64)
        (starts, ends, runs, anyScalar) = (none, none, none, none)
        var scalars: [(Unicode.Scalar, place: Int)] = []
        var place = 0
        for pattern in patterns {
            starts.insert(place)
            for piece in pattern {
                switch piece {
                case .anyRun: runs.insert(place)
                case .anyScalar:
                    anyScalar.insert(place)
                    place += 1
                case .scalar(let scalar):
                    scalars.append((scalar, place))
                    place += 1
                }
            }
            ends.insert(place)
            place += 1
        }
        for (scalar, place) in scalars { accept(scalar, at: place) }
    }

    private mutating func accept(_ scalar: Unicode.Scalar, at place: Int) {
        let start = maskStarts[scalar] ?? masks.count
        if start == masks.count {
            maskStarts[scalar] = start
            masks += anyScalar
        }
        masks.insert(start * 64 + place)
    }

    /// Whether one of the patterns matches the key. O(scalars × places / 64).
    func matches(_ key: Key) -> Bool {
        var live = starts
        for scalar in key.string.unicodeScalars {
            switch step(&live, maskStarts[scalar]) {
            case .nothing: return false
            case .everything: return true
            case .something: break
            }
        }
        return live.indices.contains { live[$0] & ends[$0] != 0 }
    }

    private enum Prospect {
        case nothing, something, everything
    }

    /// One scalar, whose mask stands there; nil where no pattern names it.
    private func step(_ live: inout [UInt64], _ maskStart: Int?) -> Prospect {
        // From the last place of a word to the first of the next.
        var carry: UInt64 = 0
        var some: UInt64 = 0
        for word in live.indices {
            let mask = maskStart.map { masks[$0 + word] } ?? anyScalar[word]
            let moved = live[word] & mask
            let next = moved << 1 | carry | live[word] & runs[word]
            carry = moved >> 63
            live[word] = next
            some |= next
            // At the end, and a `*` there takes the rest.
            if next & ends[word] & runs[word] != 0 { return .everything }
        }
        return some == 0 ? .nothing : .something
    }
}

extension [UInt64] {
    fileprivate mutating func insert(_ bit: Int) { self[bit / 64] |= 1 << UInt64(bit % 64) }
}
