import GroupModel
import PropertyList

// MARK: - Texts inside of messages and files

extension FuzzTarget {
    /// Pattern and key, divided by the first line feed.
    static let glob = FuzzTarget(name: "glob", summary: "patterns of keys, held against the definition") { bytes in
        let parts = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, bytes.count <= 64 else { return }
        let pattern = String(decoding: parts[0], as: UTF8.self)
        let text = String(decoding: parts[1], as: UTF8.self)
        let glob = Glob(pattern)
        let matches = glob.matches(Key(text))
        require(matches == matchesByDefinition(Array(pattern.unicodeScalars), Array(text.unicodeScalars)), "\(matches)")
        if let literal = glob.literal { require(matches == (literal == Key(text)), "a literal matches others") }
    }

    /// One row of the table for every scalar of the pattern: whether what was read so far matches each prefix of the text.
    private static func matchesByDefinition(_ pattern: [Unicode.Scalar], _ text: [Unicode.Scalar]) -> Bool {
        var row = [true] + text.map { _ in false }
        var index = 0
        while index < pattern.count {
            var scalar = pattern[index]
            let isEscaped = scalar == "\\" && index + 1 < pattern.count
            if isEscaped {
                index += 1
                scalar = pattern[index]
            }
            var next = [!isEscaped && scalar == "*" && row[0]]
            for (position, found) in text.enumerated() {
                switch scalar {
                case "*" where !isEscaped: next.append(next[position] || row[position + 1])
                case "?" where !isEscaped: next.append(row[position])
                default: next.append(row[position] && scalar == found)
                }
            }
            row = next
            index += 1
        }
        return row[text.count]
    }

    static let timestamp = FuzzTarget(name: "timestamp", summary: "times as RFC 3339 has them") { bytes in
        guard let time = Timestamp(rfc3339: bytes[...]) else { return }
        require(Timestamp(rfc3339: time.rfc3339) == time, "\(time.rfc3339) is another time")
        require(Timestamp(rfc3339: time.rfc3339Microseconds) == time, "\(time.rfc3339Microseconds) is another time")
    }
}
