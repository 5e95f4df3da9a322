package import PropertyList

/// What values take in a message, where each stands as the interface's tagged type `Value`.
///
/// That is far more than what the caps count where there is much structure or much to escape: an array of booleans takes
/// nine times as much, a text of line feeds six times. Who fills a message has to know. `GroupProtocol` writes it; its tests
/// hold this against what it writes.
extension Value {
    /// In bytes, at most; exact but for numbers, which are counted with all the digits that they may have.
    package var messageSize: Int {
        switch self {
        case .string(let text): #"{"string":}"#.utf8.count + text.quotedSize
        case .integer, .unsignedInteger, .real: #"{"number":"-2.2250738585072014e-308"}"#.utf8.count
        case .boolean: #"{"boolean":false}"#.utf8.count
        case .date: #"{"date":"2026-11-30T09:00:00.000000Z"}"#.utf8.count
        case .data(let bytes): #"{"data":""}"#.utf8.count + (bytes.count + 2) / 3 * 4
        case .array(let elements):
            // One more for the comma.
            elements.reduce(#"{"array":[]}"#.utf8.count) { $0 + $1.messageSize + 1 }
        case .dictionary(let entries):
            entries.reduce(#"{"dictionary":{}}"#.utf8.count) { $0 + Value.messageSize($1.key, $1.value) }
        }
    }

    /// Of a key with its value, among others.
    package static func messageSize(_ key: Key, _ value: Value) -> Int {
        key.messageSize + value.messageSize + 1
    }

    /// Whether a message has room for this value, which for nearly all is known at first sight.
    package var fitsMessage: Bool {
        encodedSize <= Limits.valueMessageSize / Value.greatestGrowth || messageSize <= Limits.valueMessageSize
    }

    /// How often as large a value may be in a message as what the caps count: an empty dictionary, which counts as one byte,
    /// takes eighteen within an array, and twenty-one behind an empty key.
    private static let greatestGrowth = 24
}

extension Key {
    /// Among others, in bytes.
    package var messageSize: Int { string.quotedSize + 1 }
}

extension Commit {
    /// In bytes, at most.
    package var messageSize: Int {
        changes.reduce(Self.headSize + (origin.tag?.quotedSize ?? 0)) { size, change in
            size + Self.changeSize + change.key.messageSize + (change.old?.messageSize ?? 0)
                + (change.new?.messageSize ?? 0)
        }
    }

    /// Group, revision, time and origin but for the tag: names of groups, programs and units are short.
    private static let headSize = 1024
    /// The names of a change's fields, and its layer.
    private static let changeSize = #"{"key":,"old":,"new":,"layer":"defaults","hidden":true},"#.utf8.count
}

extension String {
    /// As a JSON string, in bytes.
    fileprivate var quotedSize: Int {
        let text = utf8.span
        var size = text.count + 2
        for index in text.indices {
            let byte = text[index]
            if byte < 0x20 { size += 5 } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { size += 1 }
        }
        return size
    }
}
