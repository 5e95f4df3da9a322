import GroupFiles
import GroupProtocol
import LinuxIO

/// What is to be looked at in a group's `Documents`, gathered while the last look is under way. A plain value; `run` blocks,
/// on a worker's thread.
struct DocumentLook: Sendable {
    /// Why a path is looked at; what says more is greater.
    enum Reason: Int, Comparable, Sendable {
        /// Somebody's first step, most likely, and the next one will tell.
        case created
        /// Something may have happened.
        case doubtful
        /// It was written to for certain, even if the kernel's coarse clock says otherwise.
        case written

        static func < (left: Reason, right: Reason) -> Bool { left.rawValue < right.rawValue }
    }

    private(set) var paths: [DocumentPath: Reason] = [:]
    /// To be listed; nil stands for `Documents` itself.
    var directories: Set<DocumentPath?> = []
    /// For these it is the second look, and what is found counts.
    var settled: Set<DocumentPath> = []
    /// The same for everything: nobody is told yet.
    var isFirst = false

    var isEmpty: Bool { paths.isEmpty && directories.isEmpty && settled.isEmpty }

    func isSettled(_ path: DocumentPath) -> Bool { isFirst || settled.contains(path) }

    mutating func add(_ path: DocumentPath, _ reason: Reason) {
        paths[path] = max(paths[path] ?? .created, reason)
    }

    func run(container: String, documents: String) -> DocumentSight {
        var sight = DocumentSight(containerStands: (try? Files.status(container))?.kind == .directory)
        for path in Set(paths.keys).union(settled) { sight.look(at: path, below: documents) }
        for directory in directories { sight.list(directory, below: documents) }
        return sight
    }
}

/// What a look has found.
struct DocumentSight: Sendable {
    enum Entry: Equatable, Sendable {
        /// Nothing, or nothing that we follow (a socket, a device, a link that leads nowhere).
        case absent
        case directory(FileIdentity)
        case file(FileIdentity, LinkTrail?)
        /// It cannot be told: what was known stays.
        case unknown

        var isDirectory: Bool {
            if case .directory = self { true } else { false }
        }
    }

    /// Where the links of a linked file lead, and what has to be watched to see it change.
    struct LinkTrail: Equatable, Sendable {
        var directories: [String]
        var targetName: String
    }

    var containerStands: Bool
    /// `Documents` itself, if it was listed.
    private(set) var root: Entry?
    private(set) var entries: [DocumentPath: Entry] = [:]
    /// What is in the directories that could be listed; their entries are among `entries`.
    private(set) var listings: [DocumentPath?: Set<DocumentPath>] = [:]
    private(set) var isOnNetwork = false

    /// The directories that were seen; nil stands for `Documents` itself.
    var directories: [DocumentPath?] {
        let below: [DocumentPath?] = entries.compactMap { path, entry in entry.isDirectory ? path : nil }
        return root?.isDirectory == true ? below + [nil] : below
    }

    /// Those along links, by their whole paths.
    var linkedDirectories: Set<String> {
        entries.values.reduce(into: []) { directories, entry in
            if case .file(_, let trail?) = entry { directories.formUnion(trail.directories) }
        }
    }

    init(containerStands: Bool) {
        self.containerStands = containerStands
    }

    mutating func look(at path: DocumentPath, below documents: String) {
        entries[path] = Self.entry("\(documents)/\(path)", followsDirectories: false)
    }

    mutating func list(_ directory: DocumentPath?, below documents: String) {
        let place = directory.map { "\(documents)/\($0)" } ?? documents
        if let directory {
            look(at: directory, below: documents)
        } else {
            root = Self.entry(documents, followsDirectories: true)
            isOnNetwork = (try? Files.isNetworkFileSystem(documents)) ?? false
        }
        guard let names = try? Files.list(place) else { return }
        let paths = Set(names.compactMap { DocumentPath($0, in: directory) })
        for path in paths where entries[path] == nil { look(at: path, below: documents) }
        listings[directory] = paths
    }

    private static func entry(_ place: String, followsDirectories: Bool) -> Entry {
        do throws(SystemError) {
            guard let own = try Files.statusIfPresent(place, followLinks: false) else { return .absent }
            guard own.kind == .symlink else { return entry(own, nil) }
            // A link to a directory may lead in circles, or out of here.
            guard let end = try Files.statusIfPresent(place) else { return .absent }
            if end.kind == .directory { return followsDirectories ? .directory(end.node) : .absent }
            let trail = PlistFile(path: place).resolve()
            return entry(
                end,
                LinkTrail(directories: trail.places.directories, targetName: Files.lastComponent(of: trail.target)))
        } catch {
            return .unknown
        }
    }

    private static func entry(_ status: FileStatus, _ trail: LinkTrail?) -> Entry {
        switch status.kind {
        case .regular: .file(status.identity, trail)
        case .directory: .directory(status.node)
        default: .absent
        }
    }
}

extension FileStatus {
    /// Which directory it is, whatever happens in it.
    fileprivate var node: FileIdentity {
        FileIdentity(device: device, inode: inode, size: 0, mtimeNanoseconds: 0, ctimeNanoseconds: 0)
    }
}
