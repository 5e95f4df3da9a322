import GroupClient
import GroupProtocol

/// A document on disk: read as a whole, replaced as a whole. A value without state; its functions block, and are safe for
/// any thread and any number of processes.
struct DocumentFile: Sendable {
    /// What somebody believes to be in the file.
    enum Content: Equatable, Sendable {
        case absent
        case bytes([UInt8])
    }

    /// The directory of the group's documents.
    let directory: String
    let path: DocumentPath

    var place: String { "\(directory)/\(path)" }

    /// What fits into memory is our decision; a document of more is an error.
    static let sizeLimit = 256 << 20
    /// As in the kernel (MAXSYMLINKS).
    private static let linkLimit = 40
    /// How long a save waits for others who are saving, in seconds.
    private static let lockLimit = 5.0

    func read() throws(AppGroupError) -> Content {
        do throws(DocumentCalls.Failure) {
            return try DocumentCalls.read(place, limit: Self.sizeLimit).map(Content.bytes) ?? .absent
        } catch {
            throw AppGroupError(reading: error)
        }
    }

    /// Puts the text in the place of what is there, in one step: readers see the old file or the new one, whole, and so does
    /// who comes after a power cut. A link is followed, and its target replaced.
    ///
    /// Where `expected` is not what is there, `conflict`; nil replaces anything.
    func replace(with bytes: [UInt8], expecting expected: Content?) throws(AppGroupError) {
        let isDone: Bool
        do throws(DocumentCalls.Failure) {
            isDone = try replaceLocked(bytes, expected)
        } catch {
            throw AppGroupError(writing: error)
        }
        guard isDone else {
            throw AppGroupError(
                .conflict, "\(place) has changed since it was read: load it and change that, or save overwriting")
        }
    }

    /// - Returns: false on a conflict; then everything is as it was.
    private func replaceLocked(_ bytes: [UInt8], _ expected: Content?) throws(DocumentCalls.Failure) -> Bool {
        try makeDirectories()
        let target = try resolve()
        let parent = Self.parent(of: target)
        // Others who use this library wait here, so that their looks and renames do not mix with ours. Editors do not:
        // what they do in between comes out in the exchange.
        let lock = DocumentCalls.lock(directory: parent, until: Deadline(afterSeconds: Self.lockLimit))
        defer { withExtendedLifetime(lock) {} }
        if lock != nil { removeAbandoned(of: target) }
        guard try replace(target, bytes, expected) else { return false }
        try DocumentCalls.syncDirectory(parent)
        return true
    }

    /// - Returns: false on a conflict.
    private func replace(
        _ target: String, _ bytes: [UInt8], _ expected: Content?
    ) throws(DocumentCalls.Failure) -> Bool {
        if let expected {
            let present = try DocumentCalls.read(target, limit: Self.sizeLimit).map(Content.bytes) ?? .absent
            guard present == expected else { return false }
            if present == .bytes(bytes) { return true }
        }
        let mode = try DocumentCalls.status(target)?.mode ?? 0o600
        let temporary = try DocumentCalls.writeNew(in: Self.parent(of: target), bytes, mode: mode) { number in
            Self.temporary(of: target, number)
        }
        // Its lock is held until its fate is decided.
        defer { withExtendedLifetime(temporary) {} }
        do throws(DocumentCalls.Failure) {
            let isDone = try put(temporary.path, over: target, expected)
            if !isDone { DocumentCalls.remove(temporary.path) }
            return isDone
        } catch {
            DocumentCalls.remove(temporary.path)
            throw error
        }
    }

    private func put(
        _ temporary: String, over target: String, _ expected: Content?
    ) throws(DocumentCalls.Failure) -> Bool {
        do throws(DocumentCalls.Failure) {
            switch expected {
            case nil: try DocumentCalls.rename(temporary, to: target, replacing: .any)
            case .absent: try DocumentCalls.rename(temporary, to: target, replacing: .none)
            case .bytes(let old): return try exchange(temporary, target, expecting: old)
            }
            return true
        } catch  where error.isUnsupported {
            // A file system without these renames: the moment since the look is all that is open.
            try DocumentCalls.rename(temporary, to: target, replacing: .any)
            return true
        } catch  where error.isPresence || error.isAbsence && expected != .absent {
            return false
        }
    }

