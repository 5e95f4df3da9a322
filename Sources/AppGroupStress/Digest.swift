import AppGroup

/// A group's state in a few characters, the same for all who see the same.
enum Digest {
    static func of(_ settings: GroupDefaults) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        let values = settings.ownDictionary()
        for key in values.keys.sorted() {
            for byte in "\(key)=\(canonical(values[key]));".utf8 {
                hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
            }
        }
        return "\(values.count)-\(String(hash, radix: 16))"
    }

    /// A value's text, with dictionaries in order.
    static func canonical(_ any: Any?) -> String {
        switch any {
        case nil: "nothing"
        case let flag as Bool: "\(flag)"
        case let elements as [Any]: "[" + elements.map { canonical($0) }.joined(separator: ",") + "]"
        case let entries as [String: Any]:
            "{" + entries.keys.sorted().map { "\($0):\(canonical(entries[$0]))" }.joined(separator: ",") + "}"
        case let other?: "\(type(of: other)) \(other)"
        }
    }
}
