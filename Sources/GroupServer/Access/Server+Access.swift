import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO
import ServiceIO
import Varlink

/// Who may: ordinary processes of the user everything, sandboxed applications what the policy grants them.
extension Server {
    /// At the start, and with the administrators' files.
    func readPolicy() {
        do throws(SystemError) {
            let new = AccessPolicy(try paths.configuration.configurationFiles(named: AccessPolicy.fileName))
            guard new != policy else { return }
            policy = new
            for warning in new.warnings {
                let path = warning.split(separator: ":").first.map(String.init)
                Log.warning(warning, .configurationIgnored, about: Log.Subject(path: path))
            }
            endForbiddenStreams()
        } catch {
            Log.error("the policy cannot be read, and stays as it was: \(error)", .configurationIgnored)
        }
    }

    /// Who watches what is not granted any more is told by the end of the connection; a new watch is told the rule.
    private func endForbiddenStreams() {
        for connection in connections.values where connection.confinement != nil {
            let groups = connection.watches.map(\.group) + [connection.watchedDocuments].compactMap { $0 }
            if groups.contains(where: { !mayUse($0, connection) }) { close(connection) }
        }
    }

    /// Also asked before news go out: nothing reaches an application that is not for it.
    func mayUse(_ group: GroupIdentifier, _ connection: Connection) -> Bool {
        guard let confinement = connection.confinement else { return true }
        return policy.denial(of: group, to: confinement) == nil
    }

    func check(_ group: GroupIdentifier, _ connection: Connection) throws(GroupError) {
        guard let confinement = connection.confinement,
            let reason = policy.denial(of: group, to: confinement)
        else { return }
        throw .notPermitted(reason: reason)
    }

    /// What a sandboxed application may ask for: of groups that it is granted, and nothing that is about all of them.
    func check(_ request: Request, _ connection: Connection) throws(GroupError) {
        guard let confinement = connection.confinement else { return }
        switch request {
        case .listGroups: break
        case .createGroup(let group), .read(let group, _), .explain(let group, _), .describe(let group, _),
            .reset(let group, _), .synchronize(let group?), .watchDocuments(let group, _):
            try check(group, connection)
        case .write(let request): try check(request.group, connection)
        case .tryOut(let request): try check(request.group, connection)
        case .endTrial(let group, _, _): try check(group, connection)
        case .history(let request): try check(request.group, connection)
        case .watch(let watches): for watch in watches { try check(watch.group, connection) }
        case .synchronize(nil), .status, .logLevel, .deleteGroup, .repair:
            throw .notPermitted(reason: "\(confinement) is in a sandbox: \(request.method.rawValue) is for others")
        }
    }
}
