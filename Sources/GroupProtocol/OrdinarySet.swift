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
        /// Up to the key and its quote.
        fileprivate let head: [UInt8]
        fileprivate let middle: [UInt8]
        fileprivate let end: [UInt8]

        package init(_ group: GroupIdentifier) {
            let method = "\(SettingsInterface.name).\(SettingsMethod.write.rawValue)"
            head = Array(
                #"{"method":"\#(method)","parameters":{"group":"\#(group.string)","edits":[{"key":""#.utf8)
            middle = Array(#"","value":{"string":""#.utf8)
            end = Array(#""}}]}}"#.utf8)
        }
    }

    /// Nil where no such set of the pattern's group is at this place. What follows is not looked at: it is one where its
    /// message ends at `end`.
    package init?(_ bytes: Span<UInt8>, from start: Int = 0, like pattern: Pattern) {
        guard bytes.has(pattern.head.span, at: start) else { return nil }
        let keyStart = start + pattern.head.count
        guard let key = bytes.plainString(from: keyStart), bytes.has(pattern.middle.span, at: key.end) else {
            return nil
        }
        let textStart = key.end + pattern.middle.count
        guard let text = bytes.plainString(from: textStart) else { return nil }
        self.key = keyStart..<key.end
        self.text = textStart..<text.end
        if bytes.has(pattern.end.span, at: text.end) {
            tag = nil
            isASCII = text.isASCII
            end = text.end + pattern.end.count
        } else {
            guard let tag = Self.tag(in: bytes, behind: text.end) else { return nil }
            self.tag = tag.range
            isASCII = text.isASCII && tag.isASCII
            end = tag.range.upperBound + Self.behindTag.count
        }
    }

    private static func tag(in bytes: Span<UInt8>, behind text: Int) -> (range: Range<Int>, isASCII: Bool)? {
        guard bytes.has(beforeTag.span, at: text) else { return nil }
        let start = text + beforeTag.count
        guard let tag = bytes.plainString(from: start), bytes.has(behindTag.span, at: tag.end) else { return nil }
        return (start..<tag.end, tag.isASCII)
    }

    private static let beforeTag = Array(#""}}],"tag":""#.utf8)
    private static let behindTag = Array(#""}}"#.utf8)
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
