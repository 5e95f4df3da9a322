/// The name of a setting, or of an entry of a dictionary value: any Unicode text, compared **byte for byte**.
///
/// Swift's own `String` compares by canonical equivalence, so that "é" composed and decomposed are one dictionary key.
/// Here they are two, in client, wire, file and tool alike (fault R69); the dot, `@`, `/` and the empty text are
/// ordinary keys.
package struct Key: Sendable {
    package let string: String

    package init(_ string: String) {
        self.string = string
    }
}

extension Key: Hashable {
    package static func == (left: Key, right: Key) -> Bool {
        left.string.isIdentical(to: right.string)
    }

    package func hash(into hasher: inout Hasher) {
        // Eight bytes at a time: no normalisation, and no call of the hasher for each byte.
        var word: UInt64 = 0
        var filled: UInt64 = 0
        for byte in string.utf8 {
            word = word << 8 | UInt64(byte)
            filled += 1
            if filled & 7 == 0 {
                hasher.combine(word)
                word = 0
            }
        }
        hasher.combine(word)
        hasher.combine(filled)
    }
}

extension Key: Comparable {
    /// The order of the UTF-8 bytes, which is also the order of the Unicode scalars.
    package static func < (left: Key, right: Key) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }
}

extension Key: ExpressibleByStringLiteral, CustomStringConvertible {
    package init(stringLiteral value: String) {
        self.init(value)
    }

    package var description: String { string }
}

extension String {
    /// Whether both have the same UTF-8 bytes (`==` would take canonically equivalent texts for equal).
    package func isIdentical(to other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
