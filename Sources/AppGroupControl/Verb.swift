import GroupModel

/// What the tool can do, as the table has it: parsing, help and the call of the code come from this.
package struct Verb: Sendable {
    package struct Argument: Sendable {
        package enum Count: Sendable {
            case one, optional, any, atLeastOne
        }

        package let name: String
        package let count: Count

        package init(_ name: String, _ count: Count = .one) {
            self.name = name
            self.count = count
        }
    }

    package let name: String
    /// Other names that it is called by, from `defaults`.
    package let aliases: [String]
    package let arguments: [Argument]
    /// Whether a value with its type follows the arguments, as `defaults write` has it.
    package let takesValue: Bool
    package let valueIsOptional: Bool
    package let summary: String
    /// Beside the global ones.
    package let options: [Option]
    /// Paragraphs for the verb's own help, ready wrapped.
    package let details: String
    /// Whether a long output goes through a pager.
    let isPaged: Bool
    let body: @Sendable (Session) throws(Failure) -> Void

    init(
        _ name: String, aliases: [String] = [], _ arguments: [Argument] = [], takesValue: Bool = false,
        valueIsOptional: Bool = false, summary: String, options: [Option] = [], details: String = "",
        isPaged: Bool = false, body: @escaping @Sendable (Session) throws(Failure) -> Void
    ) {
        self.name = name
        self.aliases = aliases
        self.arguments = arguments
        self.takesValue = takesValue
        self.valueIsOptional = valueIsOptional
        self.summary = summary
        self.options = options
        self.details = details
        self.isPaged = isPaged
        self.body = body
    }

    /// `write GROUP KEY [TYPE] VALUE…`
    package var synopsis: String {
        let value = takesValue ? [valueIsOptional ? "[[TYPE] VALUE…]" : "[TYPE] VALUE…"] : []
        return ([name] + arguments.map(\.synopsis) + value).joined(separator: " ")
    }

    /// How many arguments it takes; nil stands for any number.
    var argumentCount: (least: Int, most: Int?) {
        let least = arguments.filter { $0.count == .one || $0.count == .atLeastOne }.count
        let isOpen = arguments.contains { $0.count == .any || $0.count == .atLeastOne }
        return (least, isOpen ? nil : arguments.count)
    }
}

extension Verb.Argument {
    var synopsis: String {
        switch count {
        case .one: name
        case .optional: "[\(name)]"
        case .any: "[\(name)…]"
        case .atLeastOne: "\(name)…"
        }
    }
}

extension Verb {
    /// All of them by what they are about, in the order of the help.
    package static let sections: [(title: String, verbs: [Verb])] = [
        (
            "values",
            [
                .list, .create, .read, .readType, .write, .increment, .toggle, .getAndSet, .tryOut, .keep, .rename,
                .delete, .deleteAll,
                .deleteGroup, .find, .explain, .describe,
            ]
        ),
        ("live", [.watch, .wait, .top]),
        ("history", [.history, .log, .blame, .show, .diff, .undo]),
        ("files", [.importFile, .export, .apply, .edit, .backup, .restore, .link, .unlink]),
        ("daemon", [.status, .check, .catConfig, .logLevel, .repair, .sync]),
        ("tool", [.completions, .help]),
    ]

    package static let all: [Verb] = sections.flatMap(\.verbs)

    /// What shells and the installation call; the help does not show them.
    static let hidden: [Verb] = [.complete, .manual]

    /// What others call them: gsettings, dconf, redis-cli, defaults on other systems.
    package static let habits: [String: Verb] = [
        "get": .read, "show-all": .read, "list-keys": .read, "list-recursively": .read, "set": .write, "put": .write,
        "monitor": .watch, "subscribe": .watch, "reset": .delete, "unset": .delete, "del": .delete, "dump": .export,
        "load": .importFile, "list-schemas": .list, "groups": .list, "ls": .list, "incr": .increment, "revert": .undo,
        "writable": .explain, "range": .describe, "reset-recursively": .deleteAll, "list-children": .read,
    ]

    /// For a name that no verb has.
    static func suggestions(for name: String) -> [String] {
        let name = name.lowercased()
        if let verb = habits[name] { return [verb.name] }
        let near = NearNames.of(name, among: all.map(\.name), atLeast: 1)
        let options = Option.global.flatMap(\.names).filter { $0 == "--\(name)" }
        return near.isEmpty ? options : near
    }

    /// Verbs are case-insensitive, as those of `defaults` are.
    package static func named(_ name: String) -> Verb? {
        let name = name.lowercased()
        return (all + hidden).first { $0.name == name || $0.aliases.contains(name) }
    }
}
