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
    /// What must be watched to see every change: the directory of the path, of each link's target, of the file.
    package var directories: [String]
    package var outcome: Outcome
}

extension PlistFile {
    /// As in the kernel (MAXSYMLINKS).
    private static let linkLimit = 40

    /// Follows the links one by one, because each may be changed and has a directory to be watched.
    package func resolve() -> PlistResolution {
        var resolution = PlistResolution(target: path, linkCount: 0, directories: [], outcome: .looping)
        while resolution.linkCount <= Self.linkLimit {
            let directory = Files.parent(of: resolution.target)
            for place in Self.places(of: directory) where !resolution.directories.contains(place) {
                resolution.directories.append(place)
            }
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

    /// The directory as it is called without links in the last parts of its path, and where each of these links is: a watch
    /// stays with the directory that it was made for, wherever a link leads since.
    private static func places(of directory: String, links: Int = 0) -> [String] {
        var path = directory
        for _ in 0..<linkedParts where links < linkLimit && path != "/" {
            if let target = try? Files.readLink(path) {
                let place = Files.parent(of: path)
                let rest = directory.dropFirst(path.count)
                return [place] + places(of: Files.join(place, target) + rest, links: links + 1)
            }
            path = Files.parent(of: path)
        }
        return [directory]
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
