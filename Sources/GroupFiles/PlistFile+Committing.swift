import LinuxIO

extension PlistFile {
    /// The second half of a replacement: puts the prepared text in place by *exchanging* it with the file, and looks at
    /// what came out. So no edit slips between our last look and the replacement.
    package func commit(_ prepared: PreparedPlist) -> PlistCommit {
        do throws(SystemError) {
            guard isAsExpected(prepared) else {
                abandon(prepared)
                return .changed(read())
            }
            try moveToSwapName(prepared)
        } catch {
            abandon(prepared)
            return .failed(PlistWriteProblem(error))
        }
        do throws(SystemError) {
            guard let base = prepared.base else { return try place(prepared) }
            return try exchange(prepared, base)
        } catch {
            withdraw(prepared)
            return .failed(PlistWriteProblem(error))
        }
    }

    /// Only now, that the caller has noted the digest: whatever a crash leaves under the swap name is either known as
    /// our text, or somebody's.
    private func moveToSwapName(_ prepared: PreparedPlist) throws(SystemError) {
        let names = temporaries(prepared.target)
        guard try Files.renameUnlessTaken(names.new, to: names.swap) else {
            throw SystemError(errno: .fileExists, call: "rename", path: names.swap)
        }
    }

    /// Gives a prepared text up, instead of `commit`.
    package func abandon(_ prepared: PreparedPlist) {
        try? Files.unlink(temporaries(prepared.target).new)
    }

    /// The same for one that is under the swap name already, and still ours.
    func withdraw(_ prepared: PreparedPlist) {
        try? Files.unlink(temporaries(prepared.target).swap)
    }

    private func changed(_ prepared: PreparedPlist) -> PlistCommit {
        withdraw(prepared)
        return .changed(read())
    }

    /// A look beforehand: it spares most exchanges that would bring out an edit, and sees a link that was turned.
    private func isAsExpected(_ prepared: PreparedPlist) -> Bool {
        let resolution = resolve()
        guard resolution.target == prepared.target else { return false }
        guard let base = prepared.base else { return resolution.outcome == .absent }
        if case .found(let status) = resolution.outcome, status.identity == base.identity { return true }
        return read().content?.digest == base.digest
    }
}

// MARK: - A file that was not there

extension PlistFile {
    private func place(_ prepared: PreparedPlist) throws(SystemError) -> PlistCommit {
        let names = temporaries(prepared.target)
        do throws(SystemError) {
            try Files.renameNoReplace(names.swap, to: prepared.target)
        } catch  where error.errno == .fileExists {
            return changed(prepared)
        } catch  where error.isUnsupportedRename {
            // A link does not replace anything either. Where there are no links, looking first must do.
            guard try linkOrRename(names.swap, to: prepared.target) else { return changed(prepared) }
        }
        try Files.fsyncDirectory(names.directory)
        return .replaced(PlistReplacement(content: placed(prepared)))
    }

    private func linkOrRename(_ swap: String, to target: String) throws(SystemError) -> Bool {
        do throws(SystemError) {
            try Files.link(swap, to: target)
            try Files.unlink(swap)
        } catch  where error.errno == .fileExists {
            return false
        } catch {
            guard try Files.statusIfPresent(target, followLinks: false) == nil else { return false }
            try Files.rename(swap, to: target)
        }
        return true
    }

    /// The content as it is in place now: the rename has changed the file's ctime.
    private func placed(_ prepared: PreparedPlist) -> PlistContent {
        var content = prepared.content
        if let status = try? Files.status(prepared.target, followLinks: false),
            status.inode == content.identity.inode, status.device == content.identity.device,
            status.size == content.identity.size, status.mtimeNanoseconds == content.identity.mtimeNanoseconds
        {
            content.identity = status.identity
        }
        return content
    }
}

// MARK: - A file that was there

