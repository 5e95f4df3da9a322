import GroupClient
import GroupModel
import Varlink

/// Why something about a group did not work.
///
/// A `code` to decide by, the rest to show. The codes of refusals are the errors of the interface `io.appgroupd.Settings`,
/// one to one.
public struct AppGroupError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What kind of error it is. More may come: a `switch` needs a default.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, as in the interface.
        public let description: String

        /// There is no such group.
        public static let noSuchGroup = Code(description: "NoSuchGroup")
        /// The text is no group identifier.
        public static let invalidGroup = Code(description: "InvalidGroup")
        /// The text cannot be a key: it is longer than 1024 bytes, or has a control character.
        public static let invalidKey = Code(description: "InvalidKey")
        /// A property list cannot carry the value, or an operation does not take it.
        public static let invalidValue = Code(description: "InvalidValue")
        /// An operation met a value of another type.
        public static let wrongType = Code(description: "WrongType")
        /// A key changed after the revision that was named.
        public static let conflict = Code(description: "Conflict")
        /// An administrator has set the key.
        public static let forced = Code(description: "Forced")
        /// The group's file can be read but not written.
        public static let readOnly = Code(description: "ReadOnly")
        /// A cap of the daemon would be passed.
        public static let tooLarge = Code(description: "TooLarge")
        /// The disk did not take it, or gave nothing.
        public static let storageFailed = Code(description: "StorageFailed")
        /// The daemon does not allow it to this program.
        public static let notPermitted = Code(description: "NotPermitted")
        /// The daemon cannot be reached.
        public static let unreachable = Code(description: "Unreachable")
        /// It took longer than the time limit.
        public static let timedOut = Code(description: "TimedOut")
        /// The daemon said something that this version does not understand.
        public static let protocolViolation = Code(description: "ProtocolViolation")
        /// The task that waited was cancelled; what it waited for goes on.
        public static let cancelled = Code(description: "Cancelled")
        /// The connection was lost with the answer to a write, and so many commits came since that the daemon does not know
        /// any more whether it took it. It is not made again, where that could count twice: an increment, a toggle, an
        /// append, a compare-and-set.
        public static let outcomeUnknown = Code(description: "OutcomeUnknown")
        /// The process was forked after the library was first used; the child cannot use it.
        public static let forked = Code(description: "Forked")
    }

    /// What kind of error it is.
    public let code: Code
    /// One line for people, with what helps.
    public let description: String
    /// The keys that it is about, where it is about keys.
    public let keys: [String]

    init(_ code: Code, _ description: String, keys: [String] = []) {
        self.code = code
        self.description = description
        self.keys = keys
    }
}

extension AppGroupError {
    init(_ error: GroupError) {
        let (code, keys) = Self.kind(of: error)
        self.init(code, error.description, keys: keys)
    }

    private static func kind(of error: GroupError) -> (Code, [String]) {
        switch error {
        case .noSuchGroup: (.noSuchGroup, [])
        case .invalidGroup: (.invalidGroup, [])
        case .invalidKey(let key, _): (.invalidKey, [key])
        case .invalidValue(let key, _): (.invalidValue, [key])
        case .wrongType(let key, _, _): (.wrongType, [key])
        case .conflict(let keys, _): (.conflict, keys)
        case .forced(let keys): (.forced, keys)
        case .readOnly: (.readOnly, [])
        case .tooLarge: (.tooLarge, [])
        case .storageFailed: (.storageFailed, [])
        case .notPermitted: (.notPermitted, [])
        }
    }

    init(_ error: ConnectionError) {
        switch error {
        case .refused(let error): self.init(error)
        case .timedOut: self.init(.timedOut, "appgroupd did not answer in time")
        case .closed, .outputClosed: self.init(.unreachable, "the connection to appgroupd was closed")
        case .unreachable(let path, let obstacle):
            self.init(.unreachable, "appgroupd cannot be reached at \(path): \(obstacle.advice)")
        case .violation, .unexpectedReply, .service, .unknown:
            self.init(.protocolViolation, "appgroupd answered what this version does not understand: \(error)")
        }
    }
}

extension ConnectionError.Obstacle {
    /// What it means and what helps.
    fileprivate var advice: String {
        switch self {
        case .absent: "nobody listens; start it with systemctl --user start appgroupd.socket"
        case .stale: "the daemon that made the socket is gone; start it with systemctl --user start appgroupd.socket"
        case .permissionDenied: "the socket is another user's"
        case .other(let errno): "error \(errno)"
        }
    }
}
