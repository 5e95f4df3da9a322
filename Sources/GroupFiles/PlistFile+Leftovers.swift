package import LinuxIO

extension PlistFile {
    /// Clears up after a crash, at start. What may hold somebody's edit is left and returned: our own text if the
    /// exchange had not happened yet, else what was there before it. The caller merges it or not, then discards it.
    package func recoverLeftovers() -> Result<PlistLeftover?, PlistWriteProblem> {
        let resolution = resolve()
        switch resolution.outcome {
        case .found, .absent: break
        case .dangling, .looping, .unreachable: return .success(nil)
        }
        do throws(PlistWriteProblem) {
            let names = temporaries(resolution.target)
            do throws(SystemError) {
                try cleanUp(resolution.target, names)
            } catch {
                throw PlistWriteProblem(error)
            }
            return .success(try leftover(at: names.swap))
        } catch {
            return .failure(error)
        }
    }

    private func cleanUp(_ target: String, _ names: PlistTemporaries) throws(SystemError) {
        try Files.unlinkIfPresent(names.new)
        if try Files.statusIfPresent(names.old, followLinks: false) != nil {
            // Between the two renames of a replacement without exchange; or before the first, then it is but a second
            // name of the file.
            if try Files.statusIfPresent(names.swap, followLinks: false) == nil {
                try Files.rename(names.old, to: names.swap)
            } else {
                try Files.unlink(names.old)
            }
        }
        if let out = try Files.statusIfPresent(names.swap, followLinks: false), out.kind != .regular {
            // An exchange brought out a link or a directory, and was not taken back any more.
            try Files.exchange(names.swap, target)
        }
        try repairOverwritten(target, names)
    }

    /// What is under a swap name.
    func leftover(at swap: String) throws(PlistWriteProblem) -> PlistLeftover? {
        do throws(SystemError) {
            guard try Files.statusIfPresent(swap, followLinks: false) != nil else { return nil }
        } catch {
            throw PlistWriteProblem(error)
        }
        return PlistLeftover(path: swap, reading: load(swap).0)
    }

    /// Removes a leftover that was dealt with. Where it has changed since (a program had it open all the time), it stays
    /// and is returned as it is now, to be dealt with again.
    package func discard(_ leftover: PlistLeftover) throws(SystemError) -> PlistLeftover? {
        guard let status = try Files.statusIfPresent(leftover.path, followLinks: false) else { return nil }
        if status.kind == .regular {
            Files.waitForWriters(leftover.path)
            let reading = load(leftover.path).0
            guard reading.digest == leftover.reading.digest else {
                return PlistLeftover(path: leftover.path, reading: reading)
            }
        }
        try Files.unlink(leftover.path)
        try Files.fsyncDirectory(Files.parent(of: leftover.path))
        return nil
    }
}
