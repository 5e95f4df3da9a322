import GroupModel

/// What ends the tool with another status than 0: the status, what happened, and what to do about it.
package struct Failure: Error, Equatable, Sendable {
    package enum Status: Int32, Sendable {
        /// Not found, or refused.
        case refused = 1
        case unreachable = 2
        /// `apply --check`: something would change.
        case different = 3
        /// EX_USAGE of sysexits.h.
        case usage = 64
        /// The reader of our output went away: what the shell reports for SIGPIPE.
        case outputClosed = 141
    }

    package var status: Status
    /// Without a name in front or a point at the end. Empty: there is nothing to say.
    package var message: String
    package var advice: String?

    package init(_ status: Status, _ message: String, advice: String? = nil) {
        self.status = status
        self.message = message
        self.advice = advice
    }

    static func refused(_ message: String, advice: String? = nil) -> Failure {
        Failure(.refused, message, advice: advice)
    }

    static func usage(_ message: String, _ verb: Verb?) -> Failure {
        let help = verb.map { "appgroupctl \($0.name) --help" } ?? "appgroupctl --help"
        return Failure(.usage, message, advice: "\(help) shows how")
    }

    /// As it goes to standard error.
    package var text: String {
        guard !message.isEmpty else { return "" }
        return "appgroupctl: \(message)\n" + (advice.map { "appgroupctl: \($0)\n" } ?? "")
    }
}

extension NearNames {
    static func question(_ names: [String]) -> String { question(names, quoted: quoted) }
}

/// In quotation marks, as values are printed: whatever a name holds, the message stays one line.
func quoted(_ text: String) -> String {
    TextRendering.quoted(text)
}
