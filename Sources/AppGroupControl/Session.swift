import GroupClient
import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// One run of the tool: what was asked, where to print, and the connection. Owned by the tool's one thread.
final class Session {
    static let defaultSeconds = 30.0

    let invocation: Invocation
    let console: Console
    let environment: Environment
    /// For an answer, where the command line gives no other time.
    var answerSeconds = Session.defaultSeconds
    private var connection: DaemonConnection?

    init(_ invocation: Invocation, _ console: Console, _ environment: Environment) {
        self.invocation = invocation
        self.console = console
        self.environment = environment
    }

    var printsJSON: Bool { invocation.has(.json) || invocation.has(.jsonSequence) }
    /// For programs, and not as JSON.
    var printsPlain: Bool { console.isPlain && !printsJSON }
    var arguments: [String] { invocation.arguments }

    /// The verb's first argument.
    func group() throws(Failure) -> GroupIdentifier {
        try group(named: arguments.first ?? "")
    }

    func group(named name: String) throws(Failure) -> GroupIdentifier {
        do throws(GroupError) {
            return try GroupIdentifier(name)
        } catch {
            throw .refused(error)
        }
    }

    func address() throws(Failure) -> DaemonAddress {
        if let path = invocation.value(.socket) { return DaemonAddress(path: path) }
        guard let address = DaemonAddress(runtimeDirectory: environment["XDG_RUNTIME_DIR"]) else {
            throw Failure(
                .unreachable, "XDG_RUNTIME_DIR is not set, so there is no place to look for appgroupd's socket",
                advice: "log in as the user (su and sudo do not set it), or say --socket PATH")
        }
        return address
    }

    func answerDeadline() throws(Failure) -> Deadline {
        Deadline(afterSeconds: try invocation.seconds() ?? answerSeconds)
    }

    /// One call; its errors are those of the command.
    func call(_ request: Request) throws(Failure) -> JSONObject {
        switch try outcome(of: request) {
        case .success(let reply): return reply
        case .failure(let error): throw failure(.refused(error))
        }
    }

    /// One call where an unknown group is no error: nil.
    func callIfPresent(_ request: Request) throws(Failure) -> JSONObject? {
        switch try outcome(of: request) {
        case .success(let reply): return reply
        case .failure(.noSuchGroup): return nil
        case .failure(let error): throw failure(.refused(error))
        }
    }

    /// One call whose refusal is for the caller to judge.
    func outcome(of request: Request) throws(Failure) -> Result<JSONObject, GroupError> {
        let address = try address()
        let deadline = try answerDeadline()
        do throws(ConnectionError) {
            if connection == nil { connection = try DaemonConnection(to: address, deadline: deadline) }
            guard let connection else { throw .closed }
            return .success(try connection.call(request, deadline: deadline))
        } catch .refused(let error) {
            if case .tooLarge = error, case .read(let group, let keys) = request {
                return .success(try readInParts(group, keys: keys))
            }
            return .failure(error)
        } catch {
            throw failure(error)
        }
    }

    func failure(_ error: GroupError) -> Failure { failure(ConnectionError.refused(error)) }

    /// An error for people; an unknown group comes with the names that may have been meant.
    func failure(_ error: ConnectionError) -> Failure {
        guard case .refused(.noSuchGroup(let name)) = error, let names = try? groupNames() else {
            return Failure(error)
        }
        var failure = Failure(error)
        // Apple's names have a prefix that those of defaults have not.
        let near = NearNames.of(name, among: names)
        failure.message += NearNames.question(near.isEmpty ? names.filter { $0.hasSuffix(".\(name)") } : near)
        return failure
    }
}

extension Session {
    static let unexpectedReply = Failure(ConnectionError.unexpectedReply)

    func groupNames() throws(Failure) -> [String] {
        guard let groups = try call(.listGroups)["groups"]?.arrayValue else { throw Self.unexpectedReply }
        return groups.compactMap(\.stringValue)
    }

    /// Makes the group, or finds it made. Its container.
    func createGroup(_ group: GroupIdentifier) throws(Failure) -> String {
        guard let container = try call(.createGroup(group))["container"]?.stringValue else {
            throw Self.unexpectedReply
        }
        return container
    }

    func read(_ group: GroupIdentifier, patterns: [String]? = nil) throws(Failure) -> [Key: Value] {
        try values(try call(.read(group, keys: patterns)))
    }

    func values(_ reply: JSONObject) throws(Failure) -> [Key: Value] {
        guard let values = reply["values"].flatMap({ try? [Key: Value](wire: $0) }) else { throw Self.unexpectedReply }
        return values
    }

    func status(observers: Bool = false) throws(Failure) -> (raw: JSONObject, status: DaemonStatus) {
        let reply = try call(.status(observers: observers))
        guard let status = DaemonStatus(wire: reply) else { throw Self.unexpectedReply }
        return (reply, status)
    }

    func print(_ json: JSON) throws(Failure) {
        try console.print((invocation.has(.jsonSequence) ? "\u{1E}" : "") + json.description)
    }
}

extension Key {
    /// The pattern that matches this key alone.
    var pattern: String {
        var text = String.UnicodeScalarView()
        for scalar in string.unicodeScalars {
            if scalar == "*" || scalar == "?" || scalar == "\\" { text.append("\\") }
            text.append(scalar)
        }
        return String(text)
    }
}
