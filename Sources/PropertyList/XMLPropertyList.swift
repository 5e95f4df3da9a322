/// An XML property list as it stands in a file: its entries, and the text, which edits leave alone wherever they can.
///
/// A value, made by whoever read the file. Reading takes all that `plistlib`, `plutil` and Foundation write; writing
/// replaces the bytes of the values that changed, so that comments, order, indentation and all that we do not
/// understand outlive us.
package struct XMLPropertyList: Sendable {
    /// The entries of the root dictionary.
    package let entries: [Key: Value]

    private let bytes: [UInt8]
    /// The offset of the root dictionary's tag.
    private let root: Int

    /// What is read by default: an order above the largest group that the daemon takes.
    package static let defaultByteLimit = 64 << 20

    package init(
        parsing bytes: [UInt8], byteLimit: Int = XMLPropertyList.defaultByteLimit
    ) throws(PropertyListError) {
        let start = try XMLScanner(bytes).checkEncoding(byteLimit: byteLimit)
        var scanner = XMLScanner(bytes, at: start)
        let document = try scanner.document()
        self.bytes = bytes
        entries = document.entries
        root = document.root
    }

    /// A text that was read before, of which the caller knows what it holds.
    package init(_ bytes: [UInt8], holding entries: [Key: Value]) throws(PropertyListError) {
        self.bytes = bytes
        self.entries = entries
        root = try XMLScanner(bytes).rootStart()
    }

    /// Where the value of a key stands, as an editor shows it: line and column from 1.
    package func place(of key: Key) -> (line: Int, column: Int)? {
        // Where a key stands twice the last one counts.
        guard let slot = try? XMLLayout(of: root, in: bytes, wanting: { $0 == key }).slots.last else { return nil }
        let place = XMLPlace(of: slot.valueStart, in: bytes)
        return (place.line, place.column)
    }

    /// The value of a text whose root need not be a dictionary: an element such as `<array>…</array>`, or a document.
    package static func value(
        parsing bytes: [UInt8], byteLimit: Int = XMLPropertyList.defaultByteLimit
    ) throws(PropertyListError) -> Value {
        var scanner = XMLScanner(bytes, at: try XMLScanner(bytes).checkEncoding(byteLimit: byteLimit))
        return try scanner.anyValue()
    }

    /// The text with exactly these entries. Nothing else changes in it; if nothing has changed it is the same text.
    ///
    /// Dates are cut to whole seconds, as XML property lists have them; a date that differs in its fraction alone is no
    /// change.
    package func edited(to entries: [Key: Value]) -> [UInt8] {
        edited(XMLEditor.changes(from: self.entries, to: entries))
    }

    /// The text with these keys set, or removed where the value is nil. New keys come last, in the order given.
    package func edited(_ changes: [(key: Key, value: Value?)]) -> [UInt8] {
        guard !changes.isEmpty else { return bytes }
        var editor = XMLEditor(bytes)
        editor.edit(root: root, of: entries, changes)
        return editor.result
    }

    /// The same for keys in no order; new ones come last, sorted. What is not named is not looked at: this costs the text
    /// and what changes in it.
    package func edited(by changes: [Key: Value?]) -> [UInt8] {
        var ordered: [(key: Key, value: Value?)] = []
        var added: [(key: Key, value: Value?)] = []
        for (key, value) in changes {
            if entries.index(forKey: key) == nil { added.append((key, value)) } else { ordered.append((key, value)) }
        }
        return edited(ordered + added.sorted { $0.key < $1.key })
    }

    /// A new file: Apple's header, tabs, keys sorted by their bytes.
    package static func document(_ entries: [Key: Value]) -> [UInt8] {
        var writer = XMLWriter(layout: .lines(indentation: []))
        writer.append(header)
        writer.append(.dictionary(entries))
        writer.append("\n</plist>\n")
        return writer.bytes
    }

    /// One value as an element with Apple's line breaks and no header, for people to read.
    package static func fragment(_ value: Value) -> [UInt8] {
        var writer = XMLWriter(layout: .lines(indentation: []))
        writer.append(value)
        return writer.bytes
    }

    private static let header = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """
}
