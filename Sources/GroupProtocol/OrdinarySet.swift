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

    /// - Parameters:
    ///   - message: without its NUL.
    ///   - group: the one that it must be about.
    package init?(_ message: Span<UInt8>, of group: GroupIdentifier) {
        var cursor = JSONCursor()
        guard cursor.skip(Self.head, in: message), cursor.skip(group.string, in: message),
            cursor.skip(Self.beforeKey, in: message), let key = try? cursor.plainString(in: message),
            cursor.skip(Self.beforeText, in: message), let text = try? cursor.plainString(in: message),
            cursor.skip(Self.afterText, in: message)
        else { return nil }
        self.key = key
        self.text = text
        if cursor.skip(Self.beforeTag, in: message) {
            guard let tag = try? cursor.plainString(in: message) else { return nil }
            self.tag = tag
        } else {
            tag = nil
        }
        guard cursor.skip(Self.end, in: message), (try? cursor.end(in: message)) != nil else { return nil }
    }

    private static let head = Array(
        #"{"method":"\#(SettingsInterface.name).\#(SettingsMethod.write.rawValue)","parameters":{"group":"#.utf8)
    private static let beforeKey = Array(#","edits":[{"key":"#.utf8)
    private static let beforeText = Array(#","value":{"string":"#.utf8)
    private static let afterText = Array("}}]".utf8)
    private static let beforeTag = Array(#","tag":"#.utf8)
    private static let end = Array("}}".utf8)
}

extension OrdinarySet {
    /// The tag, of a sound message; nil where there is none.
    package func tag(in message: Span<UInt8>) -> String? {
        guard let tag, let text = try? UTF8Span(validating: message.extracting(tag)) else { return nil }
        return String(copying: text)
    }

    /// Whether what was found between quotes is UTF-8.
    package func isSound(in message: Span<UInt8>) -> Bool {
        guard (try? UTF8Span(validating: message.extracting(text))) != nil else { return false }
        guard let tag else { return true }
        return (try? UTF8Span(validating: message.extracting(tag))) != nil
    }
}
