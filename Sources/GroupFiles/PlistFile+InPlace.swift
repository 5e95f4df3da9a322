import LinuxIO

// A file on which something is mounted (a single file bound into a container, fault R95) cannot be renamed: EBUSY. It is
// written in place, after a backup, and the caller is told.

extension PlistFile {
    func overwrite(_ prepared: PreparedPlist, _ base: PlistContent) throws(SystemError) -> PlistCommit {
        let names = temporaries(prepared.target)
        try writeBackup(base, names)
        let file = try Files.openRegular(prepared.target, [.readWrite, .noFollow])
        guard try file.pread(count: base.bytes.count + 1, at: 0) == base.bytes else {
            withdraw(prepared)
            return .changed(read())
        }
        do throws(SystemError) {
            try file.overwrite(from: base.bytes, with: prepared.content.bytes)
        } catch {
            try? file.overwrite(from: prepared.content.bytes, with: base.bytes)
            throw SystemError(errno: error.errno, call: error.call, path: prepared.target)
        }
        var content = prepared.content
        let status = try file.status()
        content.identity = status.identity
        (content.mode, content.uid, content.gid) = (status.mode, status.uid, status.gid)
        try Files.unlink(names.swap)
        try Files.fsyncDirectory(names.directory)
        return .replaced(PlistReplacement(content: content, backup: names.backup))
    }

    private func writeBackup(_ base: PlistContent, _ names: PlistTemporaries) throws(SystemError) {
        let temporary = names.backup + "-new"
        try Files.unlinkIfPresent(temporary)
        do throws(SystemError) {
            _ = try Files.writeDurably(base.bytes, to: temporary, like: base)
            try Files.rename(temporary, to: names.backup)
            try Files.fsyncDirectory(Files.parent(of: names.backup))
        } catch {
            try? Files.unlink(temporary)
            throw error
        }
    }

    /// Undoes an overwriting that was interrupted: the file has bytes of both texts, and is neither.
    func repairOverwritten(_ target: String, _ names: PlistTemporaries) throws(SystemError) {
        guard let new = try? Files.read(names.swap, limit: sizeLimit).bytes,
            let old = try? Files.read(names.backup, limit: sizeLimit).bytes,
            let found = try? Files.read(target, limit: sizeLimit).bytes
        else { return }
        guard Self.isMixture(found, of: old, and: new) else { return }
        let file = try Files.openRegular(target, [.readWrite, .noFollow])
        try file.overwrite(from: found, with: old)
    }

    /// Whether every byte is from one of the two, but not all from the same. That is no edit of anybody's.
    static func isMixture(_ found: [UInt8], of old: [UInt8], and new: [UInt8]) -> Bool {
        guard found != old, found != new else { return false }
        guard (min(old.count, new.count)...max(old.count, new.count)).contains(found.count) else { return false }
        return found.indices.allSatisfy { index in
            (index < old.count && found[index] == old[index]) || (index < new.count && found[index] == new[index])
        }
    }
}

extension FileDescriptor {
    /// What is longer than the old text comes first: a full disk shows before a byte of the old text is lost.
    fileprivate func overwrite(from old: [UInt8], with new: [UInt8]) throws(SystemError) {
        let common = min(old.count, new.count)
        try pwriteAll(new.span.extracting(common..<new.count), at: Int64(common))
        try pwriteAll(new.span.extracting(0..<common), at: 0)
        try truncate(to: Int64(new.count))
        try fsync()
    }
}
