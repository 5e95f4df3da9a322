import PropertyList

/// Reads `-key value` pairs from a command line, as `UserDefaults` does on Apple's platforms and in Foundation.
enum ArgumentDomain {
    /// Every argument that begins with a single `-` and is followed by one that does not is a setting. A value that is an
    /// XML property list is that list, anything else its text.
    static func parse(_ arguments: [String]) -> [Key: Value] {
        var values: [Key: Value] = [:]
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            guard argument.hasPrefix("-"), !argument.hasPrefix("--"), argument.utf8.count > 1 else { continue }
            guard let value = rest.first, !value.hasPrefix("-") || Double(value) != nil else { continue }
            rest.removeFirst()
            values[Key(String(argument.dropFirst()))] = .string(value)
        }
        return values
    }
}
