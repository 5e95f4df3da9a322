import GroupModel
import GroupProtocol
import GroupWatch
import LinuxIO
import ServiceIO

/// A group's `Documents` while somebody watches it. Owned by the server, on the loop's thread; ends with its last observer.
final class DocumentWatch {
    let group: GroupIdentifier
    /// Tells a watch from a later one of the same group.
    let id: UInt64
    let container: String
    let documents: String
    /// The connections that are told.
    var observers: Set<UInt64> = []
    var tree = DocumentTree()
    /// What is to be looked at when the worker is free.
    var pending = DocumentLook()
    var isBusy = false
    /// Everything is watched and was listed once: from now on changes are told.
    var isReady = false
    var isOnNetwork = false
    var hasWarned = false
    /// Looks again at what is unsure.
    var settling: (timer: TimerSource, paths: Set<DocumentPath>)?

    init(_ group: GroupIdentifier, id: UInt64, container: String) {
        self.group = group
        self.id = id
        self.container = container
        documents = "\(container)/Documents"
    }

    /// What is to be watched.
    var directories: Set<String> {
        var directories: Set<String> = [container, documents]
        directories.formUnion(tree.directories.keys.map(place))
        for trail in tree.links.values { directories.formUnion(trail.directories) }
        return directories
    }

    func place(of path: DocumentPath?) -> String {
        path.map { "\(documents)/\($0)" } ?? documents
    }

    /// Everything is to be looked at.
    func lookAtAll() {
        pending.directories.insert(nil)
        for directory in tree.directories.keys { pending.directories.insert(directory) }
    }

    /// A watched directory is to be listed: its watch has just begun, or cannot be had, or it is gone.
    func look(atDirectory directory: String) {
        if directory == container || directory == documents {
            pending.directories.insert(nil)
        } else if let path = path(of: directory) {
            pending.directories.insert(path)
        }
        lookAtLinks(through: directory, .doubtful)
    }

    /// An event.
    func note(_ name: String, in directory: String, _ kind: WatchEventKind) {
        let reason = DocumentLook.Reason(kind)
        for (path, trail) in tree.links where trail.directories.contains(directory) {
            pending.add(path, name == trail.targetName ? max(reason, .doubtful) : .doubtful)
        }
        if directory == container {
            if name == "Documents" || name.isEmpty { pending.directories.insert(nil) }
            return
        }
        guard directory == documents || path(of: directory) != nil else { return }
        let parent = path(of: directory)
        if name.isEmpty {
            pending.directories.insert(parent)
        } else if let path = DocumentPath(name, in: parent) {
            pending.add(path, reason)
        }
    }

    private func lookAtLinks(through directory: String, _ reason: DocumentLook.Reason) {
        for (path, trail) in tree.links where trail.directories.contains(directory) { pending.add(path, reason) }
    }

    private func path(of directory: String) -> DocumentPath? {
        let start = "\(documents)/"
        guard directory.utf8.starts(with: start.utf8) else { return nil }
        return DocumentPath(String(decoding: directory.utf8.dropFirst(start.utf8.count), as: UTF8.self))
    }
}

extension DocumentLook.Reason {
    fileprivate init(_ kind: WatchEventKind) {
        switch kind {
        case .closedAfterWriting, .movedIn: self = .written
        case .created: self = .created
        case .deleted, .movedOut, .attributes: self = .doubtful
        }
    }
}
