/// What of a value an XML property list can carry.
extension Value {
    /// The first thing in this value that an XML property list cannot carry.
    package enum Uncarriable: Error, Equatable, Sendable {
        /// A control character, U+FFFE or U+FFFF in a string or in a key.
        case character(Unicode.Scalar)
        /// A date out of the years 0001 to 9999.
        case date(Timestamp)
        /// More than `Value.depthLimit` levels of arrays and dictionaries.
        case depth
    }

    package var firstUncarriable: Uncarriable? {
        firstUncarriable(levels: Value.depthLimit)
    }

    private func firstUncarriable(levels: Int) -> Uncarriable? {
        switch self {
        case .string(let text):
            return XMLPropertyList.firstUncarriable(in: text).map(Uncarriable.character)
        case .date(let timestamp):
            return Timestamp.representable.contains(timestamp) ? nil : .date(timestamp)
        case .array(let elements):
            guard levels > 0 else { return .depth }
            // A loop: `lazy.compactMap(…).first` looks at its element more than once, which at every level multiplies.
            for element in elements {
                if let found = element.firstUncarriable(levels: levels - 1) { return found }
            }
            return nil
        case .dictionary(let entries):
            guard levels > 0 else { return .depth }
            for (key, value) in entries {
                if let scalar = XMLPropertyList.firstUncarriable(in: key.string) { return .character(scalar) }
                if let found = value.firstUncarriable(levels: levels - 1) { return found }
            }
            return nil
        case .integer, .unsignedInteger, .real, .boolean, .data:
            return nil
        }
    }

    /// This value as it reads back from an XML property list: its dates cut to whole seconds.
    package var inWholeSeconds: Value {
        switch self {
        case .date(let timestamp): .date(timestamp.wholeSeconds)
        case .array(let elements): .array(elements.map(\.inWholeSeconds))
        case .dictionary(let entries): .dictionary(entries.mapValues(\.inWholeSeconds))
        default: self
        }
    }

    /// Whether writing this value gives what was read as `other`: equal but for fractions of seconds.
    package func isWritten(like other: Value) -> Bool {
        switch (self, other) {
        case (.date(let mine), .date(let theirs)):
            mine.wholeSeconds == theirs.wholeSeconds
        case (.array(let mine), .array(let theirs)):
            mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.isWritten(like: $1) }
        case (.dictionary(let mine), .dictionary(let theirs)):
            mine.count == theirs.count
                && mine.allSatisfy { key, value in theirs[key].map { value.isWritten(like: $0) } ?? false }
        default:
            self == other
        }
    }
}

extension Value.Uncarriable: CustomStringConvertible {
    package var description: String {
        switch self {
        case .character(let scalar):
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "the character U+\(String(repeating: "0", count: max(0, 4 - digits.count)))\(digits)"
        case .date: return "a date out of the years 0001 to 9999"
        case .depth: return "more than \(Value.depthLimit) levels of arrays and dictionaries"
        }
    }
}

extension XMLPropertyList {
    /// Whether XML 1.0 can hold this text: no control characters but tab, line feed and carriage return, no U+FFFE and
    /// no U+FFFF.
    package static func carries(_ string: String) -> Bool {
        firstUncarriable(in: string) == nil
    }

    /// Whether that is known of the text with these bytes at first sight: it is of nearly all texts that it carries.
    package static func surelyCarries(_ utf8: Span<UInt8>) -> Bool { !utf8.hasControlOrByteEF }

    /// The first character of the text that XML 1.0 cannot hold.
    package static func firstUncarriable(in string: String) -> Unicode.Scalar? {
        // Only a control character or one that begins with these three bytes' first is worth a second look.
        guard string.utf8.span.hasControlOrByteEF else { return nil }
        return string.unicodeScalars.first { scalar in
            switch scalar.value {
            case 0x09, 0x0A, 0x0D: false
            case 0..<0x20, 0xFFFE, 0xFFFF: true
            default: false
            }
        }
    }
}
