import GroupProtocol
import LinuxIO

/// What is known of a group's `Documents`: its files, each in which state, and its directories. A plain value that compares
/// what is found with what was known; owned by a `DocumentWatch`.
struct DocumentTree {
    /// What a look has brought.
    struct News {
        var changes: [(path: DocumentPath, kind: DocumentChange.Kind)] = []
        /// There are others of their names now: to be watched anew, then listed. Nil: `Documents` itself.
        var replacedDirectories: [DocumentPath?] = []
    }

    /// Directories beyond so many are not followed: somebody's whole home, linked into a group, must not cost all the
    /// watches that the user has.
    static let directoryLimit = 1024

    private(set) var root: FileIdentity?
    private(set) var directories: [DocumentPath: FileIdentity] = [:]
    private(set) var links: [DocumentPath: DocumentSight.LinkTrail] = [:]
    /// Not seen any more, or not seen before without a word that they are whole: believed at the second look only, since
    /// whoever saves may be between two steps.
    private(set) var unsure: Set<DocumentPath> = []
    private(set) var isCut = false
    private var files: [DocumentPath: FileIdentity] = [:]

    /// Takes what was found. While the group's directory is out of reach, absence is not trusted: nothing was deleted.
    mutating func take(_ sight: DocumentSight, of look: DocumentLook, trustsAbsence: Bool) -> News {
        var news = News()
        if let entry = sight.root, entry != .absent || trustsAbsence { noteRoot(entry, &news) }
        for (directory, present) in sight.listings {
            for path in children(of: directory).subtracting(present) { note(path, .absent, look, &news) }
        }
        for (path, entry) in sight.entries.sorted(by: { $0.key < $1.key }) where entry != .absent || trustsAbsence {
            note(path, entry, look, &news)
        }
        return news
    }

    /// Takes those that are unsure, to be looked at again after the settle time.
    mutating func takeUnsure() -> Set<DocumentPath> {
        defer { unsure = [] }
        return unsure
    }

    private func children(of directory: DocumentPath?) -> Set<DocumentPath> {
        Set((Array(files.keys) + directories.keys).filter { $0.directory == directory })
    }

    private mutating func noteRoot(_ entry: DocumentSight.Entry, _ news: inout News) {
        switch entry {
        case .directory(let identity):
            if root != nil, root != identity { news.replacedDirectories.append(nil) }
            root = identity
        case .absent, .file:
            root = nil
            directories = [:]
            unsure.formUnion(files.keys)
        case .unknown: break
        }
    }

    private mutating func note(
        _ path: DocumentPath, _ entry: DocumentSight.Entry, _ look: DocumentLook, _ news: inout News
    ) {
        if entry == .unknown { return }
        if case .directory(let identity) = entry {
            noteDirectory(path, identity, &news)
        } else if directories.removeValue(forKey: path) != nil {
            for below in directories.keys where below.isBelow(path) { directories[below] = nil }
            unsure.formUnion(files.keys.filter { $0.isBelow(path) })
        }
        if case .file(let identity, let trail) = entry {
            noteFile(path, identity, trail, look, &news)
        } else if files[path] != nil {
            noteLoss(path, isSettled: look.isSettled(path), &news)
        }
    }

    private mutating func noteDirectory(_ path: DocumentPath, _ identity: FileIdentity, _ news: inout News) {
        guard directories[path] != identity else { return }
        guard directories[path] != nil || directories.count < Self.directoryLimit else {
            isCut = true
            return
        }
        if directories.updateValue(identity, forKey: path) != nil { news.replacedDirectories.append(path) }
    }

    private mutating func noteFile(
        _ path: DocumentPath, _ identity: FileIdentity, _ trail: DocumentSight.LinkTrail?, _ look: DocumentLook,
        _ news: inout News
    ) {
        let reason = look.paths[path] ?? .doubtful
        let known = files[path]
        // Whoever makes a file is still to write it, most likely; its closing tells, or the second look.
        guard reason == .written || look.isSettled(path) || (known != nil && reason != .created) else {
            unsure.insert(path)
            return
        }
        unsure.remove(path)
        links[path] = trail
        files[path] = identity
        if known == nil {
            news.changes.append((path, .created))
        } else if known != identity || reason == .written {
            news.changes.append((path, .changed))
        }
    }

    private mutating func noteLoss(_ path: DocumentPath, isSettled: Bool, _ news: inout News) {
        guard isSettled else {
            unsure.insert(path)
            return
        }
        files[path] = nil
        links[path] = nil
        unsure.remove(path)
        news.changes.append((path, .deleted))
    }
}
