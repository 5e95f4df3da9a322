/// The elements of a property list. The raw value is the name's bytes packed into one number, so that a name is compared
/// in one instruction while the tag is scanned.
enum XMLElement: UInt64 {
    case plist = 0x70_6C_69_73_74
    case dict = 0x64_69_63_74
    case array = 0x61_72_72_61_79
    case key = 0x6B_65_79
    case string = 0x73_74_72_69_6E_67
    case integer = 0x69_6E_74_65_67_65_72
    case real = 0x72_65_61_6C
    case `true` = 0x74_72_75_65
    case `false` = 0x66_61_6C_73_65
    case date = 0x64_61_74_65
    case data = 0x64_61_74_61

    var name: String {
        String(
            decoding: (0..<8).reversed().map { UInt8(truncatingIfNeeded: rawValue >> ($0 * 8)) }.drop { $0 == 0 },
            as: UTF8.self)
    }
}

/// One start tag and where it stands.
struct XMLTag {
    var element: XMLElement
    /// The offset of `<`.
    var start: Int
    /// The offset after `>`.
    var end: Int
    /// Whether it is `<element/>`, with no content and no end tag.
    var isEmpty: Bool
}
