import GroupModel
import GroupProtocol
import PropertyList
import Varlink

/// Writing, as the options of the command line have it.
extension Session {
    /// Attempts at a change that others keep getting ahead of; each time one of them has succeeded.
    private static let attempts = 100

    func writeRequest(_ group: GroupIdentifier, _ edits: [Edit], unchangedSince: Int64?) -> WriteRequest {
        WriteRequest(
            group: group, edits: edits, unchangedSince: unchangedSince, isDurable: invocation.has(.durable),
            tag: invocation.value(.tag))
    }

    /// Reads the keys, has the edits decided on what they hold, and writes only if none of them changed meanwhile; else
    /// begins again. With --if-unchanged-since a change by others ends it.
    ///
    /// - Returns: what the keys held right before.
    @discardableResult
    func update(
        _ group: GroupIdentifier, _ keys: [Key], _ edits: ([Key: Value]) throws(Failure) -> [Edit]
    ) throws(Failure) -> [Key: Value] {
        let given = try invocation.number(.unchangedSince)
        var outcome: Result<JSONObject, GroupError>?
        for _ in 0..<Self.attempts {
            let reply = try call(.read(group, keys: keys.map(\.pattern)))
            let position = try Self.position(reply)
            let values = try values(reply)
            let request = writeRequest(
                group, try edits(values), unchangedSince: min(given ?? position.revision, position.revision))
            let result = try self.outcome(of: .write(request))
            if case .success = result { return values }
            outcome = result
            guard case .failure(.conflict) = result, given == nil else { break }
        }
        guard case .failure(let error)? = outcome else { throw Self.unexpectedReply }
        throw failure(error)
    }

    static func position(_ reply: JSONObject) throws(Failure) -> Position {
        guard let position = reply["position"].flatMap(Position.init(wire:)) else { throw unexpectedReply }
        return position
    }

    /// A mistyped name would make a group that nobody reads: in doubt it has to be said.
    func createUnlessMistyped(_ group: GroupIdentifier) throws(Failure) {
        let near = NearNames.of(group.string, among: try groupNames())
        if !near.isEmpty, !invocation.has(.create) {
            throw .refused(
                "there is no group \(group)" + NearNames.question(near),
                advice: "if it is to be a new group, say --create")
        }
        _ = try createGroup(group)
        console.note("made the group \(group)")
    }

    /// One value for scripts: bare, in one line that shows the type, or as JSON.
    func print(value: Value) throws(Failure) {
        if printsJSON { return try print(JSONRendering.json(value)) }
        if printsPlain { return try console.print(TextRendering.inline(value)) }
        try console.print(TextRendering.bare(value))
    }
}
