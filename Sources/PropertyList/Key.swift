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
        hasher.combine(KeyHash.hash(string.utf8.span))
    }
}

extension Key: Comparable {
    /// The order of the UTF-8 bytes, which is also the order of the Unicode scalars.
    package static func < (left: Key, right: Key) -> Bool {
        let left = left.string.utf8.span
        let right = right.string.utf8.span
        let count = min(left.count, right.count)
        var index = 0
        while index + 8 <= count {
            let words = (left.word(at: index), right.word(at: index))
            // With the first byte highest, numbers have the order of the bytes.
            if words.0 != words.1 { return words.0.byteSwapped < words.1.byteSwapped }
            index += 8
        }
        while index < count {
            if left[index] != right[index] { return left[index] < right[index] }
            index += 1
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
    package func isIdentical(to other: Span<UInt8>) -> Bool {
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
}
