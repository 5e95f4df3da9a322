/// What a user types: a word, and what it is about. From the arguments or from a line of the standard input.
package struct Command: Sendable {
    package let verb: String
    /// The rest of the line.
    package let text: String

    package init(_ line: String) {
        let parts = line.split(separator: " ", maxSplits: 1)
        verb = parts.first.map { String($0) } ?? ""
        text = parts.count == 2 ? String(parts[1]) : ""
    }
}

/// What a user has to be told.
package struct Complaint: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) {
        self.description = description
    }
}

extension Command {
    /// The text as `on` or `off`.
    package func flag() throws -> Bool {
        switch text {
        case "on": true
        case "off": false
        default: throw Complaint("\(verb) takes on or off")
        }
    }

    /// The text as a number.
    package func number() throws -> Int {
        guard let number = Int(text) else { throw Complaint("\(verb) takes a number") }
        return number
    }

    /// The text as a number and what follows it.
    package func numberAndText() throws -> (number: Int, text: String) {
        let rest = Command(text)
        guard let number = Int(rest.verb) else { throw Complaint("\(verb) takes a number and a text") }
        return (number, rest.text)
    }

    /// The text as one of the cases of an enumeration.
    package func choice<Choice: RawRepresentable<String> & CaseIterable>(
        of type: Choice.Type = Choice.self
    ) throws -> Choice {
        if let choice = Choice(rawValue: text) { return choice }
        throw Complaint("\(verb) takes \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }

    package var unknown: Complaint { Complaint("what is \"\(verb)\"? --help lists the commands") }
}
