import LinuxIO
package import PropertyList

/// What a plist is to hold.
package enum PlistWish: Sendable {
    /// Exactly this.
    case entries([Key: Value])
    /// What it holds now, with these keys set, or taken away where there is no value: all that its owner need say of a
    /// large group of which little changed.
    case changes([Key: Value?])
}

extension PlistFile {
    /// `prepare`, for all that the plist is to hold.
    package func prepare(
        _ entries: [Key: Value], expecting expected: Digest?, baseText: [UInt8]? = nil
    ) -> PlistPreparation {
        prepare(.entries(entries), expecting: expected, baseText: baseText)
    }

    /// The first half of a replacement: the new text, whole and durable under a temporary name.
    ///
    /// - Parameters:
    ///   - wish: what the plist is to hold; changes are seen from the expected content.
    ///   - expected: the digest of the content that the caller last took notice of; nil for no file.
    ///   - baseText: the text to be edited instead of the file's, for a file that is gone but whose comments are known.
    /// - Returns: `ready`, or why nothing was made.
    package func prepare(
        _ wish: PlistWish, expecting expected: Digest?, baseText: [UInt8]? = nil
    ) -> PlistPreparation {
        let reading = read()
        let base: PlistContent?
        switch reading {
        case .content(let content) where content.digest == expected: base = content
        case .absent where expected == nil: base = nil
        default: return .changed(reading)
        }
        do throws(PlistWriteProblem) {
            let target = base?.targetPath ?? path
            if let leftover = try leftover(at: temporaries(target).swap) { return .leftover(leftover) }
            let entries = Self.entries(wish, base: base)
            let text = try Self.text(entries, wish, base: base, baseText: baseText)
            if let base, base.bytes == text { return .unchanged(base) }
            // A rename would pass over the write protection of the file itself, which was put there for a reason.
            if base != nil, !Files.isWritable(target) {
                guard read() == reading else { return .changed(read()) }
                throw .readOnly(.permissionDenied, reason: "\(target) is write-protected")
            }
            return .ready(try write(text, entries, base: base, target))
        } catch {
            return .failed(error)
        }
    }

    func temporaries(_ target: String) -> PlistTemporaries {
        PlistTemporaries(target: target, backupDirectory: backupDirectory)
    }

    private static func entries(_ wish: PlistWish, base: PlistContent?) -> [Key: Value] {
        let format = base?.format ?? .xml
        switch wish {
        case .entries(let entries): return entries.mapValues(format.projected)
        case .changes(let changes):
            var entries = base?.entries ?? [:]
            for (key, value) in changes { entries[key] = value.map(format.projected) }
            return entries
        }
    }

    private static func text(
        _ entries: [Key: Value], _ wish: PlistWish, base: PlistContent?, baseText: [UInt8]?
    ) throws(PlistWriteProblem) -> [UInt8] {
        do throws(PropertyListError) {
            guard let text = baseText ?? base?.bytes else { return XMLPropertyList.document(entries) }
            if BinaryPropertyList.isBinary(text) { return try BinaryPropertyList.document(entries) }
            // Of a large file of which little changes, the rest need not be compared, nor be read once more.
            if baseText == nil, let base, case .changes(let changes) = wish {
                let list = try XMLPropertyList(text, holding: base.entries)
                return list.edited(by: changes.mapValues { $0.map(PlistFormat.xml.projected) })
            }
            return try XMLPropertyList(parsing: text).edited(to: entries)
        } catch {
            throw .unencodable(reason: error.description)
        }
    }

    /// A new text for these entries, in place of one that is none.
    func prepareWhole(_ entries: [Key: Value], base: PlistContent) throws(PlistWriteProblem) -> PreparedPlist {
        let entries = entries.mapValues(PlistFormat.xml.projected)
        return try write(XMLPropertyList.document(entries), entries, base: base, base.targetPath)
    }

    private func write(
        _ text: [UInt8], _ entries: [Key: Value], base: PlistContent?, _ target: String
    ) throws(PlistWriteProblem) -> PreparedPlist {
        guard text.count <= sizeLimit else {
            throw .system(SystemError(errno: .fileTooLarge, call: "write", path: target))
        }
        do throws(SystemError) {
            let names = temporaries(target)
            let status = try writeNew(text, like: base, names)
            let content = PlistContent(
                entries: entries, format: BinaryPropertyList.isBinary(text) ? .binary : .xml, bytes: text,
                digest: Digest(of: text), identity: status.identity, mode: status.mode, uid: status.uid,
                gid: status.gid, targetPath: target)
            return PreparedPlist(content: content, base: base)
        } catch {
            throw PlistWriteProblem(error)
        }
    }

    /// Under the name whose file is worthless after a crash: the caller has noted nothing of this text yet.
    private func writeNew(
        _ text: [UInt8], like base: PlistContent?, _ names: PlistTemporaries
    ) throws(SystemError) -> FileStatus {
        try Files.unlinkIfPresent(names.new)
        do throws(SystemError) {
            return try Files.writeDurably(text, to: names.new, like: base)
        } catch {
            try? Files.unlink(names.new)
            throw error
        }
    }
}

extension Files {
    /// A new file with these bytes, mode 0600 or the mode and owner of `model`, on stable storage.
    static func writeDurably(
        _ bytes: [UInt8], to path: String, like model: PlistContent?
    ) throws(SystemError) -> FileStatus {
        let file = try open(path, [.writeOnly, .create, .exclusive, .noFollow])
        do throws(SystemError) {
            try file.changeMode(0o600)
            try file.writeAll(bytes)
            if let model { try file.takeAfter(model) }
            try file.fsync()
            return try file.status()
        } catch {
            throw SystemError(errno: error.errno, call: error.call, path: path)
        }
    }
}

extension FileDescriptor {
    /// Owner, group and mode of `model`, as far as we may: only root gives files away.
    fileprivate func takeAfter(_ model: PlistContent) throws(SystemError) {
        let own = try status()
        if own.uid != model.uid { try? changeOwner(uid: model.uid, gid: nil) }
        if own.gid != model.gid { try? changeOwner(uid: nil, gid: model.gid) }
        var mode = model.mode & 0o777
        // Another group than before shall not get what was meant for the former: it gets what everybody gets.
        if try status().gid != model.gid { mode = mode & 0o707 | (mode & 0o007) << 3 }
        try changeMode(mode)
    }
}
