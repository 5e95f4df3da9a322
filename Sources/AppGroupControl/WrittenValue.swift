package import PropertyList

/// What `write` is to do with a key.
package enum WrittenValue: Equatable, Sendable {
    case set(Value)
    /// A word without a type: it keeps the type that the key has.
    case untyped(String)
    case append([Value])
    case merge([Key: Value])

    /// Reads the words after KEY of another verb than `write`.
    package init(_ tokens: [ValueToken], for verb: Verb) throws(Failure) {
        guard !tokens.isEmpty else { throw .usage("\(verb.name) needs VALUE", verb) }
        do throws(Failure) {
            try self.init(tokens)
        } catch {
            throw .usage(error.message.replacingVerb(by: verb.name), verb)
        }
    }

    /// Reads the words after KEY of `write`.
    package init(_ tokens: [ValueToken]) throws(Failure) {
        guard let first = tokens.first else {
            throw Self.usage("write needs VALUE; delete removes a key")
        }
        if case .collection(let flag) = first {
            self = try Self.collection(flag, tokens.dropFirst())
            return
        }
        guard tokens.count == 1 else { throw Self.usage("write takes one VALUE; for several say -array or -dict") }
        self = if case .plain(let word) = first { .untyped(word) } else { .set(try Self.value(first)) }
    }

    private static func collection(
        _ flag: ValueFlag, _ tokens: ArraySlice<ValueToken>
    ) throws(Failure) -> WrittenValue {
        let isAddition = flag == .arrayAdd || flag == .dictionaryAdd
        if tokens.isEmpty, isAddition { throw usage("\(flag.rawValue) needs \(flag.valueName)") }
        switch flag {
        case .array: return .set(.array(try elements(tokens)))
        case .arrayAdd: return .append(try elements(tokens))
        case .dictionary: return .set(.dictionary(try entries(tokens, flag)))
        default: return .merge(try entries(tokens, flag))
        }
    }

    private static func elements(_ tokens: ArraySlice<ValueToken>) throws(Failure) -> [Value] {
        var values: [Value] = []
        for token in tokens { values.append(try value(token)) }
        return values
    }

    private static func entries(
        _ tokens: ArraySlice<ValueToken>, _ flag: ValueFlag
    ) throws(Failure) -> [Key: Value] {
        var entries: [Key: Value] = [:]
        var rest = tokens
        while let name = rest.popFirst() {
            guard case .string(let key) = try value(name) else { throw usage("a key of \(flag.rawValue) is a text") }
            guard let token = rest.popFirst() else { throw usage("the key \(quoted(key)) has no value") }
            guard entries.updateValue(try value(token), forKey: Key(key)) == nil else {
                throw usage("the key \(quoted(key)) comes twice")
            }
        }
        return entries
    }

    private static func value(_ token: ValueToken) throws(Failure) -> Value {
        switch token {
        case .plain(let word): return .string(word)
        case .collection(let flag): throw usage("\(flag.rawValue) cannot stand within a collection")
        case .typed(let flag, let word):
            do throws(ValueParsing.Problem) {
                return try ValueParsing.value(word, as: flag)
            } catch {
                throw usage("\(flag.rawValue) takes \(error.expected), not \(quoted(word))")
            }
        }
    }

    private static func usage(_ message: String) -> Failure { .usage(message, .write) }

    /// The word as a value of the type that the key has; as a text where it has none.
    ///
    /// - Throws: where it is no such value. To change the type is possible, and has to be said.
    package static func value(_ word: String, of key: Key, like present: Value?) throws(Failure) -> Value {
        let value = guess(word, like: present)
        guard let present, value.kind != present.kind else { return value }
        throw .refused(
            "\(quoted(key.string)) is of type \(present.kind.rawValue)\(expected(word, like: present)); nothing changed",
            advice: "to change the type, say which: -string \(quoted(word))")
    }

    private static func expected(_ word: String, like present: Value) -> String {
        guard let flag = flag(for: present.kind) else { return "" }
        do throws(ValueParsing.Problem) {
            _ = try ValueParsing.value(word, as: flag)
            return ", \(quoted(word)) is not"
        } catch {
            return ": it takes \(error.expected), not \(quoted(word))"
        }
    }

    private static func flag(for kind: Value.Kind?) -> ValueFlag? {
        switch kind {
        case .integer: .integer
        case .real: .real
        case .boolean: .boolean
        case .date: .date
        case .data: .data
        case .array, .dictionary: .notation
        case .string, nil: nil
        }
    }

    /// The same, a text where it is no such value.
    package static func guess(_ word: String, like present: Value?) -> Value {
        guard let flag = flag(for: present?.kind) else { return .string(word) }
        for flag in flag == .notation ? [flag, .json] : [flag] {
            if let value = try? ValueParsing.value(word, as: flag), value.kind == present?.kind { return value }
        }
        return .string(word)
    }
}

extension String {
    /// The messages above begin with the verb's name where they name it.
    fileprivate func replacingVerb(by name: String) -> String {
        hasPrefix("\(Verb.write.name) ") ? name + dropFirst(Verb.write.name.count) : self
    }
}
