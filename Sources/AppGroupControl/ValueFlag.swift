/// The type of a value on the command line, by the names that `defaults` has for it.
package enum ValueFlag: String, CaseIterable, Sendable {
    case string = "-string"
    case integer = "-int"
    case real = "-float"
    case boolean = "-bool"
    case date = "-date"
    case data = "-data"
    case base64 = "-base64"
    case json = "-json"
    case propertyList = "-plist"
    case notation = "-value"
    case array = "-array"
    case arrayAdd = "-array-add"
    case dictionary = "-dict"
    case dictionaryAdd = "-dict-add"

    /// Takes the long names of `defaults` too.
    package init?(argument: String) {
        switch argument {
        case "-integer": self = .integer
        case "-boolean": self = .boolean
        default: self.init(rawValue: argument)
        }
    }

    var isCollection: Bool {
        switch self {
        case .array, .arrayAdd, .dictionary, .dictionaryAdd: true
        default: false
        }
    }

    /// What follows it, for the help.
    var valueName: String {
        switch self {
        case .string: "TEXT"
        case .integer, .real: "NUMBER"
        case .boolean: "true|false"
        case .date: "TIME"
        case .data: "HEX"
        case .base64: "BASE64"
        case .json: "JSON"
        case .propertyList: "XML"
        case .notation: "NOTATION"
        case .array, .arrayAdd: "[TYPE] ELEMENT…"
        case .dictionary, .dictionaryAdd: "KEY [TYPE] VALUE…"
        }
    }

    var summary: String {
        switch self {
        case .string: "a text, which may begin with -"
        case .integer: "an integer, signed or unsigned, of 64 bits"
        case .real: "a number with a fraction; nan and inf too"
        case .boolean: "yes, no, 1 and 0 are taken too"
        case .date: "2026-11-30T09:00:00Z, 2026-11-30, or with an offset such as +01:00"
        case .data: "bytes as pairs of hexadecimal digits"
        case .base64: "bytes as base64"
        case .json: "any value, as read --json prints it"
        case .propertyList: "any value, as an element of an XML property list"
        case .notation: "any value, as read prints it"
        case .array: "an array; each element may have its own type"
        case .arrayAdd: "adds elements to the array that is there"
        case .dictionary: "a dictionary; each value may have its own type"
        case .dictionaryAdd: "adds entries to the dictionary that is there"
        }
    }
}

/// One word of a value on the command line, after the options are taken out.
package enum ValueToken: Equatable, Sendable {
    case plain(String)
    /// A type with the word that follows it.
    case typed(ValueFlag, String)
    /// A type whose elements follow.
    case collection(ValueFlag)
}
