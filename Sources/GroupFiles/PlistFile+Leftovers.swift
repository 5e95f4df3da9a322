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

    /// Removes a leftover that was dealt with; nil when that is the end of it. What is returned is to be dealt with again:
    /// the leftover as it is now, if it has changed since (a program had it open all the time).
    ///
    /// One that could not be read is never removed: it gets its place back, for the user to mend, and what was in that
    /// place is returned. Where that cannot be read either, it goes beside it, under a name that everybody sees.
    package func discard(_ leftover: PlistLeftover) throws(SystemError) -> PlistLeftover? {
        guard let status = try Files.statusIfPresent(leftover.path, followLinks: false) else { return nil }
        if status.kind == .regular { Files.waitForWriters(leftover.path) }
        let reading = load(leftover.path).0
        if reading.digest != leftover.reading.digest { return PlistLeftover(path: leftover.path, reading: reading) }
        guard reading.content == nil else {
            try Files.unlink(leftover.path)
            try Files.fsyncDirectory(Files.parent(of: leftover.path))
            return nil
        }
        return try giveBack(leftover)
    }

    private func giveBack(_ leftover: PlistLeftover) throws(SystemError) -> PlistLeftover? {
        let target = resolve().target
        let names = temporaries(target)
        var next: PlistLeftover?
        var isPlaced = false
        if names.swap == leftover.path, read().content != nil {
            try names.putBack(over: target)
            next = PlistLeftover(path: names.swap, reading: load(names.swap).0)
            isPlaced = true
        } else if names.swap == leftover.path {
            isPlaced = try Files.renameUnlessTaken(names.swap, to: target)
        }
        if !isPlaced { _ = try Files.setAside(leftover.path, as: names.damaged) }
        try Files.fsyncDirectory(names.directory)
        return next
    }
}
