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
        let bytes = string.utf8.span
        var index = 0
        while index + 8 <= bytes.count {
            hasher.combine(bytes.word(at: index))
            index += 8
        }
        var rest = UInt64(truncatingIfNeeded: bytes.count)
        while index < bytes.count {
            rest = rest << 8 | UInt64(bytes[index])
            index += 1
        }
        hasher.combine(rest)
    }
}

extension Key: Comparable {
    /// The order of the UTF-8 bytes, which is also the order of the Unicode scalars.
    package static func < (left: Key, right: Key) -> Bool {
        let left = left.string.utf8.span
        let right = right.string.utf8.span
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index]
        }
        return left.count < right.count
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
        utf8.span.isIdentical(to: other.utf8.span)
    }
}

extension Span<UInt8> {
    /// Whether both have the same bytes.
    func isIdentical(to other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        // From the end: names of settings differ there, while many begin alike.
        var index = count
        while index >= 8 {
            index -= 8
            guard word(at: index) == other.word(at: index) else { return false }
        }
        while index > 0 {
            index -= 1
            guard self[index] == other[index] else { return false }
        }
        return true
    }

    /// The eight bytes from `index` on as one number, the first byte lowest. Traps where they are not all in the span.
    @inline(__always)
    func word(at index: Int) -> UInt64 {
        let eight = extracting(index..<(index + 8))
        var word: UInt64 = 0
        for step in 0..<8 { word |= UInt64(eight[step]) << UInt64(truncatingIfNeeded: step * 8) }
        return word
    }
}
