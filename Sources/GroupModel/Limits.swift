package import PropertyList

/// The caps on what a group may hold. Past one, a write is refused with `TooLarge`; nothing is ever dropped.
package struct Limits: Equatable, Sendable {
    /// Of one value's encoded size, in bytes.
    package var valueSize = 1 << 20
    /// Of the sum of the values' encoded sizes, in bytes.
    package var groupSize = 4 << 20
    package var keysPerGroup = 1_000_000

    package init() {}

    /// Of a key, in bytes of UTF-8.
    package static let keySize = 1024
    /// Of the patterns with wild cards by which one call names keys, in characters: every key may be held against them.
    package static let patternSize = 8192
    /// Of what a value takes in a message, in bytes: a larger one nobody could be told.
    package static let valueMessageSize = 8 << 20
}

extension Value {
    /// What the caps count, in bytes: the text or the data, 8 for a number or a date, 1 for a boolean, 1 more for each
    /// value, and the keys of dictionaries.
    package var encodedSize: Int {
        switch self {
        case .string(let text): text.utf8.count + 1
        case .integer, .unsignedInteger, .real, .date: 9
        case .boolean: 2
        case .data(let bytes): bytes.count + 1
        case .array(let elements): elements.reduce(1) { $0 + $1.encodedSize }
        case .dictionary(let entries):
            entries.reduce(1) { $0 + $1.key.string.utf8.count + $1.value.encodedSize }
        }
    }
}

extension Key {
    /// Refuses what the plist could not carry, and what is over 1024 bytes. The empty key is a key.
    package func validate() throws(GroupError) {
        guard string.utf8.count <= Limits.keySize else {
            throw .invalidKey(
                string, reason: "a key has at most \(Limits.keySize) bytes, this one \(string.utf8.count)")
        }
        guard XMLPropertyList.carries(string) else {
            throw .invalidKey(string, reason: "a property list cannot carry a control character in a key")
        }
    }
}
