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
            if !resolution.directories.contains(directory) { resolution.directories.append(directory) }
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
