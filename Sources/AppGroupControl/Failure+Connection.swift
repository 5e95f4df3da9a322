import GroupClient
import GroupModel
import Varlink

extension Failure {
    init(_ error: ConnectionError) {
        switch error {
        case .unreachable(let path, let obstacle): self = .unreachable(path, obstacle)
        case .timedOut:
            self.init(
                .unreachable, "appgroupd did not answer in time",
                advice: "see whether it is stopped or busy: systemctl --user status appgroupd")
        case .closed:
            self.init(
                .unreachable, "appgroupd went away before it answered; whether it did what was asked is unknown",
                advice: "try again, or look what it says: journalctl --user -u appgroupd")
        case .outputClosed: self.init(.outputClosed, "")
        case .violation, .unexpectedReply:
            self.init(
                .unreachable, "what answers at the socket does not speak as appgroupd does",
                advice: "see whether --socket names the right one, and whether both programs are of one version")
        case .refused(let error): self = .refused(error)
        case .service(let error): self = .service(error)
        case .unknown(let name):
            self.init(.refused, "appgroupd answers with the error \(name)", advice: Self.versions)
        }
    }

    private static func unreachable(_ path: String, _ obstacle: ConnectionError.Obstacle) -> Failure {
        switch obstacle {
        case .absent:
            Failure(.unreachable, "appgroupd is not running: there is no socket \(path)", advice: start)
        case .stale:
            Failure(
                .unreachable, "appgroupd is not running any more: nobody listens at the socket \(path)", advice: start)
        case .permissionDenied:
            Failure(
                .unreachable, "the socket \(path) may not be used: it belongs to another user or session",
                advice: "run appgroupctl as the user whose settings are meant, without sudo")
        case .other(let errno):
            Failure(
                .unreachable, "the socket \(path) cannot be used: error \(errno)",
                advice: "see whether --socket or $XDG_RUNTIME_DIR names the right place")
        }
    }

    static let start = "start it: systemctl --user start appgroupd.socket, or without systemd: appgroupd &"
    private static let versions = "see whether both programs are of one version: appgroupctl status"

    private static func service(_ error: ServiceError) -> Failure {
        switch error {
        case .methodNotFound(let name), .methodNotImplemented(let name), .interfaceNotFound(let name):
            .refused("this appgroupd does not know \(name)", advice: versions)
        case .invalidParameter(let name):
            .refused("appgroupd does not take this \(name)", advice: versions)
        case .permissionDenied: .refused("appgroupd does not permit it")
        case .expectedMore, .expectedUpgrade:
            .refused("appgroupd wants to be asked in another way", advice: versions)
        }
    }

    /// The errors of the interface, for people.
    static func refused(_ error: GroupError) -> Failure {
        switch error {
        case .noSuchGroup(let group):
            .refused("there is no group \(group)", advice: "appgroupctl list shows the groups")
        case .invalidGroup(let group, let reason): .refused("\(quoted(group)) is no name of a group: \(reason)")
        case .invalidKey(let key, let reason): .refused("\(quoted(key)) is no key: \(reason)")
        case .invalidValue(let key, let reason): .refused("\(quoted(key)) cannot have this value: \(reason)")
        case .wrongType(let key, let expected, let found):
            .refused(
                "the value of \(quoted(key)) is of type \(found), not \(expected); nothing changed",
                advice: "appgroupctl delete removes it")
        case .conflict(let keys, let revision):
            .refused(
                "\(list(keys)) changed meanwhile; the group is at revision \(revision), nothing was written",
                advice: "read the value again, then write with --if-unchanged-since \(revision)")
        case .forced(let keys):
            .refused("\(list(keys)) is set by the administrator and cannot be changed (appgroupctl explain)")
        case .readOnly(let group, let reason): .refused("\(group) cannot be written: \(reason)")
        case .tooLarge(let subject, let limit, let size):
            .refused(
                "the \(subject) is too large: \(size), where at most \(limit) is taken",
                advice: "the limits are in appgroupd.conf; large data belongs into the group's Documents directory")
        case .storageFailed(let reason, _):
            .refused("appgroupd cannot store it: \(reason)", advice: "appgroupctl status says more")
        case .notPermitted(let reason): .refused("appgroupd does not permit it: \(reason)")
        }
    }

    private static func list(_ keys: [String]) -> String {
        keys.map(quoted).joined(separator: ", ")
    }
}
