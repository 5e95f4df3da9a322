import CShims
import FoundationEssentials
import GroupClient

extension DaemonLink {
    /// The link of this process, to the daemon of this user.
    static let shared: DaemonLink = {
        let runtime = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"]
        // Without a runtime directory nobody can be there: the path says so in every error.
        let address =
            DaemonAddress(runtimeDirectory: runtime)
            ?? DaemonAddress(path: "/nonexistent (XDG_RUNTIME_DIR is not set)/appgroupd")
        armEnding()
        return DaemonLink(address, tagPrefix: newTagPrefix())
    }()

    /// What tells this process's writes from all others: the time and chance, since process ids come again.
    static func newTagPrefix() -> String {
        let time = String(UInt64(bitPattern: cshim_realtime_microseconds()), radix: 36)
        return "\(time)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
}
