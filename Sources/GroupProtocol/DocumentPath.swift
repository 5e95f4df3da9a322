import PropertyList

/// The path of a document below its group's `Documents` directory: names with `/` between them, such as `notes.json` or
/// `drafts/today.txt`. Nothing leads out of the directory, and no name is hidden. Compared byte for byte, as the kernel
/// does.
package struct DocumentPath: Hashable, Sendable {
    private let key: Key

    package var string: String { key.string }

    /// As long as the kernel takes a path (PATH_MAX), in bytes.
    package static let byteLimit = 4096

    /// Nil for a path with empty, hidden or `..` parts, or one that is absolute, too long, or no name at all.
    package init?(_ text: String) {
        let bytes = text.utf8
        guard !bytes.isEmpty, bytes.count < Self.byteLimit, !bytes.contains(0) else { return nil }
        let names = bytes.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard names.allSatisfy({ !$0.isEmpty && $0.first != UInt8(ascii: ".") }) else { return nil }
        key = Key(text)
    }

    /// Something in a directory; nil for the directory `Documents` itself.
    package init?(_ name: String, in directory: DocumentPath?) {
        guard let directory else {
            self.init(name)
            return
        }
        self.init("\(directory.string)/\(name)")
    }

    /// The directory that it is in; nil for `Documents` itself.
    package var directory: DocumentPath? {
        let bytes = string.utf8
        guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")) else { return nil }
        return DocumentPath(String(string[..<slash]))
    }

    /// The names on the way, the file's own last.
    package var names: [String] { string.split(separator: "/").map(String.init) }

    /// Whether it is somewhere below a directory.
    package func isBelow(_ directory: DocumentPath) -> Bool {
        string.utf8.starts(with: "\(directory.string)/".utf8)
    }
}

extension DocumentPath: Comparable, CustomStringConvertible {
    package static func < (left: DocumentPath, right: DocumentPath) -> Bool { left.key < right.key }

    package var description: String { string }
}