extension PlistFile {
    private func exchange(_ prepared: PreparedPlist, _ base: PlistContent) throws(SystemError) -> PlistCommit {
        let names = temporaries(prepared.target)
        do throws(SystemError) {
            try Files.exchange(names.swap, prepared.target)
        } catch  where error.errno == .noSuchFile {
            return changed(prepared)
        } catch  where error.errno == .busy {
            return try overwrite(prepared, base)
        } catch  where error.isUnsupportedRename {
            guard let isOldKept = try replace(prepared, base) else { return changed(prepared) }
            guard isOldKept else {
                try Files.fsyncDirectory(names.directory)
                return .replaced(PlistReplacement(content: placed(prepared)))
            }
        }
        return settle(prepared, base)
    }

    /// Without an exchange: the old file gets a second name, then the new one its first. What is written into the old
    /// one is seen afterwards as with an exchange; what is renamed over it between our look and our rename is not.
    ///
    /// Nil: it is not the expected file. False: there was no second name to be had.
    private func replace(_ prepared: PreparedPlist, _ base: PlistContent) throws(SystemError) -> Bool? {
        let names = temporaries(prepared.target)
        try Files.unlinkIfPresent(names.old)
        let isKept = (try? Files.link(prepared.target, to: names.old)) != nil
        guard let status = try Files.statusIfPresent(prepared.target, followLinks: false),
            status.inode == base.identity.inode, status.device == base.identity.device,
            status.size == base.identity.size, status.mtimeNanoseconds == base.identity.mtimeNanoseconds
        else {
            if isKept { try? Files.unlink(names.old) }
            return nil
        }
        do throws(SystemError) {
            try Files.rename(names.swap, to: prepared.target)
        } catch {
            if isKept { try? Files.unlink(names.old) }
            throw error
        }
        if isKept { try Files.rename(names.old, to: names.swap) }
        return isKept
    }

    /// After the exchange: is what came out what we had read? From here on the swap file is removed only when it is.
    /// Where it cannot be looked at or removed, it is the caller's to deal with: the new text is in place all the same.
    private func settle(_ prepared: PreparedPlist, _ base: PlistContent) -> PlistCommit {
        let names = temporaries(prepared.target)
        do throws(SystemError) {
            let out = try Files.status(names.swap, followLinks: false)
            if out.kind == .regular { Files.waitForWriters(names.swap) }
            if let edit = load(names.swap, unless: base.digest).0 { return try keepEdit(prepared, edit) }
            let file = SharedFile(try Files.open(names.swap, [.readOnly, .noFollow, .nonBlocking]))
            if out.mode != base.mode { try? Files.changeMode(prepared.target, out.mode & 0o777) }
            try Files.unlink(names.swap)
            try Files.fsyncDirectory(names.directory)
            let old = ReplacedFile(file: file, digest: base.digest, path: prepared.target)
            return .replaced(PlistReplacement(content: placed(prepared), old: old))
        } catch {
            return .foreign(placed(prepared), PlistLeftover(path: names.swap, reading: load(names.swap).0))
        }
    }

    /// What somebody wrote into a file after it was replaced; nil where nobody did. Each file is asked once, some time
    /// after its replacement.
    package func lateEdit(in old: ReplacedFile) -> PlistReading? {
        (try? load(old.file.descriptor, old.path, unless: old.digest))?.0
    }

    /// What came out is somebody's edit. Settings can be merged, so ours stay in place; anything else (a link, a
    /// directory, a text with an error in it) nobody can merge, and it gets its place back.
    private func keepEdit(_ prepared: PreparedPlist, _ reading: PlistReading) throws(SystemError) -> PlistCommit {
        let names = temporaries(prepared.target)
        if case .content = reading {
            try Files.fsyncDirectory(names.directory)
            return .foreign(placed(prepared), PlistLeftover(path: names.swap, reading: reading))
        }
        try names.putBack(over: prepared.target)
        try Files.fsyncDirectory(names.directory)
        let (ours, _) = load(names.swap)
        if ours.digest == prepared.digest { return changed(prepared) }
        // Meanwhile somebody edited our text.
        return .foreign(placed(prepared), PlistLeftover(path: names.swap, reading: ours))
    }
}
