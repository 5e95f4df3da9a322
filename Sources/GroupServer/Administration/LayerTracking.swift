import GroupFiles
import GroupModel
import GroupProtocol
import LinuxIO

/// How the daemon stands to administrators' files: what they hold, which directories are watched for them, and whether a
/// look is due. A plain value, owned by the server.
struct LayerTracking {
    let directories: ConfigurationDirectories
    /// What is in force, but for files that are to be read again.
    var scan = LayerScan()
    /// The directories watched, or asked to be.
    private(set) var watched: Set<String> = []
    /// Without watches left they are looked at from time to time.
    var isPolled = false
    var isBusy = false
    /// Something happened while a look was under way.
    var isDueAgain = false
    /// A file that was there is gone or empty: believed at the second look, since somebody may be in the middle of saving.
    var hasDoubts = false

    init(_ directories: ConfigurationDirectories) {
        self.directories = directories
    }

    /// What is to be watched as the directories are now: each of them, what it has of ours, and where there is none the
    /// nearest one on the way to it.
    private var wanted: Set<String> {
        var wanted: Set<String> = []
        for path in directories.paths {
            let names = ConfigurationDirectories.Kind.allCases.map(\.rawValue) + ["\(AccessPolicy.fileName).d"]
            let kinds = names.map { "\(path)/\($0)" }
            if Self.isDirectory(path) {
                wanted.formUnion([path] + kinds.filter(Self.isDirectory))
            } else {
                var above = Files.parent(of: path)
                while !Self.isDirectory(above), above != Files.parent(of: above) { above = Files.parent(of: above) }
                wanted.insert(above)
            }
        }
        return wanted
    }

    private static func isDirectory(_ path: String) -> Bool {
        (try? Files.status(path))?.kind == .directory
    }

    /// - Returns: the directories to watch that were not, and those that were and need not be.
    mutating func updateWatched() -> (added: [String], dropped: [String]) {
        let wanted = wanted
        defer { watched = wanted }
        return (wanted.subtracting(watched).sorted(), watched.subtracting(wanted).sorted())
    }

    mutating func lost(_ directory: String) {
        watched.remove(directory)
    }

    /// Whether what happened to a name in a directory is about these files.
    func concerns(_ name: String, in directory: String) -> Bool {
        guard watched.contains(directory) else { return false }
        let path = directory == "/" ? "/\(name)" : "\(directory)/\(name)"
        if directories.paths.contains(where: { $0 == path || $0.hasPrefix("\(path)/") }) || name.isEmpty { return true }
        // In a directory of ours: a kind of files, or one of them. Above it, other names are no business of ours.
        return directories.paths.contains(directory)
            ? ConfigurationDirectories.Kind(rawValue: name) != nil || name.hasPrefix(AccessPolicy.fileName)
            : directories.paths.contains { directory.hasPrefix("\($0)/") }
    }
}
