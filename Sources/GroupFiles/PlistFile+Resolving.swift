package import LinuxIO

/// Where a plist's path leads.
package struct PlistResolution: Equatable, Sendable {
    package enum Outcome: Equatable, Sendable {
        /// Something is at the end of the links; not necessarily a regular file.
        case found(FileStatus)
        /// No link, no file, but the directory stands.
        case absent
        /// The last link leads nowhere.
        case dangling
        /// More links than the kernel would follow.
        case looping
        case unreachable(SystemError)
    }

    /// The end of the links: what a new file replaces. The links themselves are the user's (fault R71).
    package var target: String
    package var linkCount: Int
    package var places: PlistPlaces
    package var outcome: Outcome
}

/// Where something may happen to a plist.
package struct PlistPlaces: Equatable, Sendable {
    /// What must be watched to see every change: the directory of the path, of each link's target, of the file.
    package var directories: [String] = []
    /// The names in them that lead to the file: its own, and those of the links and directories on the way. What happens
    /// to others does not concern it.
    package var names: [String] = []

    package init() {}
}

extension PlistFile {
    /// As in the kernel (MAXSYMLINKS).
    private static let linkLimit = 40

    /// Follows the links one by one, because each may be changed and has a directory to be watched.
    package func resolve() -> PlistResolution {
        var resolution = PlistResolution(target: path, linkCount: 0, places: PlistPlaces(), outcome: .looping)
        while resolution.linkCount <= Self.linkLimit {
            let directory = Files.parent(of: resolution.target)
            resolution.places.names.append(Files.lastComponent(of: resolution.target))
            Self.note(directory, in: &resolution.places)
            do throws(SystemError) {
                let status = try Files.status(resolution.target, followLinks: false)
                guard status.kind == .symlink else {
                    resolution.outcome = .found(status)
                    return resolution
                }
                resolution.target = Files.join(directory, try Files.readLink(resolution.target))
                resolution.linkCount += 1
            } catch {
                resolution.outcome = Self.outcome(of: error, directory, isLinked: resolution.linkCount > 0)
                return resolution
            }
        }
        return resolution
    }

    /// How many parts of a directory's path may be links: those of a group's layout.
    private static let linkedParts = 3

    /// Notes the directory as it is called without links in the last parts of its path, and where each of these links is:
    /// a watch stays with the directory that it was made for, wherever a link leads since.
    private static func note(_ directory: String, in places: inout PlistPlaces, links: Int = 0) {
        var path = directory
        for _ in 0..<linkedParts where links < linkLimit && path != "/" {
            places.names.append(Files.lastComponent(of: path))
            let place = Files.parent(of: path)
            if let target = try? Files.readLink(path) {
                places.add(place)
                let rest = directory.dropFirst(path.count)
                return note(Files.join(place, target) + rest, in: &places, links: links + 1)
            }
            path = place
        }
        places.add(directory)
    }

    private static func outcome(
        of error: SystemError, _ directory: String, isLinked: Bool
    ) -> PlistResolution.Outcome {
        guard error.errno == .noSuchFile || error.errno == .notDirectory else { return .unreachable(error) }
        if isLinked { return .dangling }
        do throws(SystemError) {
            let status = try Files.status(directory)
            if status.kind == .directory { return .absent }
            return .unreachable(SystemError(errno: .notDirectory, call: "stat", path: directory))
        } catch {
            return .unreachable(error)
        }
    }
}

extension PlistPlaces {
    fileprivate mutating func add(_ directory: String) {
        if !directories.contains(directory) { directories.append(directory) }
    }
}
