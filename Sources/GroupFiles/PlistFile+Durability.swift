import LinuxIO

extension PlistFile {
    /// Makes survive a power cut what is under the path now, or that nothing is there. For what somebody else saved, who may
    /// not have done so. What cannot be synced is passed over: it is theirs.
    package func makeDurable() {
        let resolution = resolve()
        if case .found(let status) = resolution.outcome, status.kind == .regular {
            try? Files.openRegular(resolution.target, [.readOnly, .noFollow]).fsync()
        }
        for directory in resolution.places.directories { try? Files.fsyncDirectory(directory) }
    }
}
