/// Base64 with the standard alphabet and padding, on bytes.
package enum Base64 {
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        append(bytes[...], to: &text)
        return text
    }

    /// Appends the text of `bytes` to `text`.
    package static func append(_ bytes: ArraySlice<UInt8>, to text: inout [UInt8]) {
        var group: UInt32 = 0
        var filled = 0
        for byte in bytes {
            group = group << 8 | UInt32(byte)
            filled += 1
            if filled == 3 {
                text.append(digit(group >> 18))
                text.append(digit(group >> 12))
                text.append(digit(group >> 6))
                text.append(digit(group))
                group = 0
                filled = 0
            }
        }
        switch filled {
        case 1: text += [digit(group >> 2), digit(group << 4), padding, padding]
        case 2: text += [digit(group >> 10), digit(group >> 4), digit(group << 2), padding]
        default: break
        }
    }

    /// Decodes strictly: no white space, padding required, and no text but the one that `encode` would write.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        decode([UInt8](text)[...], ignoringWhiteSpace: false)
    }

    /// Decodes as strictly, except that blanks, tabs and line ends between the characters count for nothing where a
    /// property list's `<data>` is read.
    package static func decode(_ text: ArraySlice<UInt8>, ignoringWhiteSpace: Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var group: UInt32 = 0
        var filled = 0
        var padded = 0
        for character in text {
            if let value = value(of: character) {
                guard padded == 0 else { return nil }
                group = group << 6 | UInt32(value)
                filled += 1
                if filled == 4 {
                    bytes.append(UInt8(truncatingIfNeeded: group >> 16))
                    bytes.append(UInt8(truncatingIfNeeded: group >> 8))
                    bytes.append(UInt8(truncatingIfNeeded: group))
                    group = 0
                    filled = 0
                }
            } else if character == padding {
                padded += 1
            } else if !(ignoringWhiteSpace && character.isXMLWhiteSpace) {
                return nil
            }
        }
        return finish(group, filled: filled, padded: padded, onto: bytes)
    }

    /// The one or two bytes of a padded last group; the bits that belong to no byte must be zero.
    private static func finish(_ group: UInt32, filled: Int, padded: Int, onto bytes: [UInt8]) -> [UInt8]? {
        switch (filled, padded) {
        case (0, 0):
            return bytes
        case (2, 2) where group & 0xF == 0:
            return bytes + [UInt8(truncatingIfNeeded: group >> 4)]
        case (3, 1) where group & 0x3 == 0:
            return bytes + [UInt8(truncatingIfNeeded: group >> 10), UInt8(truncatingIfNeeded: group >> 2)]
        default:
            return nil
        }
    }

    private static let padding = UInt8(ascii: "=")

    private static func digit(_ bits: UInt32) -> UInt8 {
        switch UInt8(truncatingIfNeeded: bits & 0x3F) {
        case let value where value < 26: UInt8(ascii: "A") + value
        case let value where value < 52: UInt8(ascii: "a") + value - 26
        case let value where value < 62: UInt8(ascii: "0") + value - 52
        case 62: UInt8(ascii: "+")
        default: UInt8(ascii: "/")
        }
    }

    private static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}

extension UInt8 {
    /// Space, tab, line feed or carriage return.
    var isXMLWhiteSpace: Bool {
        self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D
    }

    /// Space or tab.
    var isBlank: Bool { self == 0x20 || self == 0x09 }
}
