import CShims
import FoundationEssentials
import GroupModel
import PropertyList

/// What a group's file says, for the time in which the daemon has not been reached.
enum PlistFallback {
    /// Reads the file at its usual place and shows what it holds, if there is one that can be read. Only XML: a binary
    /// property list is the daemon's to read.
    static func load(into replica: Replica) {
        guard let root = root(), replica.position == nil else { return }
        let name = replica.group.string
        let path = "\(root)/\(name)/Library/Preferences/\(name).plist"
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return }
        guard let entries = try? XMLPropertyList(parsing: Array(data)).entries else { return }
        replica.step { $0.takeFallback(entries) }
    }

    private static func root() -> String? {
        let environment = ProcessInfo.processInfo.environment
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return "\(data)/appgroups" }
        return environment["HOME"].map { "\($0)/.local/share/appgroups" }
    }
}
