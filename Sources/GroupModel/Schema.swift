package import PropertyList

/// What a group's values have to be, as its schema says: for each key, or for all that a glob matches, the type, what is
/// allowed, and what it is for. A plain value, made from a property list or JSON.
package struct Schema: Equatable, Sendable {
    /// What holds for one key, or for the keys of one glob.
    package struct Rule: Equatable, Sendable {
        /// As it is written in the schema.
        package var key: String
        package var type: ValueType?
        package var standard: Value?
        /// Only these.
        package var allowed: [Value]?
        /// Of a number; of a text in characters, of data in bytes, of an array or dictionary in elements.
        package var minimum: Double?
        package var maximum: Double?
        /// A POSIX extended regular expression that the whole of a text has to match.
        package var pattern: String?
        package var summary: String?
        package var description: String?

        package init(key: String) {
            self.key = key
        }
    }

    package enum ValueType: String, Sendable, CaseIterable {
        case string, integer, real, number, boolean, date, data, array, dictionary
    }

    /// Whether keys that no rule is about may be written.
    package var allowsUnknownKeys = true
    /// For keys themselves.
    private var literals: [Key: Rule] = [:]
    /// For globs, in the order of their texts; the first that matches counts.
    private var globs: [(glob: Glob, rule: Rule)] = []

    package init() {}

    package static func == (left: Schema, right: Schema) -> Bool {
        left.allowsUnknownKeys == right.allowsUnknownKeys && left.rules == right.rules
    }

    package mutating func add(_ rule: Rule) {
        let glob = Glob(rule.key)
        if let literal = glob.literal {
            literals[literal] = rule
        } else {
            globs.append((glob, rule))
            globs.sort { $0.rule.key.utf8.lexicographicallyPrecedes($1.rule.key.utf8) }
        }
    }

    /// All of them, in the order of their keys, those for globs last.
    package var rules: [Rule] {
        literals.sorted { $0.key < $1.key }.map(\.value) + globs.map(\.rule)
    }

    package func rule(for key: Key) -> Rule? {
        literals[key] ?? globs.first { $0.glob.matches(key) }?.rule
    }

    /// What the group has of keys that nobody sets.
    package var defaults: [Key: Value] { literals.compactMapValues(\.standard) }
}

// MARK: - Checking

extension Schema {
    /// Whether a value may be written; `matches` says whether a text matches a regular expression.
    ///
    /// - Throws: `invalidKey` or `invalidValue`, with the rule that is broken.
    package func check(_ key: Key, _ value: Value, matches: (_ pattern: String, String) -> Bool) throws(GroupError) {
        guard let rule = rule(for: key) else {
            if allowsUnknownKeys { return }
            let near = NearNames.question(NearNames.of(key.string, among: literals.keys.map(\.string), atLeast: 1)) {
                "\"\($0)\""
            }
            throw .invalidKey(key.string, reason: "the group's schema has no such key\(near)")
        }
        if let problem = rule.problem(with: value, matches: matches) {
            throw .invalidValue(key: key.string, reason: "the group's schema wants \(problem)")
        }
    }
}

extension Schema.Rule {
    /// What is wanted instead; nil for a value that is fine.
    func problem(with value: Value, matches: (_ pattern: String, String) -> Bool) -> String? {
        if let type, !type.includes(value) { return "a value of type \(type.rawValue), not \(value.kind)" }
        if let allowed, !allowed.contains(value) {
            return "one of \(allowed.map(\.schemaText).joined(separator: ", "))"
        }
        if let measure = value.measure {
            let subject = measure.isCount ? "\(measure.name) " : ""
            if let minimum, measure.number < minimum { return "\(subject)at least \(minimum.schemaText)" }
            if let maximum, measure.number > maximum { return "\(subject)at most \(maximum.schemaText)" }
        }
        if let pattern, case .string(let text) = value, !matches(pattern, text) {
            return "a text that matches \(pattern)"
        }
        return nil
    }
}

