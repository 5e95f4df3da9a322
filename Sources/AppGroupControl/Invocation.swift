/// A command line, taken apart.
package struct Invocation: Sendable {
    /// Nil only where help or the version is asked for.
    package var verb: Verb?
    package var arguments: [String] = []
    package var valueTokens: [ValueToken] = []
    /// By the first name; the empty text for a switch.
    package var options: [String: String] = [:]

    package func has(_ option: Option) -> Bool { options[option.name] != nil }
    package func value(_ option: Option) -> String? { options[option.name] }
}

extension Invocation {
    /// A count or a revision.
    func number(_ option: Option) throws(Failure) -> Int64? {
        guard let text = value(option) else { return nil }
        guard let number = Int64(text), number >= 0, !text.hasPrefix("-") else {
            throw .usage("\(option.name) takes a whole number, not \(quoted(text))", verb)
        }
        return number
    }

    /// The seconds of --timeout, or of another option.
    func seconds(_ option: Option = .timeout) throws(Failure) -> Double? {
        guard let text = value(option) else { return nil }
        guard let seconds = Double(decimal: text), seconds.isFinite, seconds > 0 else {
            throw .usage("\(option.name) takes a number of seconds above 0, not \(quoted(text))", verb)
        }
        return seconds
    }
}