    /// Exchanges both and looks at what came out: an edit that came since the last look goes back, and is never lost.
    private func exchange(
        _ temporary: String, _ target: String, expecting old: [UInt8]
    ) throws(DocumentCalls.Failure) -> Bool {
        try DocumentCalls.rename(temporary, to: target, replacing: .exchange)
        guard try DocumentCalls.read(temporary, limit: Self.sizeLimit) == old else {
            try DocumentCalls.rename(temporary, to: target, replacing: .exchange)
            return false
        }
        DocumentCalls.remove(temporary)
        return true
    }

    /// The directories between `Documents` and the file, and `Documents` itself; not the group's own, which is not ours.
    private func makeDirectories() throws(DocumentCalls.Failure) {
        guard try DocumentCalls.status(Self.parent(of: place)) == nil else { return }
        try DocumentCalls.makeDirectory(directory)
        var parent = directory
        for name in path.names.dropLast() {
            parent += "/\(name)"
            try DocumentCalls.makeDirectory(parent)
        }
    }

    /// The end of the links.
    private func resolve() throws(DocumentCalls.Failure) -> String {
        var target = place
        for _ in 0..<Self.linkLimit {
            guard try DocumentCalls.status(target, followsLinks: false)?.isLink == true else { return target }
            let link = try DocumentCalls.readLink(target)
            target = link.hasPrefix("/") ? link : "\(Self.parent(of: target))/\(link)"
        }
        throw DocumentCalls.Failure(looping: place)
    }

    private static func parent(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// In the target's directory, since a rename does not leave a file system; hidden, so that nobody is told of it. It names
    /// the file's number, by which `removeAbandoned` knows it.
    private static func temporary(of target: String, _ number: UInt64) -> String {
        let random = String(UInt32.random(in: .min ... .max), radix: 36)
        return "\(parent(of: target))/\(temporaryPrefix(of: target))\(String(number, radix: 36))-\(random)"
    }

    private static func temporaryPrefix(of target: String) -> String {
        let directory = parent(of: target)
        var name = String(decoding: target.utf8.dropFirst(directory.utf8.count), as: UTF8.self)
        name = String(name.drop { $0 == "/" })
        // A long name and ours must fit NAME_MAX (255).
        if name.utf8.count > 200 { name = "document" }
        return ".\(name)\(temporaryMark)"
    }

    /// Removes what writers of this document have left behind who were killed before their rename. Under the lock.
    ///
    /// Not what one left behind who was killed just after it: under the temporary name is then what was exchanged, which has
    /// another number, and may be the only copy of what an editor saved in that moment.
    private func removeAbandoned(of target: String) {
        let (directory, prefix) = (Self.parent(of: target), Self.temporaryPrefix(of: target))
        for name in DocumentCalls.names(in: directory) where name.hasPrefix(prefix) {
            let digits = name.dropFirst(prefix.count).prefix { $0 != "-" }
            guard let number = UInt64(digits, radix: 36) else { continue }
            DocumentCalls.removeAbandoned("\(directory)/\(name)", number: number)
        }
    }

    private static let temporaryMark = ".appgroup-"
}

// MARK: - Errors

extension AppGroupError {
    init(reading failure: DocumentCalls.Failure) {
        let code: Code = failure.isTooLarge ? .tooLarge : .storageFailed
        self.init(code, "\(failure.path) cannot be read: \(DocumentCalls.text(of: failure.errno))")
    }

    init(writing failure: DocumentCalls.Failure) {
        let code: Code = failure.isRefusal ? .readOnly : .storageFailed
        self.init(
            code, "\(failure.path) cannot be written (\(failure.call)): \(DocumentCalls.text(of: failure.errno))")
    }
}

extension AppGroupError.Code {
    /// A document's content cannot be read as what it is meant to be; the file was left alone.
    public static let damaged = AppGroupError.Code(description: "Damaged")
    /// The text is no name of a document.
    public static let invalidPath = AppGroupError.Code(description: "InvalidPath")
}
