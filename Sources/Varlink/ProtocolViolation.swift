/// What a peer did that Varlink does not allow: the connection is to be closed, without a reply.
package enum ProtocolViolation: Error, Equatable, Sendable {
    /// A NUL with nothing before it.
    case emptyMessage
    case messageTooLong(limit: Int)
    case notJSON(JSONError)
    /// The message is JSON, but no object.
    case notAnObject
    case unknownMember(String)
    case missingMethod
    /// `method`, `parameters`, a flag, `continues` or `error` is not of its type.
    case invalidMember(String)
    /// More than one of `oneway`, `more` and `upgrade` is true.
    case severalFlags
    /// A reply that is an error and yet announces another one.
    case errorContinues
}
