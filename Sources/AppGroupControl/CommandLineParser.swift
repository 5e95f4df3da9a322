import GroupModel

/// Takes a command line apart by the table of verbs and options. Lives as long as one parse.
///
/// Options may stand before and after the verb and its arguments; `--` ends them. Within the value of `write` a word
/// after a type is a value whatever it looks like, so that texts and numbers may begin with `-`.
package struct CommandLineParser {
    private var rest: ArraySlice<String>
    private var invocation = Invocation()
    private var optionsEnded = false
    /// After a `--` within the value: types are words, too.
    private var typesEnded = false

    package static func parse(_ arguments: [String]) throws(Failure) -> Invocation {
        var parser = CommandLineParser(rest: arguments[...])
        while let argument = parser.rest.popFirst() {
            try parser.take(argument)
        }
        try parser.check()
        return parser.invocation
    }

    private init(rest: ArraySlice<String>) {
        self.rest = rest
    }

    private mutating func take(_ argument: String) throws(Failure) {
        if isWithinValue {
            try takeWithinValue(argument)
        } else if !optionsEnded, argument == "--" {
            optionsEnded = true
        } else if !optionsEnded, looksLikeOption(argument) {
            try takeOption(argument)
        } else if invocation.verb == nil {
            invocation.verb = try verb(argument)
        } else {
            invocation.arguments.append(argument)
        }
    }

    private var isWithinValue: Bool {
        guard let verb = invocation.verb, verb.takesValue else { return false }
        return invocation.arguments.count == verb.arguments.count
    }

    private mutating func takeWithinValue(_ argument: String) throws(Failure) {
        if !typesEnded, !optionsEnded, argument == "--" {
            typesEnded = true
        } else if !typesEnded, let flag = ValueFlag(argument: argument) {
            invocation.valueTokens.append(try token(flag))
        } else if !typesEnded, !optionsEnded, looksLikeOption(argument) {
            try takeOption(argument)
        } else {
            invocation.valueTokens.append(.plain(argument))
        }
    }

    private mutating func token(_ flag: ValueFlag) throws(Failure) -> ValueToken {
        if flag.isCollection { return .collection(flag) }
        guard let value = rest.popFirst() else {
            throw .usage("\(flag.rawValue) needs a value: \(flag.valueName)", invocation.verb)
        }
        return .typed(flag, value)
    }

    /// Negative numbers are values.
    private func looksLikeOption(_ argument: String) -> Bool {
        argument.hasPrefix("-") && argument != "-" && Double(decimal: argument) == nil
    }

    private func verb(_ name: String) throws(Failure) -> Verb {
        if let verb = Verb.named(name) { return verb }
        let near = Verb.suggestions(for: name)
        throw .usage("there is no verb \(quoted(name))" + NearNames.question(near), nil)
    }

    private mutating func takeOption(_ argument: String) throws(Failure) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let hasValue = argument.hasPrefix("--") && parts.count == 2
        let name = hasValue ? String(parts[0]) : argument
        guard let option = Self.options.first(where: { $0.names.contains(name) }) else { throw unknown(name) }
        guard invocation.options[option.name] == nil || option.valueName == nil else {
            throw .usage("\(name) is given twice", invocation.verb)
        }
        invocation.options[option.name] = try value(of: option, hasValue ? String(parts[1]) : nil)
    }

    private mutating func value(of option: Option, _ attached: String?) throws(Failure) -> String {
        guard let valueName = option.valueName else {
            guard attached == nil else { throw .usage("\(option.name) takes no value", invocation.verb) }
            return ""
        }
        guard let value = attached ?? rest.popFirst() else {
            throw .usage("\(option.name) needs a value: \(valueName)", invocation.verb)
        }
        return value
    }

    private func unknown(_ name: String) -> Failure {
        if ValueFlag(argument: name) != nil {
            return .usage("\(name) stands after GROUP and KEY of write", invocation.verb)
        }
        if isWithinValue {
            return .usage(
                "unknown option \(name); for a text that begins with - say: -string \(quoted(name))", invocation.verb)
        }
        let near = NearNames.of(name, among: Self.options.flatMap(\.names).filter { $0.hasPrefix("--") })
        return .usage("unknown option \(name)" + NearNames.question(near), invocation.verb)
    }

    private func check() throws(Failure) {
        if invocation.has(.help) || invocation.has(.version) { return }
        guard let verb = invocation.verb else { throw .usage("no verb is given", nil) }
        let allowed = (Option.global + verb.options).map(\.name)
        if let foreign = invocation.options.keys.sorted().first(where: { !allowed.contains($0) }) {
            throw .usage("\(foreign) is no option of \(verb.name)", verb)
        }
        let (least, most) = verb.argumentCount
        if invocation.arguments.count < least {
            let required = verb.arguments.filter { $0.count == .one || $0.count == .atLeastOne }
            throw .usage("\(verb.name) needs \(required[invocation.arguments.count].name)", verb)
        }
        if let most, invocation.arguments.count > most {
            throw .usage("\(verb.name) takes no \(quoted(invocation.arguments[most]))", verb)
        }
    }

    /// Of all verbs: an option may stand before the verb that it belongs to.
    private static let options: [Option] =
        Option.global
        + Verb.all.flatMap(\.options).reduce(into: []) { list, option in
            if !list.contains(where: { $0.name == option.name }) { list.append(option) }
        }
}
