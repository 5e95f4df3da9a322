package import GroupModel
import Varlink

/// What comes most: a call that sets one key of a known group to a string, spelled as programs spell it. It says only where
/// its parts are in the message; nothing is made of them yet.
///
/// Every other call is to be read as a `WriteRequest` or a `Call`, to which what is read here means the same.
package struct OrdinarySet: Sendable {
    /// Within the quotes; there is no escape in it.
    package let key: Range<Int>
    package let text: Range<Int>
    package let tag: Range<Int>?
    /// Where the message must end, and its NUL be.
    package let end: Int
    /// Nothing but ASCII is between the quotes of text and tag.
    private let isASCII: Bool

    /// How all sets of one group begin: made once for a group, compared in one piece.
    package struct Pattern: Sendable {
        fileprivate let bytes: [UInt8]
        fileprivate let places: Places

        /// Where the pieces are among the bytes.
        fileprivate struct Places {
            /// Up to the key and its quote.
            let head: Range<Int>
            let middle: Range<Int>
            let end: Range<Int>
            let beforeTag: Range<Int>
            let behindTag: Range<Int>
        }

        package init(_ group: GroupIdentifier) {
            var row = PieceRow()
            let method = "\(SettingsInterface.name).\(SettingsMethod.write.rawValue)"
            places = Places(
                head: row.add(
                    #"{"method":"\#(method)","parameters":{"group":"\#(group.string)","edits":[{"key":""#.utf8),
                middle: row.add(#"","value":{"string":""#.utf8), end: row.add(#""}}]}}"#.utf8),
                beforeTag: row.add(#""}}],"tag":""#.utf8), behindTag: row.add(#""}}"#.utf8))
            bytes = row.bytes
        }
    }

    /// Nil where no such set of the pattern's group is at this place. What follows is not looked at: it is one where its
    /// message ends at `end`.
    package init?(_ bytes: Span<UInt8>, from start: Int = 0, like pattern: Pattern) {
        self.init(bytes, from: start, like: pattern.places, of: pattern.bytes.span)
    }

    fileprivate init?(
        _ bytes: Span<UInt8>, from start: Int, like pattern: Pattern.Places, of pieces: Span<UInt8>
    ) {
        guard bytes.has(pieces.extracting(pattern.head), at: start) else { return nil }
        let keyStart = start + pattern.head.count
        guard let key = bytes.plainString(from: keyStart), bytes.has(pieces.extracting(pattern.middle), at: key.end)
        else { return nil }
        let textStart = key.end + pattern.middle.count
        guard let text = bytes.plainString(from: textStart) else { return nil }
        self.key = keyStart..<key.end
        self.text = textStart..<text.end
        if bytes.has(pieces.extracting(pattern.end), at: text.end) {
            tag = nil
            isASCII = text.isASCII
            end = text.end + pattern.end.count
        } else {
            guard let tag = Self.tag(in: bytes, behind: text.end, like: pattern, of: pieces) else { return nil }
            self.tag = tag.range
            isASCII = text.isASCII && tag.isASCII
            end = tag.range.upperBound + pattern.behindTag.count
        }
    }

    private static func tag(
        in bytes: Span<UInt8>, behind text: Int, like pattern: Pattern.Places, of pieces: Span<UInt8>
    ) -> (range: Range<Int>, isASCII: Bool)? {
        guard bytes.has(pieces.extracting(pattern.beforeTag), at: text) else { return nil }
        let start = text + pattern.beforeTag.count
        guard let tag = bytes.plainString(from: start), bytes.has(pieces.extracting(pattern.behindTag), at: tag.end)
        else { return nil }
        return (start..<tag.end, tag.isASCII)
    }
}

extension OrdinarySet.Pattern {
    /// Gives the sets at the front of `bytes`, each a message of `messageSize` bytes at most, to `take`, until that takes
    /// one no more, or something else comes.
    ///
    /// - Returns: how many were taken, `limit` at most, and how many bytes their messages have, with the NULs.
    package func takeSets(
        from bytes: Span<UInt8>, limit: Int, messageSize: Int, _ take: (OrdinarySet) -> Bool
    ) -> (count: Int, size: Int) {
        let pieces = self.bytes.span
        var (count, start) = (0, 0)
        while count < limit {
            guard let set = OrdinarySet(bytes, from: start, like: places, of: pieces), set.end < bytes.count,
                bytes[set.end] == 0, set.end - start <= messageSize, set.isSound(in: bytes), take(set)
            else { break }
            count += 1
            start = set.end + 1
        }
        return (count, start)
    }
}

extension OrdinarySet {
    /// The tag, of a sound message; nil where there is none.
    package func tag(in message: Span<UInt8>) -> String? {
        guard let tag, let text = try? UTF8Span(validating: message.extracting(tag)) else { return nil }
        return String(copying: text)
    }

    /// Whether what was found between quotes is UTF-8.
    package func isSound(in message: Span<UInt8>) -> Bool {
        if isASCII { return true }
        guard (try? UTF8Span(validating: message.extracting(text))) != nil else { return false }
        guard let tag else { return true }
        return (try? UTF8Span(validating: message.extracting(tag))) != nil
    }
}
