/// The name of a group, e.g. `group.com.example.app`.
///
/// 1–200 bytes of `A-Z a-z 0-9 . _ -`, not beginning with `.` or `-`, without `..`: what a file can be named after on
/// every file system, and what cannot leave the root directory. Identifiers that differ only in case are different
/// groups.
package struct GroupIdentifier: Hashable, Sendable {
    package let string: String

    /// The longest identifier, in bytes: `<identifier>.journal` and its temporary names must fit NAME_MAX (255).
    package static let byteLimit = 200

    package init(_ text: String) throws(GroupError) {
        if let reason = Self.problem(of: text) {
            throw .invalidGroup(text, reason: reason)
        }
        string = text
    }

    private static func problem(of text: String) -> String? {
        let bytes = text.utf8
        guard let first = bytes.first else { return "a group identifier is not empty" }
        guard bytes.count <= byteLimit else { return "a group identifier has at most \(byteLimit) bytes" }
        guard bytes.allSatisfy(isAllowed) else {
            return "a group identifier consists of A-Z a-z 0-9 . _ - only, as in group.com.example.app"
        }
        guard first != UInt8(ascii: "."), first != UInt8(ascii: "-") else {
            return "a group identifier does not begin with . or -"
        }
        let dots = zip(bytes, bytes.dropFirst()).contains { $0 == UInt8(ascii: ".") && $1 == UInt8(ascii: ".") }
        return dots ? "a group identifier does not contain .." : nil
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

extension GroupIdentifier: Comparable, CustomStringConvertible {
    package static func < (left: GroupIdentifier, right: GroupIdentifier) -> Bool { left.string < right.string }

    package var description: String { string }
}