extension Schema.ValueType {
    fileprivate func includes(_ value: Value) -> Bool {
        switch (self, value) {
        case (.string, .string), (.integer, .integer), (.integer, .unsignedInteger), (.real, .real),
            (.number, .integer), (.number, .unsignedInteger), (.number, .real), (.boolean, .boolean), (.date, .date),
            (.data, .data), (.array, .array), (.dictionary, .dictionary):
            true
        default: false
        }
    }
}

extension Value {
    /// What a range is about.
    fileprivate var measure: (number: Double, name: String, isCount: Bool)? {
        switch self {
        case .integer(let number): (Double(number), "", false)
        case .unsignedInteger(let number): (Double(number), "", false)
        case .real(let number): (number, "", false)
        case .string(let text): (Double(text.count), "a text with a length of", true)
        case .data(let bytes): (Double(bytes.count), "data with a size of", true)
        case .array(let elements): (Double(elements.count), "an array with a count of", true)
        case .dictionary(let entries): (Double(entries.count), "a dictionary with a count of", true)
        case .boolean, .date: nil
        }
    }

    fileprivate var schemaText: String {
        switch self {
        case .string(let text): "\"\(text)\""
        case .integer(let number): "\(number)"
        case .unsignedInteger(let number): "\(number)"
        case .real(let number): number.schemaText
        case .boolean(let flag): "\(flag)"
        default: "a certain \(kind)"
        }
    }
}

extension Double {
    fileprivate var schemaText: String { Int64(exactly: self).map(String.init) ?? "\(self)" }
}

// MARK: - Reading

/// Why a text is no schema.
package struct SchemaProblem: Error, Equatable, Sendable {
    package var text: String

    package init(text: String) {
        self.text = text
    }
}

extension Schema {
    /// From the entries of a property list, or of JSON.
    package init(_ entries: [Key: Value]) throws(SchemaProblem) {
        self.init()
        for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
            switch (key.string, value) {
            case ("unknownKeys", .string("allow")): allowsUnknownKeys = true
            case ("unknownKeys", .string("refuse")): allowsUnknownKeys = false
            case ("unknownKeys", _): throw SchemaProblem(text: "unknownKeys is allow or refuse")
            case ("keys", .dictionary(let rules)):
                for (key, value) in rules { add(try Rule(key, value)) }
            case ("summary", .string): break
            default: throw SchemaProblem(text: "a schema has keys, unknownKeys and summary, not \(key.string)")
            }
        }
    }
}

extension Schema.Rule {
    fileprivate init(_ key: Key, _ value: Value) throws(SchemaProblem) {
        self.init(key: key.string)
        guard case .dictionary(let entries) = value else {
            throw SchemaProblem(text: "what is said of the key \(key.string) is no dictionary")
        }
        for (name, value) in entries { try set(name.string, value) }
        if let standard, let problem = problem(with: standard, matches: { _, _ in true }) {
            throw SchemaProblem(text: "the default of \(key.string) is not \(problem)")
        }
    }

    private mutating func set(_ name: String, _ value: Value) throws(SchemaProblem) {
        switch (name, value) {
        case ("type", .string(let text)):
            guard let type = Schema.ValueType(rawValue: text) else {
                let names = Schema.ValueType.allCases.map(\.rawValue).joined(separator: ", ")
                throw SchemaProblem(text: "the type of \(key) is one of \(names), not \(text)")
            }
            self.type = type
        case ("default", _): standard = value
        case ("allowed", .array(let values)): allowed = values
        case ("minimum", .integer(let number)): minimum = Double(number)
        case ("minimum", .real(let number)): minimum = number
        case ("maximum", .integer(let number)): maximum = Double(number)
        case ("maximum", .real(let number)): maximum = number
        case ("pattern", .string(let text)): pattern = text
        case ("summary", .string(let text)): summary = text
        case ("description", .string(let text)): description = text
        default:
            throw SchemaProblem(
                text: "\(name) of \(key) is unknown, or of another type: there are type, default, allowed, minimum, "
                    + "maximum, pattern, summary and description")
        }
    }
}
