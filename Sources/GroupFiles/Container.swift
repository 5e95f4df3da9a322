package import GroupModel
package import LinuxIO

/// The directories of the groups under one root, by Apple's layout. A value without state; its functions block.
package struct Container: Sendable {
    /// `$XDG_DATA_HOME/appgroups`, say. An absolute path.
    package let root: String

    package init(root: String) {
        self.root = root
    }

    package enum Failure: Error, Equatable, Sendable {
        case notADirectory(path: String)
        /// Made by a program that ran as root, usually (fault R77). Working on in it would spread the damage.
        case notOurs(path: String, owner: UInt32)
        case system(SystemError)
    }

    private static let trashName = ".trash"
    private static let subdirectories = [
        "Library", "Library/Preferences", "Library/Caches", "Library/Application Support", "Documents",
    ]
}

// MARK: - Paths

extension Container {
    package func path(of group: GroupIdentifier) -> String { Files.join(root, group.string) }

    package func preferencesPath(of group: GroupIdentifier) -> String { path(of: group) + "/Library/Preferences" }

    package func plistPath(of group: GroupIdentifier) -> String {
        "\(preferencesPath(of: group))/\(group.string).plist"
    }

    /// Locked by the daemon that has the root; also what a root is known by.
    package var lockPath: String { Files.join(root, ".lock") }

    package var trashPath: String { Files.join(root, Self.trashName) }
}

// MARK: - Changes

extension Container {
    /// Makes the root, if need be.
    package func createRoot() throws(Failure) {
        do throws(SystemError) {
            try Files.makeDirectories(Files.parent(of: root))
        } catch {
            throw .system(error)
        }
        try makeDirectory(root)
    }

    /// Makes what is missing of a group's directories, each 0700 whatever the umask. What is there stays as it is.
    ///
    /// Answers whether the group's own directory was made.
    @discardableResult
    package func create(_ group: GroupIdentifier) throws(Failure) -> Bool {
        try createRoot()
        let path = path(of: group)
        let isNew = try makeDirectory(path)
        var isChanged = isNew
        for name in Self.subdirectories where try makeDirectory("\(path)/\(name)") { isChanged = true }
        if isChanged {
            do throws(SystemError) {
                try makeDurable(group)
            } catch {
                throw .system(error)
            }
        }
        return isNew
    }

    /// Has a group's directories survive a power cut, up to its name in the root: a group whose journal is on stable storage
    /// must not lose the place of its plist.
    package func makeDurable(_ group: GroupIdentifier) throws(SystemError) {
        let path = path(of: group)
        for directory in ["\(path)/Library", path, root] { try Files.fsyncDirectory(directory) }
    }

    /// Whether all of a group's directories are there and ours, so that `create` has nothing to do.
    package func isWhole(_ group: GroupIdentifier) -> Bool {
        let path = path(of: group)
        return ([root, path] + Self.subdirectories.map { "\(path)/\($0)" }).allSatisfy {
            (try? checkDirectory($0)) != nil
        }
    }

    /// Moves a group's directory away, with all that is in it, to `<root>/.trash/<group>-<time>` or a free name like
    /// it. Gives the new path. Nothing is erased. A power cut may undo it before `makeTrashDurable`.
    package func trash(_ group: GroupIdentifier, time: String) throws(Failure) -> String {
        try makeDirectory(trashPath)
        do throws(SystemError) {
            return try Files.setAside(path(of: group), as: "\(trashPath)/\(group.string)-\(time)")
        } catch {
            throw .system(error)
        }
    }

    /// Has what was moved to the trash stay there over a power cut.
    package func makeTrashDurable() throws(SystemError) {
        try Files.fsyncDirectory(trashPath)
        try Files.fsyncDirectory(root)
    }

    /// The groups that have a directory, sorted. A link to a directory counts; other names and files do not.
    package func list() throws(SystemError) -> [GroupIdentifier] {
        var groups: [GroupIdentifier] = []
        for name in try Files.list(root) {
            guard let group = try? GroupIdentifier(name) else { continue }
            guard let status = try? Files.status(path(of: group)), status.kind == .directory else { continue }
            groups.append(group)
        }
        return groups.sorted()
    }

    /// Answers whether it was made; false when it was there, is a directory, and is ours.
    @discardableResult
    private func makeDirectory(_ path: String) throws(Failure) -> Bool {
        do throws(SystemError) {
            try Files.makeDirectory(path)
            return true
        } catch  where error.errno == .fileExists {
            try checkDirectory(path)
            return false
        } catch {
            throw .system(error)
        }
    }

    private func checkDirectory(_ path: String) throws(Failure) {
        let status: FileStatus
        do throws(SystemError) {
            status = try Files.status(path)
        } catch  where error.errno == .noSuchFile {
            throw .notADirectory(path: path)
        } catch {
            throw .system(error)
        }
        guard status.kind == .directory else { throw .notADirectory(path: path) }
        guard status.uid == ProcessFacts.effectiveUserID else { throw .notOurs(path: path, owner: status.uid) }
    }
}

extension Container.Failure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notADirectory(let path): "\(path) is no directory"
        case .notOurs(let path, let owner):
            "\(path) belongs to \(ProcessFacts.userName(owner)); give it back with: chown -R \"$USER\" \(path)"
        case .system(let error): error.description
        }
    }
}
