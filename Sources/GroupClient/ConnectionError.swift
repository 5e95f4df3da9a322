package import GroupModel
package import Varlink

/// Why a call did not give what it was made for.
package enum ConnectionError: Error, Equatable, Sendable {
    /// What is in the way of a connection.
    package enum Obstacle: Equatable, Sendable {
        /// No socket there: the daemon, or systemd in its place, does not listen.
        case absent
        /// A socket, but nobody listens: the daemon that made it is gone.
        case stale
        case permissionDenied
        /// Anything else, by its number.
        case other(errno: Int32)
    }

    case unreachable(path: String, Obstacle)
    case timedOut
    /// The daemon went away before its answer: whether it did what it was asked is unknown.
    case closed
    /// Nobody reads what is passed on (`DaemonConnection.outputPipe`).
    case outputClosed
    /// What answers does not speak Varlink.
    case violation(ProtocolViolation)
    /// Varlink, but not the interface's reply.
    case unexpectedReply
    /// An error of the interface itself.
    case refused(GroupError)
    /// An error of `org.varlink.service`: a daemon of another version, most likely.
    case service(ServiceError)
    /// An error that this version does not know.
    case unknown(String)
}
